// The lines of a cache: its levels, the transaction of each line, and how lines come and leave. A line
// has one transaction at a time, so that an access to one that is being written back, or a flush of it,
// waits until memory has it: a read that went past its own write-back would bring what was there before.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "coherence/cache/counts.hpp"
#include "coherence/cache/home_protocols.hpp"
#include "coherence/cache/levels.hpp"
#include "coherence/cache/params.hpp"
#include "coherence/cache/prefetch_unit.hpp"
#include "coherence/cache/transaction.hpp"
#include "coherence/common/transaction_table.hpp"
#include "component/agent.hpp"
#include "component/component.hpp"
#include "kernel/pool.hpp"
#include "protocol/address_map.hpp"
#include "tags/cache_kinds.hpp"

namespace cxloom {

class CacheLines {
 public:
  using Transaction = CacheTransaction;

  /// `agent` sends what is written back. `process_time` is what requests take to come to the cache: what
  /// leaves passes the same pipeline.
  CacheLines(const CacheAgentParams& params, Time process_time, const CacheKinds& kinds, std::uint64_t seed,
             Agent& agent, HomeProtocols& protocols, Windowed<CacheCounts>& counts);

  /// `unit` hears of lines that have left.
  void tell(PrefetchUnit& unit) { prefetch_ = &unit; }
  /// Some memory is kept coherent. To be said before the run.
  void keep_coherent(bool coherent) { coherent_ = coherent; }
  bool coherent() const { return coherent_; }

  const CacheLevels& levels() const { return levels_; }
  CacheLevels::LookupResult find(LineAddress line) const { return levels_.find(line); }
  void set_state(LineAddress line, LineState state) { levels_.set_state(line, state); }
  void mark_dirty(LineAddress line) { levels_.mark_dirty(line); }
  /// The line of a slot of the first level is written.
  void mark_dirty(Slot slot) { levels_.mark_dirty(slot); }
  /// An access uses the line of that slot.
  void touch(Slot slot) { levels_.touch(slot); }
  /// The line is in no level any more.
  void drop(LineAddress line) {
    set_state(line, LineState::kInvalid);
    note_gone(line);
  }
  /// The lines of the device at `home`, or all of them, are gone, without a word to anybody. Returns those
  /// that were modified. One on which an atomic operation is under way is written back at its end.
  std::vector<LineAddress> lose(std::optional<NodeId> home);
  /// A flush of the line, whose data are elsewhere or on their way there: a copy stays only if it `keeps`
  /// one.
  void clean(LineAddress line, bool keeps);
  /// Whether nothing is sent for a flush of a line that is held so.
  bool flushes_alone(const Request& request, LineState held) const;
  /// It flushes a line that is not modified. It fails if modified data of the line were lost.
  void flush(LineAddress line, Request& request);
  /// A flush that is the first to wait does the same, with a notice to the home. False: its line is
  /// modified.
  bool leaves_clean(Transaction& transaction, LineState held, Request& request);
  /// The home, or memory, has answered the write of a modified line that a flush waits for.
  void flushed(const Transaction& transaction, Request& request);
  /// An access uses a line that is in that level. It comes to the first; others may leave for it.
  void use(LineAddress line, std::uint32_t level);
  /// A line comes in. Others may leave for it. Returns its slot in the first level.
  Slot fill(LineAddress line, LineState state);
  /// When what the arrays do next for so long is done: fills and clearing of lines keep them busy.
  Time occupy(Time from, Time length);
  Time busy_until() const { return busy_until_; }

  /// The transaction of a line; null: there is none.
  Transaction* under_way(LineAddress line) const { return lines_.find(line); }
  Transaction& transaction(std::uint32_t tag) { return transactions_.at(tag); }
  /// The lines with one, whose memory is `target`.
  std::vector<LineAddress> under_way_to(NodeId target);
  /// Begins one for a line without, whose memory is at `place`.
  Transaction& open(LineAddress line, const AddressMap::DecodedAddress& place);
  /// The end of one.
  void close(Transaction& transaction);

  /// Ends the stay of a line that has just made room for others, or is stale: writes it back, or notifies its
  /// home, if need be.
  void evict(LineAddress line, LineState state);
  /// Writes back; `keeps` stays. With an `account` a snoop, or a request, waits for it, and is charged.
  void send_eviction(Transaction& transaction, Doing doing, LineState keeps, Time ready, Account* account);
  /// The line of a transaction, held as `held`, leaves before a request that goes past the cache. Whether
  /// that has to wait for a write-back, which is ready at `ready`.
  bool leave_first(Transaction& transaction, LineState held, Time ready);
  /// The home has answered that.
  void eviction_completed(const Transaction& transaction, bool failed);
  /// An atomic operation on a line has begun, or has ended: until then it does not leave.
  void hold() { ++held_; }
  void let_go() { --held_; }

  /// Write-backs and notices of evictions on their way.
  std::uint64_t evictions() const { return evictions_; }
  /// The evictions of victims: a write-back for a snoop needs no room of the requester's.
  std::uint64_t victims() const { return evictions_ - snooped_out_; }

 private:
  void evict_gone();
  void tell_of_loss(LineAddress line, Request& request);
  void note_gone(LineAddress line) {
    if (prefetch_) prefetch_->left(line);
  }

  Agent& agent_;
  HomeProtocols& protocols_;
  Windowed<CacheCounts>& counts_;
  PrefetchUnit* prefetch_ = nullptr;  // null: none
  Time fill_time_;
  bool notifies_;
  bool coherent_ = false;
  CacheLevels levels_;
  Time pipeline_;                        // from the making of a request until it leaves
  std::vector<CacheLevels::Gone> gone_;  // lines that have just left
  Time busy_until_;
  TransactionTable<Transaction> lines_;
  Pool<Transaction> transactions_;
  std::uint64_t evictions_ = 0;
  std::uint64_t snooped_out_ = 0;  // of these, write-backs that a snoop, or a request, waits for
  std::uint32_t held_ = 0;         // by atomic operations
  std::set<std::uint64_t> lost_;   // modified lines, by number, that no flush has told of
};

}  // namespace cxloom
