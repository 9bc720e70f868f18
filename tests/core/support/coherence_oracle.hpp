// Watches caches and their homes at work, and knows what a coherent memory would do: follows the values of
// lines, as version numbers, through the messages that really carry them. For a whole simulation as for
// agents in a test bench.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/units.hpp"
#include "coherence/cache/agent.hpp"
#include "coherence/cache/params.hpp"
#include "coherence/home/directory_agent.hpp"
#include "core/support/coherent_nodes.hpp"
#include "protocol/address_map.hpp"
#include "protocol/protocol_observer.hpp"

namespace cxloom::test {

/// It checks of every coherent line that
/// - each read in a cache sees the latest write, and each write goes on top of it; a read past the caches
/// sees a value that was
///   the latest at some time between the home's taking it up and its answer;
/// - there is one writer or there are readers, after every event;
/// - the home's filter has every cache that holds the line as an owner, after every event; and nobody else
/// once nothing is under
///   way, where caches give notice of what leaves them (with bias: of the device's own cache, the host's it
///   does not follow);
/// - a request, a snoop, and a question about a conflict get exactly one answer each;
/// - each message that is sent is acted on once.
///
/// In a system parts of which fail (`expect_losses`) messages may be lost. A write-back counts when the home
/// has answered it without an error. The latest version may be lost, but then the home has the line as
/// poisoned: nobody sees an older one, until a write of the whole line makes another. Owners that the filter
/// has may have lost their lines.
///
/// A store makes a new version in its cache. A write-back carries what the cache has as it is sent, and the
/// home has it when it acts on the message; the data that a cache sends with the answer to a snoop, or when
/// they are pulled, likewise. The data of a read carry what the home has as they are sent, and the cache has
/// it when it acts on the message. A write past the caches takes effect when the home sends its Cmp or GO,
/// and an atomic operation of the memory when it sends what was there. Each atomic operation makes a new
/// version of the one that it has read.
class CoherenceOracle final : public ProtocolObserver {
 public:
  using Version = std::uint64_t;

  explicit CoherenceOracle(const AddressMap& map) : nodes_(map) {}

  // All of these before the first message.
  void add(NodeId node, const CacheAgent& cache, CleanEvictions clean_evictions) {
    nodes_.add(node, cache, clean_evictions);
  }
  void add(NodeId node, DirectoryAgent& home) { nodes_.add(node, home); }

  /// Who has lost what memory had of a line.
  enum class Lost : std::uint8_t { kNothing, kMemory, kMemoryAndHome };
  /// To be said before the first message, too. All lines are checked after every event. What memory has lost
  /// counts as poisoned. What it answered before may still come to a home that is in another device.
  void expect_losses(std::function<Lost(LineAddress)> memory_lost) {
    losses_ = true;
    memory_lost_ = std::move(memory_lost);
  }

  void sent(const Message& message, Time at) override;
  void lost(const Message& message) override;
  void handling(const Message& message, NodeId node, Time now, const std::string& state) override;
  void handled(const std::string& state) override;
  void performed(NodeId node, LineAddress line, AccessKind kind, Time now) override;

  /// To be called when nobody is at work, as between events: checks the lines that something has happened to
  /// since.
  void settled();
  /// Nothing is under way any more: everything has been answered, and the filters agree with the caches.
  void idle();

  /// What was violated first; empty: nothing.
  const std::string& violation() const { return violation_; }
  /// Writes down from now on what it sees, one line each.
  void keep_log(bool keep = true) { logs_ = keep; }
  const std::vector<std::string>& log() const { return log_; }
  /// Adds a line of one's own.
  void note(const std::string& text) {
    if (logs_) log_.push_back(text);
  }

  // Versions, from zero: that of a line nobody has written yet.
  Version latest(LineAddress line) const {
    const auto found = lines_.find(line.number());
    return found == lines_.end() ? 0 : found->second.latest;
  }
  Version in_memory(LineAddress line) const {
    const auto found = lines_.find(line.number());
    return found == lines_.end() ? 0 : found->second.memory;
  }
  Version in_cache(NodeId node, LineAddress line) const;
  /// What the answer to a snoop has brought to the home, which is not in memory yet; nothing: all of it is.
  std::optional<Version> forwarded(LineAddress line) const;
  /// The data of a message under way; nothing if it has none.
  std::optional<Version> carried(const Message& message) const;
  /// What was the latest when the home took up a request that is still without an answer; nothing for all
  /// other messages.
  std::optional<Version> latest_before(const Message& request) const;
  /// A snoop, or a part of the answer to one.
  bool is_snoop(const Message& message) const {
    if (message.channel == Channel::kD2HData) return !pulls_.contains(&message);
    return nodes_.is_snoop(message) || message.channel == Channel::kM2SBIRsp ||
           message.channel == Channel::kD2HRsp || message.opcode == Opcode::kMemRdFwd;
  }
  /// Accesses of which it has seen that they took effect in a cache.
  std::uint64_t accesses() const { return accesses_; }

