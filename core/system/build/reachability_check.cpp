#include "system/build/reachability_check.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "component/component.hpp"
#include "component/dma_initiator.hpp"
#include "component/io_roles.hpp"
#include "component/transfer_engine.hpp"
#include "device/requester/requester.hpp"
#include "interconnect/routing/route_table.hpp"
#include "system/model/system.hpp"

namespace cxloom {

void check_connected(const Devices& devices, const Topology& topology) {
  const auto& components = devices.all();
  std::vector<bool> reached(components.size(), false);
  std::vector<std::uint32_t> frontier{0};
  reached[0] = true;
  while (!frontier.empty()) {
    const std::uint32_t node = frontier.back();
    frontier.pop_back();
    for (const Topology::Hop& hop : topology.hops(node)) {
      if (!reached[hop.to]) frontier.push_back(hop.to);
      reached[hop.to] = true;
    }
  }
  for (std::size_t i = 0; i < components.size(); ++i) {
    if (!reached[i]) {
      throw InputError({"no links lead from '" + components[0]->name() + "' to this device",
                        {},
                        "one connected system",
                        {}},
                       "devices." + components[i]->name());
    }
  }
}

bool reaches_its_map(const System& system, const Component& requester) {
  const AddressMap& own = system.address_map_of(requester.id());
  return !own.empty() && std::ranges::all_of(own.receivers(), [&](NodeId receiver) {
    return system.routes().reaches(requester.id().index(), receiver.index());
  });
}

void check_reachability(const System& system) {
  const auto& components = system.components();
  const AddressMap& map = system.address_map();
  const auto check = [&](const Component& from, NodeId to) {
    if (system.routes().reaches(from.id().index(), to.index())) return;
    throw InputError({"'" + from.name() + "' cannot reach '" + components[to.index()]->name() +
                          "': only buses and switches pass messages on",
                      {},
                      {},
                      {}},
                     "links");
  };
  const AddressMap* looked_at = nullptr;  // most devices have the same one
  std::vector<NodeId> receivers;
  const auto check_own_map = [&](const Component& from) {
    const AddressMap& own = system.address_map_of(from.id());
    if (std::exchange(looked_at, &own) != &own) receivers = own.receivers();
    for (const NodeId receiver : receivers) check(from, receiver);
  };
  for (const auto& [component, requester] : system.roles().all<Requester>()) {
    if (requester->has_work() && !system.roles().of<TransferEngine>(component->id()))
      check_own_map(*component);
  }
  for (const Coherence coherence : {Coherence::kHdmDb, Coherence::kHdmH, Coherence::kHdmD}) {
    for (const NodeId home : map.homes(coherence)) {
      for (const NodeId target : map.targets_of(home)) check(*components[home.index()], target);
    }
  }
  for (const auto& [component, initiator] : system.roles().all<IoInitiator>())
    check(*component, system.component(initiator->target()).id());
  for (const auto& [component, engine] : system.roles().all<TransferEngine>()) {
    if (!engine->dma()) continue;
    const NodeId host = engine->dma()->host_node();
    check(*component, host);
    check_own_map(*components[host.index()]);
  }
}

}  // namespace cxloom
