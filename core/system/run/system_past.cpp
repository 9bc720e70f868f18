#include "system/run/system_past.hpp"

#include <algorithm>

#include "memory/media/media.hpp"
#include "memory/media/past.hpp"
#include "memory/memory_owner.hpp"
#include "system/model/system.hpp"

namespace cxloom {

template <class Visit>
void SystemPast::each(Visit visit) const {
  for (const auto& [component, memory] : system_.roles().all<MemoryOwner>()) {
    if (!memory->media()) continue;
    each_medium(*memory->media(), [&](Media& medium) {
      if (MediaPast* const past = medium.past()) visit(*past);
    });
  }
}

std::uint64_t SystemPast::left() const {
  std::uint64_t left = 0;
  each([&](const MediaPast& past) { left += past.left(); });
  return left;
}

void SystemPast::play(std::uint64_t steps) {
  each([&](MediaPast& past) {
    const std::uint64_t now = std::min(steps, past.left());
    if (now > 0) past.play(now);
    steps -= now;
  });
}

void SystemPast::leave_out() {
  each([](MediaPast& past) { past.leave_out(); });
}

}  // namespace cxloom
