#include "system/build/peer_check.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "device/switch/persist_domain.hpp"
#include "device/switch/virtual_switches.hpp"
#include "interconnect/routing/route_table.hpp"
#include "memory/media/memory_owner.hpp"
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
    static constexpr std::uint16_t kOnly = 0;  // who has one port needs no route
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

}  // namespace

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

}  // namespace cxloom
