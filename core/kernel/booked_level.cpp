#include "kernel/booked_level.hpp"

#include <algorithm>

#include "kernel/level_run.hpp"

namespace cxloom {

static std::uint64_t number(Time time) { return static_cast<std::uint64_t>(time.ps()); }

// Nobody can foresee whether one joins or leaves next: that is no jump, but a word of ones or of zeros. What
// comes after either is read a step before it is needed. At one instant the order does not matter.
template <class Levels>
[[gnu::always_inline]] inline void BookedLevel::work_off(Time now, Levels& levels) {
  const Ring<Time>::View leaves_at = leaves_.view();
  std::uint32_t next = 0;
  std::uint32_t left = 0;
  const auto leaving = static_cast<std::uint32_t>(leaves_.size());
  joins_[joined_] = Time::max();
  if (leaving != 0) {
    // Unsigned: behind the last of either there is any number, which is not used.
    std::uint64_t join = number(joins_[0]);
    std::uint64_t leave = number(leaves_at[0]);
    while (left != leaving) {
      const std::uint64_t join_then = number(joins_[next + 1]);
      const std::uint64_t leave_then = number(leaves_at[left + 1]);
      const std::uint64_t after = leave - join;
      const std::int64_t leaves = static_cast<std::int64_t>(after) >> 63;
      const auto mask = static_cast<std::uint64_t>(leaves);
      const Time at{static_cast<std::int64_t>(join + (after & mask))};
      if (at > now) break;
      levels.change(at, static_cast<std::int32_t>(1 + 2 * leaves));
      next += 1 + static_cast<std::uint32_t>(leaves);
      left -= static_cast<std::uint32_t>(leaves);
      join = join_then + ((join - join_then) & mask);
      leave += (leave_then - leave) & mask;
    }
  }
  for (; left == leaving && joins_[next] <= now; ++next) levels.change(joins_[next], +1);
  leaves_.pop_front(left);
  joined_ = 0;
}

[[gnu::hot]] void BookedLevel::settle(Time now) {
  const std::int64_t highest = monitor_.level() + joined_;
  if (LevelRun::can_be(monitor_, highest)) [[likely]] {
    LevelRun run(monitor_, highest);
    work_off(now, run);
  } else {
    work_off(now, monitor_);
  }
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
