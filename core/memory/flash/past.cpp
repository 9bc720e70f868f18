#include "memory/flash/past.hpp"

#include <algorithm>
#include <cmath>

namespace cxloom {

FlashPast::FlashPast(const std::vector<std::unique_ptr<FlashPlane>>& planes, std::uint32_t logical,
                     double overwritten, RandomStream random)
    : planes_(planes),
      writes_(static_cast<std::uint64_t>(std::min(overwritten, kPlayed) * logical)),
      half_(writes_ / 2),
      beyond_(std::max(overwritten - kPlayed, 0.0) / (kPlayed / 2.0)),
      random_(random) {
  if (writes_ == 0) leave_out();
}

void FlashPast::play(std::uint64_t steps) {
  while (steps > 0 && left() > 0) {
    FlashPlane& plane = *planes_[plane_];
    const std::uint64_t next = written_ < half_ ? half_ : writes_;
    const std::uint64_t now = std::min(steps, next - written_);
    plane.age(now, random_);
    written_ += now;
    steps -= now;
    if (written_ == half_) erased_by_half_ = plane.erases();
    if (written_ < writes_) continue;
    wear();
    ++plane_;
    written_ = 0;
  }
}

void FlashPast::wear() {
  FlashPlane& plane = *planes_[plane_];
  const auto erased = static_cast<double>(plane.erases() - erased_by_half_);
  plane.wear(static_cast<std::uint64_t>(std::llround(erased * beyond_)));
}

}  // namespace cxloom
