#include "system/build/system_builder.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/error.hpp"
#include "component/component.hpp"
#include "component/delivery_order.hpp"
#include "component/line_versions.hpp"
#include "device/context/context.hpp"
#include "interconnect/arbitration/arbitration.hpp"
#include "interconnect/link/end.hpp"
#include "interconnect/link/link.hpp"
#include "interconnect/routing/rank_strides.hpp"
#include "interconnect/routing/routing.hpp"
#include "system/build/bias_hosts.hpp"
#include "system/build/coherence_check.hpp"
#include "system/build/dma_targets.hpp"
#include "system/build/given_routes.hpp"
#include "system/build/named_devices.hpp"
#include "system/build/own_address_maps.hpp"
#include "system/build/persistence_check.hpp"
#include "system/build/reachability_check.hpp"
#include "system/build/replication.hpp"
#include "system/deadlock/virtual_channel_plan.hpp"
#include "system/kinds/registry.hpp"
#include "system/model/region_targets.hpp"
#include "system/spec/memory_need.hpp"
#include "system/spec/spec.hpp"

namespace cxloom {

namespace {

void take_port(const Component& device, std::size_t& taken) {
  constexpr std::size_t kMaxPorts = Router::kVaries - 1;  // of any device: they are numbered in 16 bits
  const std::size_t most = device.max_ports() != 0 ? device.max_ports() : kMaxPorts;
  if (++taken <= most) return;
  const std::string more =
      device.ports_key().empty() ? "" : "set " + std::string(device.ports_key()) + " of it for more, or ";
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

// The links of a bundle are one logical port: nothing else may join its two devices.
void check_bundles(const Spec& spec, const Devices& devices) {
  const std::vector<Spec::Link>& links = spec.links;
  std::map<std::pair<std::string, std::string>, std::size_t> first;
  for (std::size_t i = 0; i < links.size(); ++i) {
    const auto [a, b] = std::minmax(links[i].a, links[i].b);
    const auto [found, fresh] = first.try_emplace({a, b}, i);
    if (fresh || (!links[i].params->bundle && !links[found->second].params->bundle)) continue;
    throw InputError({"another link beside bundled ports",
                      indexed("links", found->second) + " joins the same devices",
                      "a bundle alone between two devices, with count for its ports",
                      {}},
                     indexed("links", i));
  }
  for (const auto& device : devices.all()) {
    if (device->takes_bundles()) continue;
    const auto joins = [&](const Spec::Link& link) {
      return link.params->bundle && (link.a == device->name() || link.b == device->name());
    };
    const auto link = std::ranges::find_if(links, joins);
    if (link == links.end()) continue;
    throw InputError({"bundled ports at a device that has each link by itself",
                      "'" + device->name() + "'",
                      "one wider link, or a host or switch at that end of the bundle",
                      {}},
                     indexed("links", static_cast<std::size_t>(link - links.begin())) + ".bundle");
  }
}

/// Makes the parts of a system, each from the parts before it.
class SystemBuilder {
 public:
  SystemBuilder(const std::vector<Kernel*>& kernels, const Registry& registry, const Spec& spec)
      : kernels_(kernels), registry_(registry), spec_(spec) {}

  /// `to_play`: with the plan of virtual channels.
  System build(bool to_play);

 private:
  void make_components();
  void make_links();
  void make_link(const Spec::Link& link, std::string name);
  void make_routes();
  /// Throws InputError if the machine has not that much.
  void reserve_memory(const MemoryEstimate& need);

  const std::vector<Kernel*>& kernels_;  // by node
  const Registry& registry_;
  const Spec& spec_;
  std::unique_ptr<System::Parts> parts_ = std::make_unique<System::Parts>();
};

void SystemBuilder::reserve_memory(const MemoryEstimate& need) {
  check_memory(need);
  parts_->memory_need += need.bytes();
}

void SystemBuilder::make_components() {
  for (const Spec::Device& device : spec_.devices) {
    const NodeId id{static_cast<std::uint32_t>(parts_->devices.all().size())};
    DeviceContext context{{*kernels_[id.index()], device.name, id, spec_.run.seed},
                          parts_->context,
                          registry_.media,
                          registry_.victims,
                          registry_.prefetchers};
    const Component& made = parts_->devices.add(with_path("devices", [&] {
      return with_path(device.name, [&] { return registry_.devices.make(device.kinded, context); });
    }));
    parts_->topology.add_node({device.name, made.forwards(), made.is_switch(), made.transit_time(),
                               made.takes_heads(), made.line_time()});
  }
}

void SystemBuilder::make_links() {
  check_bundles(spec_, parts_->devices);
  std::vector<std::size_t> ports(parts_->devices.all().size(), 0);
  std::unordered_map<std::string, int> names;  // how many links would have this name
  parts_->links.reserve(spec_.links.size());
  parts_->link_ends.reserve(2 * spec_.links.size());
  for (std::size_t i = 0; i < spec_.links.size(); ++i) {
    with_path(indexed("links", i), [&] {
      const Spec::Link& link = spec_.links[i];
      const NodeId a = with_path("between[0]", [&] { return parts_->devices.find(link.a); });
      const NodeId b = with_path("between[1]", [&] { return parts_->devices.find(link.b); });
      if (a == b)
        throw InputError({"a device linked to itself", "'" + link.a + "'", "two devices", {}}, "between");
      for (std::uint32_t copy = 0; copy < link.params->count; ++copy) {
        for (const NodeId end : {a, b}) take_port(*parts_->devices.all()[end.index()], ports[end.index()]);
        std::string name = link.a + "-" + link.b;
        if (const int uses = ++names[name]; uses > 1) name += "#" + std::to_string(uses);
        make_link(link, std::move(name));
      }
    });
  }
  check_connected(parts_->devices, parts_->topology);
  parts_->edge_ports = parts_->topology.edge_ports();
  if (parts_->edge_ports.size() > PbrId::kCount) {
    throw InputError({"too many edge ports for 12-bit PBR identities",
                      std::to_string(parts_->edge_ports.size()),
                      "at most " + std::to_string(PbrId::kCount) + " ports of switches that lead to devices",
                      {}},
                     "links");
  }
}

void SystemBuilder::make_routes() {
  parts_->given_routes =
      read_given_routes(spec_.run.routes, parts_->topology,
                        [this](const std::string& name) { return parts_->devices.find(name); });
  parts_->metric = spec_.run.route_by;
  reserve_memory(estimate_routes(parts_->topology, parts_->metric, parts_->given_routes));
  RoutingContext context = routing_context(spec_, parts_->topology);
  parts_->routes = with_path("run.routes", [&] {
    return std::make_unique<RouteTable>(parts_->topology, parts_->metric, parts_->given_routes);
  });
  auto router = std::make_unique<Router>(parts_->topology, *parts_->routes, with_path("run.routing", [&] {
                                           return registry_.routing.make(spec_.run.routing, context);
                                         }));
  router->see(parts_->devices.all());
  parts_->router = router.get();
  parts_->context.routes = std::move(router);
  if (!parts_->context.routes->keeps_order()) {
    ensure(parts_->topology.size() <= DeliveryOrder::kMostEnds,
           "more devices than the order of messages has names for");
    const auto is_other = [this](const Kernel* kernel) { return kernel != kernels_.front(); };
    parts_->context.order = std::make_unique<DeliveryOrder>(std::ranges::any_of(kernels_, is_other));
  }
}

void SystemBuilder::make_link(const Spec::Link& link, std::string name) {
  Component& a = parts_->devices.component(link.a);
  Component& b = parts_->devices.component(link.b);
  const auto side = [this](Component& device) {
    const std::uint32_t node = device.id().index();
    return LinkSide{device, static_cast<std::uint16_t>(parts_->topology.hops(node).size()), *kernels_[node]};
  };
  Link made = cxloom::make_link(*link.params, side(a), side(b), spec_.run.seed,
                                may_fail(spec_.events, link.a, link.b));
  const auto crossing = [](const LinkEnd& end) {
    return Topology::Crossing{end.flight(), end.line_time(), end.flits() != nullptr};
  };
  const std::uint32_t index =
      parts_->topology.connect(a.id(), b.id(), crossing(*made.forward), crossing(*made.backward));
  if (link.params->bundle) parts_->topology.set_bundled(index);
  parts_->links.push_back({std::move(name), made.forward.get(), made.backward.get(),
                           link.params->duplex == Duplex::kHalf, link.params.get()});
  parts_->link_ends.push_back(std::move(made.forward));
  parts_->link_ends.push_back(std::move(made.backward));
}

/// The names that parameters of the arbiters of a switch may have.
class NamesAround final : public ArbitrationNames {
 public:
  NamesAround(const Component& owner, const System& system) : owner_(owner), system_(system) {}

  NodeId requester(const std::string& name) const override {
    return find_requester(name, system_.devices(), system_.roles());
  }
  std::vector<std::uint16_t> inputs(const std::string& name) const override {
    const std::span<const Topology::Hop> hops = system_.topology().hops(owner_.id().index());
    const NodeId found = system_.devices().find(name);
    std::vector<std::uint16_t> ports;
    for (const Topology::Hop& hop : hops) {
      if (hop.to == found.index()) ports.push_back(hop.port);
    }
    if (!ports.empty()) return ports;
    std::vector<std::string> neighbours;
    for (const Topology::Hop& hop : hops) neighbours.push_back(system_.components()[hop.to]->name());
    throw InputError({"no link leads from '" + name + "' to '" + owner_.name() + "'",
                      {},
                      list_names(neighbours),
                      nearest_name(name, neighbours)});
  }

 private:
  const Component& owner_;
  const System& system_;
};

// An endpoint that puts messages in order again would wait for one that an outage has answered on its way.
void check_order(const System& system, const Spec& spec) {
  if (system.router().keeps_order()) return;
  for (const System::LinkView& link : system.links()) {
    const OutageParams& outage = link.params->outage;
    if (!outage.at || !outage.fail) continue;
    throw InputError({"an outage that fails requests beside routing that changes their order",
                      "link '" + link.name + "' with outage.fail, routing: " + spec.run.routing.kind,
                      "fail: false: what comes during the outage waits; or routing that keeps the order",
                      {}},
                     "run.routing");
  }
}

System SystemBuilder::build(bool to_play) {
  reserve_memory(estimate_memory(registry_, spec_));
  make_components();
  aim_io_initiators(parts_->devices, parts_->context.roles);
  give_logical_devices(parts_->devices, parts_->context.roles);
  add_regions(spec_.regions, parts_->devices, parts_->context);
  make_links();
  make_routes();
  System system(std::move(parts_));
  give_own_maps(system);
  aim_dma_engines(system);
  check_order(system, spec_);
  begin_replication(system, spec_);
  if (to_play) system.router().plan(plan_virtual_channels(system));
  connect_virtual_switches(system, spec_);
  tell_bias_hosts(system);
  begin_extents(system.system_context());
  for (const auto& component : system.components())
    make_arbiters(*component, registry_.arbitration, spec_.run.seed, NamesAround(*component, system));
  return system;
}

}  // namespace

System build_system(Kernel& kernel, const Registry& registry, const Spec& spec) {
  return build_system(std::vector<Kernel*>(spec.devices.size(), &kernel), registry, spec);
}

System build_system(const std::vector<Kernel*>& kernels, const Registry& registry, const Spec& spec) {
  return SystemBuilder(kernels, registry, spec).build(true);
}

System build_system_to_look_at(Kernel& kernel, const Registry& registry, const Spec& spec) {
  return SystemBuilder(std::vector<Kernel*>(spec.devices.size(), &kernel), registry, spec).build(false);
}

void check_whole(const System& system, const Spec& spec) {
  check_reachability(system);
  check_coherence(system);
  check_persist_buffers(system);
  check_given_routes(spec.run.routes, system);
}

}  // namespace cxloom
