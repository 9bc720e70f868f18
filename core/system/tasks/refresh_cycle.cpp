#include "system/tasks/refresh_cycle.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "memory/dram/controller/media.hpp"
#include "memory/media/memory_owner.hpp"
#include "system/model/system.hpp"

namespace cxloom {

namespace {

// A common cycle is no longer than so many of the longest: lines of it are simulated before and behind.
constexpr std::int64_t kMostInCommon = 4;

}  // namespace

RefreshCycle refresh_cycle_of(const System& system) {
  std::vector<DramMedia::Refreshes> all;
  for (const auto& [component, owner] : system.roles().all<MemoryOwner>()) {
    Media* const media = owner->media();
    if (!media) continue;
    each_medium(*media, [&](Media& medium) {
      const DramMedia* const dram = medium.dram();
      if (dram != &medium) return;
      if (const auto refreshes = dram->refreshes()) all.push_back(*refreshes);
    });
  }
  RefreshCycle cycle;
  for (const DramMedia::Refreshes& each : all) {
    cycle.length = std::max(cycle.length, each.cycle);
    cycle.longest = std::max(cycle.longest, each.duration);
  }
  const Time most{cycle.length.ps() * kMostInCommon};
  for (const DramMedia::Refreshes& each : all) {
    const Time common{std::lcm(cycle.length.ps(), each.cycle.ps())};
    if (common <= most) cycle.length = common;
    else cycle.out_of_step += each.duration;
  }
  return cycle;
}

}  // namespace cxloom