  /// An atomic operation: who made it, and the version that it read.
  struct Atomic {
    NodeId requester;
    LineAddress line;
    Version read;
    bool by_memory;
  };
  /// All that have taken effect, in their order.
  const std::vector<Atomic>& atomics() const { return atomics_; }
  /// The version that an atomic operation of the memory has made, of which this message is the answer;
  /// nothing for all others.
  std::optional<Version> made(const Message& answer) const;
  /// `made`, once: the message may be another after that.
  std::optional<Version> take_made(const Message& answer);

 private:
  struct Line {
    Version latest = 0;
    Version memory = 0;
    // What the snoop of CXL.cache under way brought, and whether memory is to have it.
    std::optional<Version> forwarded;
    const Message* forwarded_by = nullptr;
    const Message* owed = nullptr;  // the data that its answer has told of
    std::vector<Version> copies;    // by cache, whether it still holds the line or not
    bool touched = false;
    bool poisoned = false;         // after the last event
    bool lost = false;             // by memory, which has not got a version since
    bool memory_has_lost = false;  // after the last event

    /// The answer that tells of forwarded data, and these, are both in.
    void settle_forwarded() {
      if (!owed || !forwarded || owed != forwarded_by) return;
      memory = *forwarded;
      forwarded.reset();
      owed = nullptr;
    }
    /// That part of the answer to a snoop is of no use, nor is the other one.
    void give_up(const Message& part) {
      if (forwarded_by == &part || forwarded_by == part.completion) forwarded.reset();
      if (owed == &part || owed == part.completion) owed = nullptr;
    }
    /// What is written on top of what memory loses may be on its way there.
    void note(Lost by_memory) {
      if (by_memory != Lost::kNothing && !memory_has_lost) {
        lost = true;
        if (by_memory == Lost::kMemoryAndHome) memory = 0;
      }
      memory_has_lost = by_memory != Lost::kNothing;
    }
  };
  /// A request that a home has taken up.
  struct Asked {
    LineAddress line;
    Opcode opcode;
    bool past_caches;  // it leaves no copy in a cache
    Version latest;    // then
  };

  struct Data {
    LineAddress line;
    Version version;
  };

  Line& line(LineAddress address);
  void touch(LineAddress address);
  void touch_all(const Message& message);
  void cache_handled(const Message& message, std::uint32_t cache);
  void home_handled(const Message& message);
  void part_lost(const Message& message);
  void snoop_answered(const Message& message);
  void data_came(const Message& message);
  void written_back(const Message& message);
  bool is_given_up(const Message& message);
  void answered(const Message& message, Asked asked);
  void check(LineAddress address);
  void check_notices(LineAddress address);
  void fail(LineAddress address, const std::string& what);

  CoherentNodes nodes_;
  bool losses_ = false;
  std::function<Lost(LineAddress)> memory_lost_;
  std::unordered_map<std::uint64_t, Line> lines_;
  std::vector<LineAddress> touched_;
  std::unordered_map<const Message*, LineAddress> on_the_way_;
  std::unordered_map<const Message*, Data> carried_;
  std::unordered_map<const Message*, Asked> asked_;
  std::unordered_set<const Message*> completions_;    // second parts of answers, which no home has sent yet
  std::unordered_map<const Message*, Opcode> pulls_;  // for the data of this request
  std::unordered_set<const Message*> in_vain_;        // parts of answers to snoops of which the other is lost
  std::unordered_map<const Message*, LineAddress> snoops_;
  std::unordered_map<const Message*, LineAddress>
      conflicts_;  // questions that no cache has the answer to yet
  std::uint64_t accesses_ = 0;
  std::vector<Atomic> atomics_;
  std::unordered_map<const Message*, Version> made_;  // by answers
  std::string violation_;
  bool logs_ = false;
  std::vector<std::string> log_;
};

/// "MemRdData 0x40 from 1 to 0", for people.
std::string describe(const Message& message);

}  // namespace cxloom::test
