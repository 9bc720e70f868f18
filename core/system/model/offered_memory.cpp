#include "system/model/offered_memory.hpp"

#include <algorithm>
#include <functional>
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

namespace {

/// The ports by which a message at a node may go on.
using PortsAt = std::function<std::vector<std::uint16_t>(std::uint32_t node)>;
/// Virtual switches let it pass from one port to another.
using LetsPass = std::function<bool(const VirtualSwitches& guard, std::uint16_t input, std::uint16_t output)>;

bool some_way_leads(const System& system, NodeId from, NodeId to, const PortsAt& ports,
                    const LetsPass& passes) {
  struct At {
    std::uint32_t node;
    std::optional<std::uint16_t> input;  // none: it begins here
    auto operator<=>(const At&) const = default;
  };
  std::set<At> seen;
  std::vector<At> open{{from.index(), std::nullopt}};
  while (!open.empty()) {
    const At at = open.back();
    open.pop_back();
    if (at.node == to.index()) return true;
    if (!seen.insert(at).second) continue;
    VirtualSwitching* const guard =
        at.input ? system.roles().of<VirtualSwitching>(system.components()[at.node]->id()) : nullptr;
    for (const std::uint16_t port : ports(at.node)) {
      if (guard && !passes(guard->virtual_switches(), *at.input, port)) continue;
      const Topology::Hop& hop = system.topology().hops(at.node)[port];
      open.push_back({hop.to, hop.far_port});
    }
  }
  return false;
}

PortsAt by_routes(const System& system, NodeId to) {
  return [&system, to](std::uint32_t node) {
    const auto ports = ports_towards(system, node, to.index());
    return std::vector<std::uint16_t>(ports.begin(), ports.end());
  };
}

}  // namespace

bool has_way(const System& system, NodeId from, const MemoryTargetInfo& memory) {
  return some_way_leads(system, from, memory.id, by_routes(system, memory.id),
                        [&](const VirtualSwitches& guard, std::uint16_t input, std::uint16_t output) {
                          return guard.joined(input, output, memory.ld);
                        });
}

bool may_keep_lines(const System& system, NodeId cache, NodeId home) {
  if (system.routes().distance(cache.index(), home.index()) == RouteTable::kUnreachable) return false;
  if (system.roles().all<VirtualSwitching>().empty()) return true;
  return some_way_leads(system, cache, home, by_routes(system, home),
                        [](const VirtualSwitches& guard, std::uint16_t input, std::uint16_t output) {
                          return guard.may_finish(input, output, 0);
                        });
}

bool is_bound_to(const System& system, NodeId from, NodeId to) {
  const auto any_port = [&](std::uint32_t node) {
    std::vector<std::uint16_t> ports;
    const bool passes_on = node == from.index() || system.components()[node]->forwards();
    const auto hops = passes_on ? system.topology().hops(node).size() : 0;
    for (std::size_t port = 0; port < hops; ++port) ports.push_back(static_cast<std::uint16_t>(port));
    return ports;
  };
  return some_way_leads(system, from, to, any_port,
                        [](const VirtualSwitches& guard, std::uint16_t input, std::uint16_t output) {
                          return input != output && guard.joined(input, output, 0);
                        });
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
