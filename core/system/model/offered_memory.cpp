#include "system/model/offered_memory.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "component/component.hpp"
#include "device/memory/dynamic_capacity.hpp"
#include "device/switch/virtual_switches.hpp"
#include "interconnect/routing/route_table.hpp"
#include "system/model/system.hpp"

namespace cxloom {

std::span<const std::uint16_t> ports_towards(const System& system, std::uint32_t node, std::uint32_t to) {
  static constexpr std::uint16_t kOnly = 0;
  const auto hops = system.topology().hops(node);
  if (hops.size() == 1) return {&kOnly, hops[0].down ? std::size_t{0} : 1};  // it has no routes
  return system.routes().next_hops(node, to);
}

bool has_way(const System& system, NodeId from, const MemoryTargetInfo& memory) {
  struct At {
    std::uint32_t node;
    std::optional<std::uint16_t> input;  // none: it begins here
    auto operator<=>(const At&) const = default;
  };
  const std::uint32_t to = memory.id.index();
  std::set<At> seen;
  std::vector<At> open{{from.index(), std::nullopt}};
  while (!open.empty()) {
    const At at = open.back();
    open.pop_back();
    if (at.node == to) return true;
    if (!seen.insert(at).second) continue;
    VirtualSwitching* const guard =
        at.input ? system.roles().of<VirtualSwitching>(system.components()[at.node]->id()) : nullptr;
    for (const std::uint16_t port : ports_towards(system, at.node, to)) {
      if (guard && !guard->virtual_switches().joined(*at.input, port, memory.ld)) continue;
      const Topology::Hop& hop = system.topology().hops(at.node)[port];
      open.push_back({hop.to, hop.far_port});
    }
  }
  return false;
}

Extents extents_now(const System& system, NodeId device) {
  return [&system, device](NodeId memory) -> std::optional<std::vector<AddressMap::Extent>> {
    DynamicMemory* const dynamic = system.roles().of<DynamicMemory>(memory);
    if (!dynamic) return std::nullopt;
    std::vector<AddressMap::Extent> extents;
    for (const auto& [base, size] : dynamic->dynamic_capacity().extents_of(device))
      extents.push_back({base, size.count()});
    return extents;
  };
}

std::vector<bool> offered_parts(const System& system, NodeId device, const NumaNode& node, Bytes page) {
  const bool reached = std::ranges::all_of(node.targets, [&](const MemoryTargetInfo& memory) {
    return !system.offline(memory.id) && has_way(system, device, memory);
  });
  if (!node.in_extents) return {reached};
  std::vector<AddressMap::Extent> usable;
  const AddressMap& map = system.address_map();
  for (std::size_t part = 0; reached && part < map.parts().size(); ++part) {
    const auto found = usable_in(map, part, extents_now(system, device));
    usable.insert(usable.end(), found.begin(), found.end());
  }
  std::vector<bool> offered;
  for (const FrameRun& run : node.frames) {
    offered.push_back(std::ranges::any_of(usable, [&](const AddressMap::Extent& extent) {
      return run.base >= extent.base &&
             run.base.value() - extent.base.value() + run.count * page.count() <= extent.bytes;
    }));
  }
  return offered;
}

}  // namespace cxloom
