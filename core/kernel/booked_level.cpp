#include "kernel/booked_level.hpp"

#include <algorithm>

#include "kernel/level_run.hpp"

namespace cxloom {

// Nobody can foresee whether one joins or leaves next: that is no jump, but a word of ones or of zeros. At
// one instant the order does not matter.
void BookedLevel::settle(Time now) {
  LevelRun run(monitor_);
  std::uint32_t next = 0;
  std::uint32_t left = 0;
  const auto leaving = static_cast<std::uint32_t>(leaves_.size());
  joins_[joined_] = Time::max();
  while (left != leaving) {
    const std::int64_t join = joins_[next].ps();
    const std::int64_t after = leaves_[left].ps() - join;
    const std::int64_t leaves = after >> 63;
    const Time at{join + (after & leaves)};
    if (at > now) break;
    run.change(at, 1 + 2 * static_cast<std::int32_t>(leaves));
    next += 1 + static_cast<std::uint32_t>(leaves);
    left -= static_cast<std::uint32_t>(leaves);
  }
  for (; left == leaving && joins_[next] <= now; ++next) run.change(joins_[next], +1);
  leaves_.pop_front(left);
  joined_ = 0;
}

std::int64_t BookedLevel::level() const {
  if (joined_ == 0) return monitor_.level();  // worked off since
  std::int64_t left = 0;
  while (left < static_cast<std::int64_t>(leaves_.size()) &&
         leaves_[static_cast<std::size_t>(left)] <= joins_[joined_ - 1])
    ++left;
  return monitor_.level() + joined_ - left;
}

}  // namespace cxloom
