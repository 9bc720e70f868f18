// Whether reads or writes go. Reads go first; writes are drained where no read waits, or once they are many,
// until they are few.
//
// A run of bursts of one direction has a bound, whatever the scheduler picks: writes that keep coming would
// otherwise keep reads waiting for ever, and reads writes that are not posted. While a requester waits that
// has nothing in the direction that goes, a run ends after `turn` bursts. One that has accesses in both goes
// on with those, so that its runs may be as long as they pay: as long as more of the other direction come
// into the queue, for all of which the bus is turned once. Where none has come for `lull` bursts, nobody
// comes before those that wait are served, or there is no room, and a run ends. `longest_turn` ends it in any
// case. Who had to wait so long then has a run of his own.
#pragma once

#include <algorithm>
#include <cstdint>

#include "memory/dram/device/config.hpp"
#include "memory/dram/queue/requesters.hpp"

namespace cxloom {

class DramDirection {
 public:
  DramDirection(const DramConfig& config, const DramRequesters& requesters)
      : high_(config.write_high),
        low_(config.write_low),
        turn_(config.turn),
        lull_(config.lull),
        longest_turn_(config.longest_turn),
        posted_(config.posted_writes),
        requesters_(requesters) {}

  bool writing() const { return writing_; }
  /// So many wait now. Returns whether the direction has changed.
  bool turn(std::uint32_t reads, std::uint32_t writes) {
    if (writing_ ? !ends_writing(reads, writes) : !ends_reading(reads, writes)) return false;
    owed_ = over();
    writing_ = !writing_;
    return true;
  }
  /// A burst has come into its queue.
  void queued(bool write) {
    if (write != writing_) came_ = run_;
  }
  /// A burst is served. One that goes against the direction, because its row was open for it, is none of the
  /// run.
  void served(bool write) {
    if (write != writing_) return;
    if (of_writes_ != write) {
      of_writes_ = write;
      run_ = came_ = 0;
    }
    ++run_;
  }
  /// While writes go: at least so many waiting ones go before the next read.
  std::uint32_t writes_before_reads(std::uint32_t writes) const {
    const std::uint64_t most = requesters_.several() ? turn_ : longest_turn_;
    const std::uint64_t end = std::min(most, (of_writes_ ? came_ : 0) + lull_);
    const std::uint64_t left = end - (of_writes_ ? std::min(end, run_) : 0);
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(left, writes > low_ ? writes - low_ : 0));
  }

 private:
  bool ends_writing(std::uint32_t reads, std::uint32_t writes) const {
    return writes == 0 || (reads != 0 && ((writes <= low_ && !owed_) || over()));
  }
  /// Nobody waits for a posted write as long as there is room for it.
  bool ends_reading(std::uint32_t reads, std::uint32_t writes) const {
    if (writes == 0 || reads == 0) return writes != 0;
    const bool many = writes >= high_;
    return (many && !owed_) || ((many || !posted_) && over());
  }
  /// The run has reached the length that bursts of the other direction allow.
  bool over() const {
    if (of_writes_ != writing_) return false;
    return run_ - came_ >= lull_ || run_ >= (requesters_.only(!writing_) ? turn_ : longest_turn_);
  }

  const std::uint32_t high_;
  const std::uint32_t low_;
  const std::uint32_t turn_;
  const std::uint32_t lull_;
  const std::uint32_t longest_turn_;
  const bool posted_;
  const DramRequesters& requesters_;
  bool writing_ = false;
  bool owed_ =
      false;  ///< this direction had to wait for a whole run of the other: many or few writes do not end it
  bool of_writes_ = false;
  std::uint64_t run_ = 0;   ///< bursts of the direction served last, since one of the other
  std::uint64_t came_ = 0;  ///< of them, before the last one came that waits for the other direction
};

}  // namespace cxloom
