#include "system/model/system.hpp"

#include <algorithm>
#include <span>
#include <unordered_map>
#include <utility>

#include "device/memory/dynamic_capacity.hpp"
#include "device/requester/sequencer.hpp"
#include "device/switch/virtual_switches.hpp"
#include "interconnect/arbitration/arbitration.hpp"
#include "interconnect/link/end.hpp"
#include "interconnect/link/link.hpp"
#include "interconnect/routing/rank_strides.hpp"
#include "interconnect/routing/routing.hpp"
#include "system/build/coherence_check.hpp"
#include "system/build/given_routes.hpp"
#include "system/build/persistence_check.hpp"
#include "system/build/reachability_check.hpp"
#include "system/deadlock/virtual_channel_plan.hpp"
#include "system/kinds/registry.hpp"
#include "system/model/head_bindings.hpp"
#include "system/model/region_targets.hpp"
#include "system/spec/memory_need.hpp"

namespace cxloom {

System::System(Kernel& kernel, const Registry& registry, const Spec& spec)
    : System(std::vector<Kernel*>(spec.devices.size(), &kernel), registry, spec) {}

System::System(std::vector<Kernel*> kernels, const Registry& registry, const Spec& spec)
    : kernels_(std::move(kernels)), registry_(registry), spec_(spec) {
  const MemoryEstimate parts = estimate_memory(registry, spec);
  check_memory(parts);
  memory_need_ = parts.bytes();
  make_components();
  aim_io_initiators();
  give_logical_devices();
  add_regions(spec_.regions, *this, system_context_.map);
  make_links();
  connect_virtual_switches();
  begin_extents();
  for (const auto& component : components_)
    make_arbiters(*component, registry.arbitration, spec.run.seed, names_around(*component));
}

System::~System() = default;

void System::make_components() {
  for (const Spec::Device& device : spec_.devices) {
    const NodeId id{static_cast<std::uint32_t>(components_.size())};
    DeviceContext context{{*kernels_[id.index()], device.name, id, spec_.run.seed},
                          system_context_,
                          registry_.media,
                          registry_.victims,
                          registry_.prefetchers};
    with_path("devices", [&] {
      with_path(device.name, [&] { components_.push_back(registry_.devices.make(device.kinded, context)); });
    });
    Component& made = *components_.back();
    topology_.add_node({device.name, made.forwards(), made.is_switch(), made.transit_time(),
                        made.takes_heads(), made.line_time()});
    ids_.emplace(device.name, id);
  }
}

void System::aim_io_initiators() {
  for (const auto& [component, initiator] : roles().io_initiators) {
    with_path("devices", [&] {
      with_path(component->name(), [&] { with_path("target", [&] { aim(*component, *initiator); }); });
    });
  }
}

void System::give_logical_devices() {
  for (const auto& [component, memory] : roles().memories) {
    const std::span<const LogicalDeviceExtent> all = memory->logical_devices();
    for (std::size_t ld = 0; ld < all.size(); ++ld) {
      if (!all[ld].host) continue;
      with_path("devices." + component->name(), [&] {
        with_path(indexed("logical_devices", ld), [&] {
          memory->set_host(ld, with_path("host", [&] { return find_requester(*all[ld].host); }));
        });
      });
    }
  }
}

void System::aim(const Component& from, IoInitiator& initiator) {
  const NodeId target = find_device(initiator.target());
  IoTarget* const answering = roles().io_targets.of(target);
  if (!answering) {
    throw InputError(
        {target == from.id() ? "an I/O engine that sends to itself" : "a device that answers no CXL.io",
         "'" + initiator.target() + "'",
         "a host, an accelerator or a memory",
         {}});
  }
  initiator.aim(target, answering->expect_io(from.id()));
}

NodeId System::find_device(const std::string& name) const {
  const auto found = ids_.find(name);
  if (found != ids_.end()) return found->second;
  std::vector<std::string> names;
  for (const auto& [known, id] : ids_) names.push_back(known);
  constexpr std::size_t kMaxListed = 20;
  const std::string nearest = nearest_name(name, names);
  if (names.size() > kMaxListed) names.resize(kMaxListed), names.emplace_back("...");
  throw InputError({"unknown device", "'" + name + "'", list_names(names), nearest});
}

NodeId System::find_requester(const std::string& name) const {
  const NodeId found = find_device(name);
  const bool initiates = std::ranges::any_of(roles().io_initiators,
                                             [&](const auto& each) { return each.component->id() == found; });
  if (roles().requesters.of(found) || initiates) return found;
  throw InputError(
      {"a device that makes no requests", "'" + name + "'", "hosts, accelerators and I/O engines", {}});
}

ArbitrationNames System::names_around(const Component& owner) const {
  const std::span<const Topology::Hop> hops = topology_.hops(owner.id().index());
  const auto inputs = [this, hops, &owner](const std::string& name) {
    const NodeId found = find_device(name);
    std::vector<std::uint16_t> ports;
    for (const Topology::Hop& hop : hops) {
      if (hop.to == found.index()) ports.push_back(hop.port);
    }
    if (!ports.empty()) return ports;
    std::vector<std::string> neighbours;
    for (const Topology::Hop& hop : hops) neighbours.push_back(components_[hop.to]->name());
    throw InputError({"no link leads from '" + name + "' to '" + owner.name() + "'",
                      {},
                      list_names(neighbours),
                      nearest_name(name, neighbours)});
  };
  return {[this](const std::string& name) { return find_requester(name); }, inputs};
}

Component& System::component(const std::string& name) const {
  return *components_[find_device(name).index()];
}

namespace {

void take_port(const Component& device, const std::string& kind, std::size_t& taken) {
  constexpr std::size_t kMaxPorts = Router::kVaries - 1;  // of any device: they are numbered in 16 bits
  const std::size_t most = device.max_ports() != 0 ? device.max_ports() : kMaxPorts;
  if (++taken <= most) return;
  const char* const more = kind == "memory" ? "set heads of it for more, or " : "";
  throw InputError({"'" + device.name() + "' has more links than ports",
                    std::to_string(taken),
                    std::to_string(most) + "; " + more + "put a bus or a switch between",
                    {}},
                   "between");
}

/// A device's node is its place in the spec.
RoutingContext routing_context(const Spec& spec, const Topology& topology) {
  RoutingContext context{spec.run.seed, {}, {}, {}};
  std::map<std::string, std::uint32_t> counts;
  std::uint32_t most = 1;  // destinations of one kind
  for (std::uint32_t node = 0; node < topology.size(); ++node) {
    if (topology.node(node).is_switch) context.switches.push_back(node);
    std::uint32_t& count = counts[spec.devices[node].kinded.kind];
    context.ranks.push_back(count++);
    if (!topology.node(node).forwards) most = std::max(most, count);
  }
  context.strides = rank_strides(topology, most);
  return context;
}

}  // namespace

void System::make_links() {
  std::vector<std::size_t> ports(components_.size(), 0);
  std::unordered_map<std::string, int> names;  // how many links would have this name
  links_.reserve(spec_.links.size());
  link_ends_.reserve(2 * spec_.links.size());
  for (std::size_t i = 0; i < spec_.links.size(); ++i) {
    with_path(indexed("links", i), [&] {
      const Spec::Link& link = spec_.links[i];
      const NodeId a = with_path("between[0]", [&] { return find_device(link.a); });
      const NodeId b = with_path("between[1]", [&] { return find_device(link.b); });
      if (a == b)
        throw InputError({"a device linked to itself", "'" + link.a + "'", "two devices", {}}, "between");
      for (std::uint32_t copy = 0; copy < link.params->count; ++copy) {
        for (const NodeId end : {a, b}) {
          const std::string& kind = spec_.devices[end.index()].kinded.kind;
          take_port(*components_[end.index()], kind, ports[end.index()]);
        }
        std::string name = link.a + "-" + link.b;
        if (const int uses = ++names[name]; uses > 1) name += "#" + std::to_string(uses);
        make_link(link, std::move(name));
      }
    });
  }
  check_connected(*this);
  edge_ports_ = topology_.edge_ports();
  if (edge_ports_.size() > PbrId::kCount) {
    throw InputError({"too many edge ports for 12-bit PBR identities",
                      std::to_string(edge_ports_.size()),
                      "at most " + std::to_string(PbrId::kCount) + " ports of switches that lead to devices",
                      {}},
                     "links");
  }
  given_ = read_given_routes(spec_.run.routes, topology_,
                             [this](const std::string& name) { return find_device(name); });
  const MemoryEstimate routes = estimate_routes(topology_, spec_.run.route_by, given_);
  check_memory(routes);
  memory_need_ += routes.bytes();
  RoutingContext context = routing_context(spec_, topology_);
  routes_ = with_path("run.routes",
                      [&] { return std::make_unique<RouteTable>(topology_, spec_.run.route_by, given_); });
  auto router = std::make_unique<Router>(topology_, *routes_, with_path("run.routing", [&] {
                                           return registry_.routing.make(spec_.run.routing, context);
                                         }));
  router->see(components_);
  router_ = router.get();
  system_context_.routes = std::move(router);
  if (!system_context_.routes->keeps_order()) {
    ensure(topology_.size() <= DeliveryOrder::kMostEnds,
           "more devices than the order of messages has names for");
    system_context_.order = std::make_unique<DeliveryOrder>();
  }
  check_order();
  router_->plan(plan_virtual_channels(*this));
}

void System::make_link(const Spec::Link& link, std::string name) {
  Component& a = component(link.a);
  Component& b = component(link.b);
  const auto side = [this](Component& device) {
    const std::uint32_t node = device.id().index();
    return LinkSide{device, static_cast<std::uint16_t>(topology_.hops(node).size()), *kernels_[node]};
  };
  Link made = cxloom::make_link(*link.params, side(a), side(b), spec_.run.seed,
                                may_fail(spec_.events, link.a, link.b));
  const auto crossing = [](const LinkEnd& end) {
    return Topology::Crossing{end.flight(), end.line_time(), end.flits() != nullptr};
  };
  topology_.connect(a.id(), b.id(), crossing(*made.forward), crossing(*made.backward));
  links_.push_back({std::move(name), made.forward.get(), made.backward.get(),
                    link.params->duplex == Duplex::kHalf, link.params.get()});
  link_ends_.push_back(std::move(made.forward));
  link_ends_.push_back(std::move(made.backward));
}

std::vector<std::optional<PbrId>> System::pbr_ids() const {
  std::vector<std::optional<PbrId>> ids(components_.size());
  for (std::size_t id = 0; id < edge_ports_.size(); ++id) {
    std::optional<PbrId>& of_device = ids[edge_ports_[id].device];
    if (!of_device) of_device = PbrId{static_cast<std::uint16_t>(id)};
  }
  return ids;
}

void System::begin_extents() {
  std::vector<std::pair<std::string, NodeId>> requesters;
  for (const auto& [component, requester] : roles().requesters)
    requesters.emplace_back(component->name(), component->id());
  for (const auto& [component, memory] : roles().dynamic_memories) {
    const NodeId node = component->id();
    const auto begin = [&] {
      const MemoryOwner& owner = *roles().memories.of(node);
      memory->dynamic_capacity().begin(owner.memory_capacity(), owner.logical_devices(), requesters);
      for (const Coherence coherence : {Coherence::kHdmDb, Coherence::kHdmH, Coherence::kHdmD}) {
        for (const NodeId home : system_context_.map.homes(coherence)) {
          const std::vector<NodeId> targets = system_context_.map.targets_of(home);
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

void System::connect_virtual_switches() {
  for (const auto& [component, virtual_switching] : roles().virtual_switches) {
    std::vector<VirtualSwitches::Neighbour> neighbours;
    for (const Topology::Hop& hop : topology_.hops(component->id().index())) {
      const Component& there = *components_[hop.to];
      const bool forwards = topology_.node(hop.to).forwards;
      const MemoryOwner* const memory = roles().memories.of(there.id());
      neighbours.push_back({there.name(), forwards || roles().requesters.of(there.id()) != nullptr,
                            forwards || memory, memory ? memory->logical_devices().size() : 0});
    }
    with_path("devices", [&] {
      with_path(component->name(), [&] {
        virtual_switching->virtual_switches().connect(std::move(neighbours));
        if (!router_->keeps_order() || router_->detours()) {
          throw InputError(
              {"virtual switches beside routing that sends messages on detours, or changes their order",
               "routing: " + spec_.run.routing.kind,
               "routing without detours that keeps the order",
               {}},
              "vcs");
        }
        const char* const reason = system_context_.map.has_coherent() ? "coherent regions"
                                   : !roles().io_initiators.empty()   ? "I/O engines"
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
  check_bound_once(*this);
}

void System::expect(std::vector<RouteEpoch> epochs) {
  epochs_ = std::move(epochs);
  plan_virtual_channels(*this, epochs_);
}

void System::route_around(const std::vector<bool>& links) {
  RouteEpoch& next = epochs_.at(++epoch_);
  ensure(next.avoided == links, "routes change otherwise than was planned");
  for (std::uint32_t link = 0; link < links.size(); ++link) topology_.set_down(link, links[link]);
  *routes_ = RouteTable(topology_, spec_.run.route_by, given_);
  if (!next.plan.turns.empty()) router_->plan(std::move(next.plan));
}

void System::check_whole() const {
  check_reachability(*this);
  check_coherence(*this);
  check_persist_buffers(*this, spec_.events);
  check_given_routes(spec_.run.routes, *this);
}

// Who puts messages in order again would wait for one that an outage has answered on its way.
void System::check_order() const {
  if (router_->keeps_order()) return;
  for (const LinkView& link : links_) {
    const OutageParams& outage = link.params->outage;
    if (!outage.at || !outage.fail) continue;
    throw InputError({"an outage that fails requests beside routing that changes their order",
                      "link '" + link.name + "' with outage.fail, routing: " + spec_.run.routing.kind,
                      "fail: false: what comes during the outage waits; or routing that keeps the order",
                      {}},
                     "run.routing");
  }
}

}  // namespace cxloom
