#include "system/build/persistence_check.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "component/transfer_engine.hpp"
#include "device/requester/requester.hpp"
#include "device/switch/persist_domain.hpp"
#include "device/switch/virtual_switches.hpp"
#include "interconnect/routing/routing.hpp"
#include "interconnect/wire/link_params.hpp"
#include "system/model/system.hpp"
#include "system/spec/event_params.hpp"

namespace cxloom {

namespace {

using Buffers = std::set<std::uint32_t>;  // nodes of switches with one

/// The buffers on ways to one destination: on some way, and on all ways, from each node.
class BufferedWays {
 public:
  struct Passed {
    Buffers some;
    Buffers all;
    bool operator==(const Passed&) const = default;
  };

  BufferedWays(const System& system, std::uint32_t destination)
      : system_(system), destination_(destination) {}

  /// Ways get shorter from node to node, so that this ends.
  const Passed& from(std::uint32_t node) {
    const auto known = found_.find(node);
    if (known != found_.end()) return known->second;
    Passed passed;
    if (node != destination_) {
      const auto hops = system_.topology().hops(node);
      static constexpr std::uint16_t kOnly = 0;  // a device with one port needs no route
      const auto ports =
          hops.size() == 1 ? std::span(&kOnly, 1) : system_.routes().next_hops(node, destination_);
      bool first = true;
      for (const std::uint16_t port : ports) {
        const Passed& next = from(hops[port].to);
        passed.some.insert(next.some.begin(), next.some.end());
        if (first) {
          passed.all = next.all;
        } else {
          std::erase_if(passed.all, [&](std::uint32_t each) { return !next.all.contains(each); });
        }
        first = false;
      }
      if (system_.roles().of<PersistDomain>(NodeId{node})) {
        passed.some.insert(node);
        passed.all.insert(node);
      }
    }
    return found_.emplace(node, std::move(passed)).first->second;
  }

 private:
  const System& system_;
  std::uint32_t destination_;
  std::map<std::uint32_t, Passed> found_;
};

std::string name_of(const System& system, std::uint32_t node) {
  return "'" + system.topology().node(node).name + "'";
}

[[noreturn]] void refuse_way(const System& system, std::uint32_t buffer, std::uint32_t from,
                             std::uint32_t to) {
  throw InputError(
      {"a way to persistent memory avoids a persist buffer on it, and would find old data",
       name_of(system, from) + " to " + name_of(system, to) + " without " + name_of(system, buffer),
       "all ways to a line through the same persist buffers",
       {}},
      "devices." + system.topology().node(buffer).name + ".persist_buffer");
}

// The host accesses memory for it; what goes past the host was checked where it was aimed.
bool leaves_memory_to_host(const System& system, NodeId node) {
  TransferEngine* const engine = system.roles().of<TransferEngine>(node);
  return engine && engine->dma();
}

/// Gives the buffers on the ways to one memory.
Buffers check_ways_to(const System& system, NodeId memory) {
  BufferedWays ways(system, memory.index());
  std::optional<Buffers> common;
  std::uint32_t first = 0;
  for (const auto& [component, requester] : system.roles().all<Requester>()) {
    const std::uint32_t from = component->id().index();
    if (system.routes().distance(from, memory.index()) == RouteTable::kUnreachable ||
        from == memory.index() || leaves_memory_to_host(system, component->id()))
      continue;
    const auto& passed = ways.from(from);
    for (const std::uint32_t buffer : passed.some) {
      if (!passed.all.contains(buffer)) refuse_way(system, buffer, from, memory.index());
    }
    if (!common) {
      common = passed.all;
      first = from;
    }
    for (const std::uint32_t buffer : passed.all) {
      if (!common->contains(buffer)) refuse_way(system, buffer, first, memory.index());
    }
    for (const std::uint32_t buffer : *common) {
      if (!passed.all.contains(buffer)) refuse_way(system, buffer, from, memory.index());
    }
  }
  return common.value_or(Buffers{});
}

// A message that is lost is answered to its requester; a persist buffer is none.
void check_events(const std::vector<EventParams>& events) {
  if (std::ranges::none_of(events, [](const EventParams& event) { return event.breaks_or_mends(); })) return;
  throw InputError({"failures beside a persist buffer, which counts on its messages to arrive",
                    {},
                    "events that fail nothing, or switches without persist_buffer",
                    {}},
                   "events");
}

// What a buffer has answered for must reach memory, in order.
void check_messages(const System& system, const Component& buffered) {
  const std::string path = "devices." + buffered.name() + ".persist_buffer";
  if (!system.router().keeps_order() || system.router().detours()) {
    throw InputError(
        {"a persist buffer beside routing that sends messages on detours, or changes their order",
         {},
         "routing without detours that keeps the order",
         {}},
        path);
  }
  for (const System::LinkView& link : system.links()) {
    if (!link.params->outage.at || !link.params->outage.fail) continue;
    throw InputError({"a persist buffer beside a link that fails requests",
                      "link '" + link.name + "' with outage.fail",
                      "fail: false: what comes during the outage waits",
                      {}},
                     path);
  }
  if (!system.roles().all<VirtualSwitching>().empty()) {
    throw InputError({"a persist buffer beside virtual switches, which answer requests with errors",
                      {},
                      "switches without vcs",
                      {}},
                     path);
  }
}

}  // namespace

void check_persist_buffers(const System& system, const std::vector<EventParams>& events) {
  const auto& buffers = system.roles().all<PersistDomain>();
  if (buffers.empty()) return;
  check_events(events);
  Buffers used;
  for (const Persistence persistence : {Persistence::kMedia, Persistence::kController}) {
    for (const NodeId memory : system.address_map().persistent_targets(persistence))
      used.merge(check_ways_to(system, memory));
  }
  for (const auto& [component, buffer] : buffers) {
    check_messages(system, *component);
    if (used.contains(component->id().index())) continue;
    throw InputError({"a persist buffer on no way to persistent memory",
                      {},
                      "a switch on all ways to a region with persistence: media or controller",
                      {}},
                     "devices." + component->name() + ".persist_buffer");
  }
}

}  // namespace cxloom
