// The pattern of hosts that share an object in memory by a protocol of their own: a lock, epochs, or a flag
// that publishes. Where no hardware keeps the memory coherent, they flush what they have written, and drop
// what they are about to read. The values of locks and flags are the numbers of the stores to their lines
// (component/shared_lines.hpp), so that a host goes on exactly when it has read what it waits for.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "base/parameters.hpp"
#include "workload/pattern/pattern.hpp"
#include "workload/stream/access_stream.hpp"
#include "workload/stream/reactive.hpp"

namespace cxloom {

enum class SharingProtocol : std::uint8_t { kLock, kEpochs, kPublish };

/// How a writer shows the lines that its cache has changed.
enum class ShowBy : std::uint8_t { kClflushopt, kClflush, kClwb, kNothing };

struct ShareParams {
  SharingProtocol protocol = SharingProtocol::kLock;
  Address base;
  Bytes size{4096};
  Stores stores = Stores::kCached;
  ShowBy flush = ShowBy::kClflushopt;
  bool drop = true;

  static void describe(Schema<ShareParams>& schema);
  /// All bytes from `base` on that so many hosts go to.
  std::uint64_t bytes(std::uint32_t members) const;
};

class Share final : public AccessStream, public ReactiveStream {
 public:
  static constexpr const char* kName = "share";
  using Params = ShareParams;
  /// Polls in vain, one after the other, from which on it is taken to repeat itself.
  static constexpr std::uint64_t kManyPolls = std::uint64_t{1} << 16U;
  static std::vector<std::string> traits() { return {"engine"}; }
  Share(const ShareParams& params, const PatternContext& context);

  bool next(Access& access) override;
  bool open() const override { return !steps_.empty() || awaited_ || begun_ < operations_; }
  /// It has polled in vain for so long that only another host ends that.
  bool repeats() const override { return in_vain_ >= kManyPolls; }
  bool wants_answers() const override { return true; }
  void answered(std::uint64_t number, const Request& request, Time now) override;
  std::optional<AddressRange> range() const override;
  ReactiveStream* reactive() override { return this; }

  void at(Time now) override { now_ = now; }
  std::optional<Time> gives_at() const override { return std::nullopt; }
  void finish() override { operations_ = begun_; }
  std::optional<Time> completed() const override { return completed_; }
  const char* what() const override { return "a host that shares"; }
  void resources(ResourceSink& /*sink*/) const override {}

 private:
  /// An access, and what is waited for behind it.
  struct Step {
    enum class Kind : std::uint8_t {
      kPlain,  ///< nothing
      kTake,   ///< a ticket of the lock
      kPoll,   ///< a flag, until it has the value; with the access before it, if that drops the line
    };
    Access access;
    Kind kind = Kind::kPlain;
    std::uint64_t value = 0;  ///< of a flag; kTicket: the one that was drawn
    bool last = false;        ///< of its operation
  };
  static constexpr std::uint64_t kTicket = ~std::uint64_t{0};

  void check(const PatternContext& context) const;
  void begin_operation();
  void lock();
  void epoch();
  void publish();
  void receive();
  void write_block(Address at);
  void read_block(Address at);
  void set_flag(std::uint32_t line);
  void poll_flag(std::uint32_t line, std::uint64_t value);
  void add(AccessKind kind, Address at, std::uint32_t dependence, Step::Kind step = Step::Kind::kPlain);
  Address line_at(std::uint32_t line) const { return Address{params_.base.value() + line * kLineBytes}; }
  Address block_at(std::uint64_t block) const;

  ShareParams params_;
  std::uint32_t member_;
  std::uint32_t members_;
  bool cached_;
  bool coherent_ = false;  // hardware keeps the memory coherent
  std::uint64_t operations_;
  std::uint64_t begun_ = 0;
  std::uint64_t ticket_ = 0;
  std::deque<Step> steps_;
  std::optional<Step> awaited_;  // its answer comes
  std::uint64_t awaited_number_ = 0;
  std::uint64_t given_ = 0;
  std::uint64_t in_vain_ = 0;       // polls, since one was not
  std::deque<std::uint64_t> last_;  // the numbers of the last accesses of operations under way,
  std::deque<Time> since_;          // and when these began
  std::optional<Time> completed_;
  Time now_;
};

}  // namespace cxloom
