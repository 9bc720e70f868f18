#include "system/build/virtual_switch_neighbours.hpp"

#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "component/component.hpp"
#include "component/io_roles.hpp"
#include "device/requester/requester.hpp"
#include "device/switch/virtual_switches.hpp"
#include "interconnect/routing/routing.hpp"
#include "memory/media/memory_owner.hpp"
#include "system/model/head_bindings.hpp"
#include "system/model/system.hpp"
#include "system/spec/spec.hpp"

namespace cxloom {

void connect_virtual_switches(const System& system, const Spec& spec) {
  for (const auto& [component, virtual_switching] : system.roles().all<VirtualSwitching>()) {
    std::vector<VirtualSwitches::Neighbour> neighbours;
    for (const Topology::Hop& hop : system.topology().hops(component->id().index())) {
      const Component& there = *system.components()[hop.to];
      const bool forwards = system.topology().node(hop.to).forwards;
      const MemoryOwner* const memory = system.roles().of<MemoryOwner>(there.id());
      neighbours.push_back({there.name(), forwards || system.roles().of<Requester>(there.id()) != nullptr,
                            forwards || memory, memory ? memory->logical_devices().size() : 0});
    }
    with_path("devices", [&] {
      with_path(component->name(), [&] {
        virtual_switching->virtual_switches().connect(std::move(neighbours));
        if (!system.router().keeps_order() || system.router().detours()) {
          throw InputError(
              {"virtual switches beside routing that sends messages on detours, or changes their order",
               "routing: " + spec.run.routing.kind,
               "routing without detours that keeps the order",
               {}},
              "vcs");
        }
        const char* const reason = system.address_map().has_coherent()          ? "coherent regions"
                                   : !system.roles().all<IoInitiator>().empty() ? "I/O engines"
                                                                                : nullptr;
        if (!reason) return;
        throw InputError({std::string("no virtual switches in a system with ") + reason,
                          {},
                          "reads and writes of memory that nobody keeps coherent: nothing else can be "
                          "answered with an error",
                          {}},
                         "vcs");
      });
    });
  }
  check_bound_once(system);
}

}  // namespace cxloom
