#include "system/build/dma_targets.hpp"

#include <algorithm>
#include <string>

#include "base/error.hpp"
#include "component/component.hpp"
#include "component/dma_initiator.hpp"
#include "component/io_roles.hpp"
#include "component/transfer_engine.hpp"
#include "interconnect/routing/route_table.hpp"
#include "system/build/peer_check.hpp"
#include "system/model/system.hpp"

namespace cxloom {

namespace {

bool is_root_complex(System& system, NodeId node) {
  return system.system_context().leads_upstream(node) && system.roles().of<IoTarget>(node);
}

NodeId host_of(System& system, const Component& component, const DmaInitiator& engine) {
  std::vector<NodeId> hosts;
  std::vector<std::string> names;
  for (const auto& [device, target] : system.roles().all<IoTarget>()) {
    if (!is_root_complex(system, device->id())) continue;
    hosts.push_back(device->id());
    names.push_back(device->name());
  }
  const std::string path = "devices." + component.name() + ".host";
  if (engine.host().empty()) {
    if (hosts.size() == 1) return hosts.front();
    throw InputError({hosts.empty() ? "no host completes the DMA requests of '" + component.name() + "'"
                                    : "which host completes the DMA requests of '" + component.name() + "'?",
                      hosts.empty() ? std::string() : counted(hosts.size(), "host"),
                      hosts.empty() ? "a device of kind host" : list_names(names),
                      {}},
                     path);
  }
  const auto found = std::ranges::find(names, engine.host());
  if (found == names.end()) {
    throw InputError(
        {"a device that completes no DMA requests", "'" + engine.host() + "'",
         names.empty() ? "a device of kind host" : list_names(names), nearest_name(engine.host(), names)},
        path);
  }
  return hosts[static_cast<std::size_t>(found - names.begin())];
}

// What is home to memory, and no host.
std::vector<NodeId> peers_of(System& system, const Component& component, const DmaInitiator& engine) {
  std::vector<NodeId> peers;
  if (!engine.peer_to_peer()) return peers;
  std::vector<NodeId> homes = system.address_map().targets();
  for (const NodeId home : system.address_map().homes(Coherence::kHdmDb)) homes.push_back(home);
  for (const NodeId home : homes) {
    if (is_root_complex(system, home) || !system.roles().of<IoTarget>(home) ||
        system.routes().distance(component.id().index(), home.index()) == RouteTable::kUnreachable)
      continue;
    if (std::ranges::find(peers, home) == peers.end()) peers.push_back(home);
  }
  if (peers.empty()) {
    throw InputError({"no way leads from '" + component.name() + "' to a memory but by a host",
                      {},
                      "a switch between the two, or leave out peer_to_peer",
                      {}},
                     "devices." + component.name() + ".peer_to_peer");
  }
  return peers;
}

}  // namespace

void aim_dma_engines(System& system) {
  for (const auto& [component, role] : system.roles().all<TransferEngine>()) {
    DmaInitiator* const engine = role->dma();
    if (!engine) continue;
    const NodeId host = host_of(system, *component, *engine);
    const std::vector<NodeId> peers = peers_of(system, *component, *engine);
    for (const NodeId peer : peers) check_peer(system, *component, host, peer);
    engine->aim(host, peers);
    system.roles().of<IoTarget>(host)->expect_dma(component->id(), *engine);
    for (const NodeId peer : peers) system.roles().of<IoTarget>(peer)->expect_dma(component->id(), *engine);
  }
}

}  // namespace cxloom
