#include "system/build/persistence_check.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "component/transfer_engine.hpp"
#include "device/requester/requester.hpp"
#include "device/switch/persist_domain.hpp"
#include "device/switch/virtual_switches.hpp"
#include "interconnect/routing/route_table.hpp"
#include "interconnect/routing/routing.hpp"
#include "interconnect/wire/link_params.hpp"
#include "system/model/system.hpp"
#include "system/routes/route_epochs.hpp"

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

  BufferedWays(const System& system, const RouteTable& routes, std::uint32_t destination)
      : system_(system), routes_(routes), destination_(destination) {}

  /// Ways get shorter from node to node, so that this ends.
  const Passed& from(std::uint32_t node) {
    const auto known = found_.find(node);
    if (known != found_.end()) return known->second;
    Passed passed;
    if (node != destination_) {
      const auto hops = system_.topology().hops(node);
      static constexpr std::uint16_t kOnly = 0;  // a device with one port needs no route
      const auto ports = hops.size() == 1 ? std::span(&kOnly, 1) : routes_.next_hops(node, destination_);
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

  bool reachable(std::uint32_t node) const {
    return node != destination_ && routes_.distance(node, destination_) != RouteTable::kUnreachable;
  }

 private:
  const System& system_;
  const RouteTable& routes_;
  std::uint32_t destination_;
  std::map<std::uint32_t, Passed> found_;
};

std::string name_of(const System& system, std::uint32_t node) {
  return "'" + system.topology().node(node).name + "'";
}

// The host accesses memory for it; what goes past the host was checked where it was aimed.
bool leaves_memory_to_host(const System& system, NodeId node) {
  TransferEngine* const engine = system.roles().of<TransferEngine>(node);
  return engine && engine->dma();
}

/// The ways to one memory. Those of the beginning are compared with each other, and those around what fails
/// with them.
class WaysToMemory {
 public:
  WaysToMemory(const System& system, NodeId memory)
      : system_(system), memory_(memory.index()), first_(system, system.routes(), memory_) {
    for (const auto& [component, requester] : system.roles().all<Requester>()) {
      const std::uint32_t from = component->id().index();
      if (!first_.reachable(from) || leaves_memory_to_host(system, component->id())) continue;
      compare_with_others(from);
      sources_.push_back(from);
    }
    if (common_) sources_.insert(sources_.end(), common_->begin(), common_->end());
  }

  /// All ways pass these.
  Buffers buffers() const { return common_.value_or(Buffers{}); }

  /// What the epoch leaves of the ways from those that had one passes what it passed.
  void compare_with(const RouteEpoch& epoch, const RouteTable& routes) {
    BufferedWays ways(system_, routes, memory_);
    for (const std::uint32_t from : sources_) {
      if (!ways.reachable(from)) continue;
      for (const auto& [some, all] : {std::pair(ways.from(from).some, first_.from(from).all),
                                      std::pair(first_.from(from).all, ways.from(from).all)}) {
        for (const std::uint32_t buffer : some) {
          if (!all.contains(buffer)) refuse(buffer, from, " after " + to_text(epoch.at) + " " + epoch.cause);
        }
      }
    }
  }

 private:
  void compare_with_others(std::uint32_t from) {
    const auto& passed = first_.from(from);
    for (const std::uint32_t buffer : passed.some) {
      if (!passed.all.contains(buffer)) refuse(buffer, from);
    }
    if (!common_) common_ = passed.all;
    for (const std::uint32_t buffer : passed.all) {
      if (!common_->contains(buffer)) refuse(buffer, sources_.front());
    }
    for (const std::uint32_t buffer : *common_) {
      if (!passed.all.contains(buffer)) refuse(buffer, from);
    }
  }

  [[noreturn]] void refuse(std::uint32_t buffer, std::uint32_t from, const std::string& when = {}) const {
    throw InputError({"a way to persistent memory avoids a persist buffer on it, and would find old data",
                      name_of(system_, from) + " to " + name_of(system_, memory_) + " without " +
                          name_of(system_, buffer) + when,
                      "all ways to a line through the same persist buffers" +
                          std::string(when.empty() ? "" : ", also around what fails"),
                      {}},
                     "devices." + system_.topology().node(buffer).name + ".persist_buffer");
  }

  const System& system_;
  std::uint32_t memory_;
  BufferedWays first_;
  std::optional<Buffers> common_;
  std::vector<std::uint32_t> sources_;  // requesters, and buffers, which drain
};

// Its home would not hear of a write-back that the buffer has answered, nor of a read.
void check_coherent(const System& system) {
  const AddressMap& map = system.address_map();
  for (const AddressMap::Part& part : map.parts()) {
    const auto place = map.find(part.extent.base);
    if (!place->persistent || !place->coherent()) continue;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> ways;
    for (const MemoryTargetInfo& memory : part.memories) {
      const std::uint32_t home = place->home == place->target ? memory.id.index() : place->home.index();
      for (const auto& [component, requester] : system.roles().all<Requester>())
        ways.emplace_back(component->id().index(), home);
      ways.emplace_back(home, memory.id.index());
    }
    for (const auto& [from, to] : ways) {
      BufferedWays passed(system, system.routes(), to);
      if (!passed.reachable(from) || passed.from(from).some.empty()) continue;
      throw InputError(
          {"a persist buffer on a way to persistent memory that is kept coherent: it would answer "
           "what the home of the line has to know of",
           name_of(system, from) + " to " + name_of(system, to),
           "a region without coherence, or no buffer on the way",
           {}},
          "devices." + system.topology().node(*passed.from(from).some.begin()).name + ".persist_buffer");
    }
  }
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

void check_persist_buffers(const System& system) {
  const auto& buffers = system.roles().all<PersistDomain>();
  if (buffers.empty()) return;
  check_coherent(system);
  Buffers used;
  std::deque<WaysToMemory> all;
  for (const Persistence persistence : {Persistence::kMedia, Persistence::kController}) {
    for (const NodeId memory : system.address_map().persistent_targets(persistence))
      used.merge(all.emplace_back(system, memory).buffers());
  }
  for (std::size_t i = 1; i < system.route_epochs().size(); ++i) {
    const RouteEpoch& epoch = system.route_epochs()[i];
    const auto routes = routes_in(system, epoch);
    for (WaysToMemory& ways : all) ways.compare_with(epoch, *routes);
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
