#include "system/head_bindings.hpp"

#include <algorithm>
#include <bit>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "component/component.hpp"
#include "system/system.hpp"

namespace cxloom {

void check_bound_once(const System& system, const Component& where, const BoundParams& bound,
                      const VirtualSwitchesOf& others) {
  const MemoryOwner* const memory = system.roles().memories.of(system.component(bound.to).id());
  if (!memory || memory->logical_devices().empty()) return;
  for (const auto& [component, switching] : system.roles().virtual_switches) {
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
  for (const auto& [component, switching] : system.roles().virtual_switches) {
    const auto earlier = [&](const Component& other) -> const VirtualSwitches* {
      if (std::ranges::find(before, &other) == before.end()) return nullptr;
      return &system.roles().virtual_switches.of(other.id())->virtual_switches();
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
