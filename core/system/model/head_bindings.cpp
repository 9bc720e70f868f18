#include "system/model/head_bindings.hpp"
#include "system/spec/spec.hpp"

#include <algorithm>
#include <bit>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "component/component.hpp"
#include "device/switch/virtual_switches.hpp"
#include "memory/memory_owner.hpp"
#include "system/model/system.hpp"

namespace cxloom {

namespace {

bool is_divided(const System& system, NodeId node) {
  const MemoryOwner* const memory = system.roles().of<MemoryOwner>(node);
  return memory && !memory->logical_devices().empty();
}

bool has_several_heads(const System& system, NodeId node) {
  const auto hops = system.topology().hops(node.index());
  return std::ranges::any_of(hops, [&](const Topology::Hop& hop) { return hop.to != hops.front().to; });
}

// What hangs behind a device is bound with it, as a whole. A switch with virtual switches of its own says
// itself whose the logical devices at its ports are. Of a memory with several heads, whose logical devices
// others have bound, nobody would know.
void refuse_divided_behind(const System& system, const Component& where, const BoundParams& bound) {
  const Component& first = system.component(bound.to);
  const auto decides = [&](const Component& device) {
    return system.roles().of<VirtualSwitching>(device.id()) != nullptr;
  };
  if (!first.forwards() || decides(first)) return;
  std::vector<bool> seen(system.components().size());
  seen[where.id().index()] = seen[first.id().index()] = true;
  std::vector<NodeId> found{first.id()};
  for (std::size_t i = 0; i < found.size(); ++i) {
    for (const Topology::Hop& hop : system.topology().hops(found[i].index())) {
      if (seen[hop.to]) continue;
      seen[hop.to] = true;
      const Component& next = *system.components()[hop.to];
      if (is_divided(system, next.id()) && has_several_heads(system, next.id())) {
        throw InputError({"a memory of logical devices and several heads hangs behind it",
                          "'" + next.name() + "', behind '" + bound.to + "'",
                          "a memory with one head, or switches with vcs in front of it",
                          {}},
                         "to");
      }
      if (next.forwards() && !decides(next)) found.push_back(next.id());
    }
  }
}

}  // namespace

void check_bound_once(const System& system, const Component& where, const BoundParams& bound,
                      const VirtualSwitchesOf& others) {
  refuse_divided_behind(system, where, bound);
  if (!is_divided(system, system.component(bound.to).id())) return;
  for (const auto& [component, switching] : system.roles().all<VirtualSwitching>()) {
    const VirtualSwitches* const there = component == &where ? nullptr : others(*component);
    const VirtualSwitches::LdSet both =
        there ? there->bound_of(bound.to) & VirtualSwitches::lds_of(bound) : VirtualSwitches::LdSet{0};
    if (both == 0) continue;
    const BoundParams taken{bound.to, static_cast<std::uint32_t>(std::countr_zero(both))};
    throw InputError({(bound.ld ? "the logical device is" : "a logical device of it is") +
                          std::string(" bound already, behind another head of the memory"),
                      "'" + taken.described() + "', of switch '" + component->name() + "'",
                      "one that is bound at no other switch: unbind it there before",
                      {}},
                     bound.ld ? "ld" : "to");
  }
}

void check_bound_once(const System& system) {
  std::vector<const Component*> before;
  for (const auto& [component, switching] : system.roles().all<VirtualSwitching>()) {
    const auto earlier = [&](const Component& other) -> const VirtualSwitches* {
      if (std::ranges::find(before, &other) == before.end()) return nullptr;
      return &system.roles().of<VirtualSwitching>(other.id())->virtual_switches();
    };
    const std::vector<VcsParams>& all = switching->virtual_switches().params();
    for (std::size_t vcs = 0; vcs < all.size(); ++vcs) {
      for (std::size_t i = 0; i < all[vcs].bind.size(); ++i) {
        try {
          check_bound_once(system, *component, all[vcs].bind[i], earlier);
        } catch (const InputError& error) {
          std::string path = "devices." + component->name();
          path.append(".").append(indexed("vcs", vcs)).append(".").append(indexed("bind", i));
          if (error.path() == "ld") path += ".ld";  // `to` need not be written
          throw InputError(error.detail(), path);
        }
      }
    }
    before.push_back(component);
  }
}

}  // namespace cxloom
