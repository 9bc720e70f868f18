#include "system/build/own_address_maps.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "component/component.hpp"
#include "component/transfer_engine.hpp"
#include "device/requester/requester.hpp"
#include "interconnect/routing/route_table.hpp"
#include "system/model/system.hpp"

namespace cxloom {

void give_own_map(System& system, const Component& device, const std::function<bool(NodeId)>& reaches) {
  AddressMap own = system.address_map().seen_by(device.name(), reaches);
  if (own.beyond().empty() || own.empty()) return;
  system.system_context().give_map(device.id(), std::move(own));
}

void give_own_maps(System& system) {
  const std::vector<NodeId> receivers = system.address_map().receivers();
  for (const auto& [component, requester] : system.roles().all<Requester>()) {
    if (system.roles().of<TransferEngine>(component->id())) continue;  // its host fetches what it asks for
    const auto reaches = [&](NodeId memory) {
      return system.routes().reaches(component->id().index(), memory.index());
    };
    // Most devices see the whole map, which is long where there are many.
    if (!std::ranges::all_of(receivers, reaches)) give_own_map(system, *component, reaches);
  }
}

}  // namespace cxloom
