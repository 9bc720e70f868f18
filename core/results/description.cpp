#include "results/description.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "coherence/common/coherence_home.hpp"
#include "device/requester/requester.hpp"
#include "interconnect/link/end.hpp"
#include "interconnect/wire/shared_medium.hpp"
#include "memory/media/media.hpp"
#include "memory/memory_owner.hpp"
#include "protocol/request_observer.hpp"
#include "results/idle_read.hpp"
#include "results/inventory.hpp"
#include "results/unlimited.hpp"
#include "system/build/reachability_check.hpp"
#include "system/deadlock/check.hpp"
#include "system/kinds/registry.hpp"
#include "system/model/offered_memory.hpp"
#include "system/run/thread_division.hpp"
#include "workload/placement/numa_nodes.hpp"
#include "workload/trace/page_map.hpp"

namespace cxloom {

namespace {

Value devices_of(const System& system, const Spec& spec) {
  Value::List devices;
  for (std::size_t i = 0; i < system.components().size(); ++i) {
    const Component& component = *system.components()[i];
    devices.emplace_back(
        Value::Map{{"name", component.name()},
                   {"kind", spec.devices[i].kinded.kind},
                   {"roles", roles_of(system, component)},
                   {"links", number(system.topology().hops(static_cast<std::uint32_t>(i)).size())}});
  }
  return devices;
}

Value links_of(const System& system) {
  Value::List links;
  for (const System::LinkView& link : system.links()) {
    const auto way = [&link](const LinkEnd& end) {
      Value::Map described{{"name", end.name()},
                           {"bandwidth", to_text(Bandwidth{end.rate()})},
                           {"flight", to_text(end.flight())}};
      if (!end.unlimited() && !end.flits()) {
        // What asks for a line, or says that it is written, takes the same wire where both directions share
        // one.
        const std::uint64_t bytes = end.message_bytes(kLineBytes) + (link.shared ? end.message_bytes(0) : 0);
        const double share = static_cast<double>(kLineBytes) / static_cast<double>(bytes);
        described.emplace_back("lines_gb_per_s", end.rate().per_second() * share / 1e9);
      }
      return described;
    };
    links.emplace_back(Value::Map{{"name", link.name},
                                  {"duplex", link.shared ? "half" : "full"},
                                  {"ends", Value::List{way(*link.forward), way(*link.backward)}}});
  }
  return links;
}

// How far a requester and the memories are apart in links.
struct Route {
  std::string requester;
  Value::Map described;
  bool timed = false;  // it reaches all of its address map, and has some
};

std::vector<Route> routes_of(const System& system) {
  std::vector<Route> routes;
  const auto targets = system.address_map().targets();
  for (const auto& [requester, role] : system.roles().all<Requester>()) {
    if (targets.empty()) break;
    std::uint64_t sum = 0;
    std::uint32_t nearest = RouteTable::kUnreachable;
    std::uint32_t farthest = 0;
    std::uint64_t reached = 0;
    for (const NodeId target : targets) {
      if (!system.routes().reaches(requester->id().index(), target.index())) continue;
      const std::uint32_t links_between = system.routes().distance(requester->id().index(), target.index());
      ++reached;
      sum += links_between;
      nearest = std::min(nearest, links_between);
      farthest = std::max(farthest, links_between);
    }
    if (reached == 0) continue;
    routes.push_back({requester->name(),
                      {{"requester", requester->name()},
                       {"nearest", number(nearest)},
                       {"mean", static_cast<double>(sum) / static_cast<double>(reached)},
                       {"farthest", number(farthest)}},
                      reaches_its_map(system, *requester)});
  }
  return routes;
}

// The routes, with the time of an idle read for the first of them.
Value timed(const Registry& registry, const Spec& spec, std::vector<Route> routes) {
  // In a large system each takes as long as building it.
  const std::size_t most = std::clamp<std::size_t>(4096 / spec.devices.size(), 1, 16);
  Value::List described;
  for (Route& route : routes) {
    if (route.timed) {
      const bool worked_out = described.size() < most;
      route.described.emplace_back("idle_read_ns",
                                   worked_out ? idle_read_latency(registry, spec, route.requester) : Value());
    }
    described.emplace_back(std::move(route.described));
  }
  return described;
}

// How many parts several threads may play, and the least latency between them; of one part the reason.
Value division_of(const Registry& registry, const Spec& spec, const System& system) {
  const Divisible parts = divisible(registry, spec, system);
  Value::Map described{{"count", number(parts.parts)},
                       {"lookahead", parts.lookahead ? Value(to_text(*parts.lookahead)) : Value()}};
  if (!parts.reason.empty()) described.emplace_back("reason", parts.reason);
  return described;
}

// Whether messages can wait for each other's buffers in a circle.
Value deadlock_of(const System& system) {
  const DeadlockCheck check = check_deadlock(system);
  Value::List circle;
  for (const std::string& channel : check.circle) circle.emplace_back(channel);
  Value from;
  if (check.from) {
    from = Value::Map{{"at", to_text(check.from->at)},
                      {"event", check.from->cause},
                      {"only_while_routes_change", check.only_while_routes_change}};
  }
  return Value::Map{
      {"possible", check.possible()},
      {"from", std::move(from)},
      {"epochs", number(check.epochs)},
      {"circle", std::move(circle)},
      {"channels", number(check.channels)},
      {"dependences", number(check.dependences)},
      {"virtual_channels_needed",
       check.virtual_channels_needed ? number(std::uint64_t{*check.virtual_channels_needed}) : Value()}};
}

// Memory that no address leads to.
Value unmapped_of(const System& system, const Spec& spec) {
  Value::List unmapped;
  const auto targets = system.address_map().targets();
  for (const NodeId target : targets) {
    const Component& memory = *system.components()[target.index()];
    const Bytes capacity = system.roles().of<MemoryOwner>(target)->memory_capacity();
    const Bytes mapped{system.address_map().mapped_bytes(target)};
    if (mapped >= capacity) continue;
    const bool shared =
        std::any_of(spec.regions.begin(), spec.regions.end(), [&](const RegionParams& region) {
          return region.policy == InterleavePolicy::kCxl && region.to.size() > 1 && !region.size &&
                 std::find(region.to.begin(), region.to.end(), memory.name()) != region.to.end();
        });
    unmapped.emplace_back(Value::Map{{"memory", memory.name()},
                                     {"capacity", to_text(capacity)},
                                     {"mapped", to_text(mapped)},
                                     {"equal_shares", shared}});
  }
  return unmapped;
}

// Memories whose media are more than what was written of them.
Value media_of(const System& system) {
  Value::List memories;
  for (const auto& [component, owner] : system.roles().all<MemoryOwner>()) {
    const Media* media = owner->media();
    const std::string described = media ? media->described() : std::string();
    if (described.empty()) continue;
    memories.emplace_back(Value::Map{{"memory", component->name()},
                                     {"capacity", to_text(owner->memory_capacity())},
                                     {"media", described}});
  }
  return memories;
}

// The bytes of each node that each requester has at the start, in whole pages; none without a way or extent.
std::map<NodeMemories, Value::Map> offered_of(const System& system) {
  std::map<NodeMemories, Value::Map> offered;
  const auto distance = [](NodeId /*memory*/) { return Time{}; };
  for (const auto& [component, requester] : system.roles().all<Requester>()) {
    for (const NumaNode& node :
         numa_nodes(system.address_map_of(component->id()), component->name(), Bytes{kPageBytes}, distance,
                    extents_now(system, component->id()))) {
      const std::vector<bool> parts = offered_parts(system, component->id(), node, Bytes{kPageBytes});
      std::uint64_t bytes = 0;
      for (std::size_t run = 0; run < node.frames.size(); ++run)
        bytes += parts[node.in_extents ? run : 0] ? node.frames[run].count * kPageBytes : 0;
      if (bytes > 0) offered[memories_of(node.targets)].emplace_back(component->name(), number(bytes));
    }
  }
  return offered;
}

// What an operating system would call nodes: memories that share regions, with all that the address map has
// of them.
Value nodes_of(const System& system) {
  const std::vector<AddressMap::Part>& parts = system.address_map().parts();
  std::map<NodeMemories, std::uint64_t> bytes;
  for (const AddressMap::Part& part : parts) bytes[memories_of(part.memories)] += part.extent.bytes;
  auto offered = offered_of(system);
  Value::List nodes;
  for (const AddressMap::Part& part : parts) {
    const auto node = bytes.extract(memories_of(part.memories));
    if (node.empty()) continue;  // it is there, by a region before
    Value::List memories;
    Value owner;
    for (const MemoryTargetInfo& memory : part.memories) {
      memories.emplace_back(memory.described());
      if (memory.owner) owner = *memory.owner;
    }
    nodes.emplace_back(Value::Map{{"memories", std::move(memories)},
                                  {"bytes", number(node.mapped())},
                                  {"owner", std::move(owner)},
                                  {"offered", std::move(offered[node.key()])}});
  }
  return nodes;
}

// In the order of their numbers, from 0.
Value pbr_ids_of(const System& system) {
  Value::List ports;
  for (const Topology::EdgePort& edge : system.edge_ports()) {
    ports.emplace_back(Value::Map{{"switch", system.components()[edge.switch_node]->name()},
                                  {"port", number(edge.port)},
                                  {"device", system.components()[edge.device]->name()}});
  }
  return ports;
}

}  // namespace

Value describe_system(const Registry& registry, const Spec& spec, const TraceOpener& open_trace) {
  std::vector<Route> routes;
  Value described;
  {
    NullObserver nobody;
    Simulation simulation(registry, spec, open_trace, nobody);
    simulation.read_work();
    const System& system = simulation.system();
    const Unlimited unlimited = find_unlimited(system, nullptr);
    Value::List notes;
    for (const std::string& note : simulation.notes()) notes.emplace_back(note);
    if (unlimited.any()) notes.emplace_back(unlimited.note());
    routes = routes_of(system);
    described = Value::Map{{"devices", devices_of(system, spec)},
                           {"unmapped", unmapped_of(system, spec)},
                           {"links", links_of(system)},
                           {"routes", {}},
                           {"deadlock", deadlock_of(system)},
                           {"partitions", division_of(registry, spec, system)},
                           {"pbr_ids", pbr_ids_of(system)},
                           {"addresses", system.address_map().described()},
                           {"nodes", nodes_of(system)},
                           {"media", media_of(system)},
                           {"unlimited", unlimited.to_value()},
                           {"notes", std::move(notes)},
                           {"memory_bytes", number(system.memory_need())}};
  }
  // Each read takes a system of its own, and there is never more than one at a time.
  described.set("routes", timed(registry, spec, std::move(routes)));
  return described;
}

}  // namespace cxloom
