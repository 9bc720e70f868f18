#include "system/build/named_devices.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "coherence/common/coherence_home.hpp"
#include "component/component.hpp"
#include "component/io_roles.hpp"
#include "component/system_context.hpp"
#include "component/transfer_engine.hpp"
#include "device/memory/dynamic_capacity.hpp"
#include "device/requester/requester.hpp"
#include "device/switch/virtual_switches.hpp"
#include "interconnect/routing/routing.hpp"
#include "memory/memory_owner.hpp"
#include "protocol/address_map.hpp"
#include "system/model/devices.hpp"
#include "system/model/head_bindings.hpp"
#include "system/model/offered_memory.hpp"
#include "system/model/system.hpp"
#include "system/spec/spec.hpp"

namespace cxloom {

NodeId find_requester(const std::string& name, const Devices& devices, const Roles& roles) {
  const NodeId found = devices.find(name);
  const bool initiates = std::ranges::any_of(roles.all<IoInitiator>(),
                                             [&](const auto& each) { return each.component->id() == found; });
  if (roles.of<Requester>(found) || initiates) return found;
  throw InputError(
      {"a device that makes no requests", "'" + name + "'", "hosts, accelerators and I/O engines", {}});
}

namespace {

void aim(const Component& from, IoInitiator& initiator, const Devices& devices, const Roles& roles) {
  const NodeId target = devices.find(initiator.target());
  IoTarget* const answering = roles.of<IoTarget>(target);
  if (!answering) {
    throw InputError(
        {target == from.id() ? "an I/O engine that sends to itself" : "a device that answers no CXL.io",
         "'" + initiator.target() + "'",
         "a host, an accelerator or a memory",
         {}});
  }
  initiator.aim(target, answering->expect_io(from.id()));
}

// A home answers a write before its memory has it, so that no error can follow. It refuses requests to memory
// that comes later (system/events/binding_actions.cpp).
void check_homes_reach_memory(const System& system, const Spec& spec) {
  if (std::ranges::any_of(spec.events, [](const EventParams& event) { return event.bind.has_value(); }))
    return;
  const AddressMap& map = system.address_map();
  for (const Coherence coherence : {Coherence::kHdmDb, Coherence::kHdmH, Coherence::kHdmD}) {
    for (const NodeId home : map.homes(coherence)) {
      for (const NodeId target : map.targets_of(home)) {
        const std::string& name = system.components()[target.index()]->name();
        if (target == home || has_way(system, home, {name, target, {}})) continue;
        throw InputError(
            {"the home of coherent memory reaches it through no virtual switch",
             "'" + name + "'",
             "the memory bound, from the beginning or by an event, to the virtual switch that its home is at",
             {}},
            "devices." + system.components()[home.index()]->name());
      }
    }
  }
}

}  // namespace

void aim_io_initiators(const Devices& devices, const Roles& roles) {
  for (const auto& [component, initiator] : roles.all<IoInitiator>()) {
    with_path("devices", [&] {
      with_path(component->name(),
                [&] { with_path("target", [&] { aim(*component, *initiator, devices, roles); }); });
    });
  }
}

void give_logical_devices(const Devices& devices, const Roles& roles) {
  for (const auto& [component, memory] : roles.all<MemoryOwner>()) {
    const std::span<const LogicalDeviceExtent> all = memory->logical_devices();
    for (std::size_t ld = 0; ld < all.size(); ++ld) {
      if (!all[ld].host) continue;
      with_path("devices." + component->name(), [&] {
        with_path(indexed("logical_devices", ld), [&] {
          memory->set_host(ld,
                           with_path("host", [&] { return find_requester(*all[ld].host, devices, roles); }));
        });
      });
    }
  }
}

void begin_extents(const SystemContext& context) {
  std::vector<std::pair<std::string, NodeId>> requesters;
  // Accesses of an engine that sends packets of CXL.io are made by who answers these, never by itself.
  for (const auto& [component, requester] : context.roles.all<Requester>()) {
    TransferEngine* const engine = context.roles.of<TransferEngine>(component->id());
    if (!engine || !engine->dma()) requesters.emplace_back(component->name(), component->id());
  }
  for (const auto& [component, memory] : context.roles.all<DynamicMemory>()) {
    const NodeId node = component->id();
    const auto begin = [&] {
      const MemoryOwner& owner = *context.roles.of<MemoryOwner>(node);
      memory->dynamic_capacity().begin(owner.memory_capacity(), owner.logical_devices(), requesters);
      for (const Coherence coherence : {Coherence::kHdmDb, Coherence::kHdmH, Coherence::kHdmD}) {
        for (const NodeId home : context.map->homes(coherence)) {
          const std::vector<NodeId> targets = context.map->targets_of(home);
          if (std::ranges::find(targets, node) == targets.end()) continue;
          throw InputError(
              {"memory of dynamic capacity in a coherent region", {}, "a region without coherence", {}});
        }
      }
    };
    with_path("devices",
              [&] { with_path(component->name(), [&] { with_path("dynamic_capacity", begin); }); });
  }
}

void connect_virtual_switches(const System& system, const Spec& spec) {
  for (const auto& [component, virtual_switching] : system.roles().all<VirtualSwitching>()) {
    std::vector<VirtualSwitches::Neighbour> neighbours;
    for (const Topology::Hop& hop : system.topology().hops(component->id().index())) {
      const Component& there = *system.components()[hop.to];
      const bool forwards = system.topology().node(hop.to).forwards;
      const MemoryOwner* const memory = system.roles().of<MemoryOwner>(there.id());
      const bool is_host = !forwards && system.system_context().leads_upstream(there.id());
      neighbours.push_back({there.name(), forwards || system.roles().of<Requester>(there.id()) != nullptr,
                            memory || !is_host, memory ? memory->logical_devices().size() : 0});
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
        if (system.roles().all<IoInitiator>().empty()) return;
        throw InputError({"no virtual switches in a system with I/O engines",
                          {},
                          "requests of CXL.mem and CXL.cache: nothing else can be answered with an error",
                          {}},
                         "vcs");
      });
    });
  }
  check_bound_once(system);
  if (!system.roles().all<VirtualSwitching>().empty()) check_homes_reach_memory(system, spec);
}

}  // namespace cxloom
