#include "kernel/booked_level.hpp"

#include <algorithm>

namespace cxloom {

// Nobody can foresee whether one joins or leaves next: that is no jump. At one instant the order does not
// matter.
void BookedLevel::settle(Time now) {
  std::uint32_t next = 0;
  while (true) {
    const Time join = next < joined_ ? joins_[next] : Time::max();
    const Time leave = leaves_.empty() ? Time::max() : leaves_.front();
    const Time at = std::min(join, leave);
    if (at > now) break;
    const std::uint32_t joins = join <= leave ? 1 : 0;
    monitor_.change(at, static_cast<std::int32_t>(2 * joins) - 1);
    next += joins;
    leaves_.pop_front(1 - joins);
  }
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
