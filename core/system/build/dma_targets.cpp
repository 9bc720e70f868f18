#include "system/build/dma_targets.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "component/component.hpp"
#include "component/dma_initiator.hpp"
#include "component/io_roles.hpp"
#include "component/transfer_engine.hpp"
#include "device/switch/persist_domain.hpp"
#include "device/switch/virtual_switches.hpp"
#include "interconnect/routing/route_table.hpp"
#include "memory/memory_owner.hpp"
#include "system/build/own_address_maps.hpp"
#include "system/model/system.hpp"

namespace cxloom {

namespace {

// A switch with a persist buffer on some shortest way.
std::optional<std::uint32_t> buffer_between(const System& system, NodeId from, NodeId to) {
  const Topology& topology = system.topology();
  std::vector<bool> seen(topology.size(), false);
  std::vector<std::uint32_t> frontier{from.index()};
  seen[from.index()] = true;
  while (!frontier.empty()) {
    const std::uint32_t node = frontier.back();
    frontier.pop_back();
    if (system.roles().of<PersistDomain>(NodeId{node})) return node;
    if (node == to.index()) continue;
    const auto hops = topology.hops(node);
    static constexpr std::uint16_t kOnly = 0;  // a device with one port needs no route
    const auto ports = hops.size() == 1 ? std::span(&kOnly, 1) : system.routes().next_hops(node, to.index());
    for (const std::uint16_t port : ports) {
      const std::uint32_t next = hops[port].to;
      if (!seen[next]) frontier.push_back(next);
      seen[next] = true;
    }
  }
  return std::nullopt;
}

[[noreturn]] void refuse_peer(const Component& device, std::string problem, std::string found) {
  throw InputError({std::move(problem), std::move(found), "through the host: peer_to_peer: false", {}},
                   "devices." + device.name() + ".peer_to_peer");
}

// What a device may access by itself, past the host: no memory whose writes a persist buffer keeps on the way
// of the hosts, and none that belongs to one host or another. Throws InputError for the key `peer_to_peer`.
void check_peer(const System& system, const Component& device, NodeId host, NodeId memory) {
  const std::string name = "'" + system.topology().node(memory.index()).name + "'";
  for (const NodeId from : {device.id(), host}) {
    const auto buffer = buffer_between(system, from, memory);
    if (!buffer) continue;
    refuse_peer(device, "peer-to-peer requests pass around a persist buffer, and would miss what it keeps",
                name + " behind persist_buffer of '" + system.topology().node(*buffer).name + "'");
  }
  const auto& switches = system.roles().all<VirtualSwitching>();
  if (!switches.empty()) {
    refuse_peer(device, "peer-to-peer requests go by no bindings of virtual switches",
                "vcs of '" + (*switches.begin()).component->name() + "'");
  }
  const MemoryOwner* const owner = system.roles().of<MemoryOwner>(memory);
  if (owner && !owner->logical_devices().empty()) {
    refuse_peer(device, "peer-to-peer requests belong to no host, and logical devices do",
                name + " with logical_devices");
  }
}

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
        !system.routes().reaches(component.id().index(), home.index()))
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
    give_own_map(system, *component, [&](NodeId memory) {
      return system.routes().reaches(host.index(), memory.index()) ||
             std::ranges::find(peers, memory) != peers.end();
    });
    system.roles().of<IoTarget>(host)->expect_dma(component->id(), *engine);
    for (const NodeId peer : peers) system.roles().of<IoTarget>(peer)->expect_dma(component->id(), *engine);
  }
}

}  // namespace cxloom
