// A system as built from its description: components, the links between them, addresses and routes.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/arena.hpp"
#include "component/system_context.hpp"
#include "interconnect/topology/topology.hpp"
#include "system/routes/route_epochs.hpp"
#include "system/spec/spec.hpp"

namespace cxloom {

class Component;
class Kernel;
class LinkEnd;
class Router;
class RouteTable;
struct ArbitrationNames;
struct Registry;

class System {
 public:
  struct LinkView {
    std::string name;  ///< "host-bus"
    LinkEnd* forward;
    LinkEnd* backward;
    bool shared;  ///< half duplex
    const LinkParams* params = nullptr;
  };

  /// Throws InputError with the path of what is wrong. `spec` must outlive it.
  System(Kernel& kernel, const Registry& registry, const Spec& spec);
  /// The same with a kernel for each device, in the order of the spec: those that a link without latency joins have the same.
  System(std::vector<Kernel*> kernels, const Registry& registry, const Spec& spec);
  ~System();

  /// Throws InputError if there is no such device.
  Component& component(const std::string& name) const;

  /// What must hold of it once its devices have work: everybody reaches whom they need. Throws InputError.
  void check_whole() const;

  SystemContext& system_context() { return system_context_; }
  /// Null: nobody asks for them.
  const LineVersions* versions() const { return system_context_.versions.get(); }
  /// When routes will change, and how: to be said before the run. The first epoch is the beginning.
  void expect(std::vector<RouteEpoch> epochs);
  const std::vector<RouteEpoch>& route_epochs() const { return epochs_; }
  /// Routes lead around these links from now on, which begins the next epoch. Whoever knows routes must hear of it.
  void route_around(const std::vector<bool>& links);
  RouteMetric route_metric() const { return spec_.run.route_by; }
  /// The routing table of the spec.
  std::span<const GivenRoute> given_routes() const { return given_; }
  const Topology& topology() const { return topology_; }
  const RouteTable& routes() const { return *routes_; }
  Router& router() const { return *router_; }
  const AddressMap& address_map() const { return system_context_.map; }
  const std::vector<std::unique_ptr<Component>>& components() const { return components_; }
  /// What the components can do for those around them.
  const Roles& roles() const { return system_context_.roles; }
  const std::vector<LinkView>& links() const { return links_; }
  /// Of each link one after the other: its forward end, its backward end.
  const std::vector<InArena<LinkEnd>>& link_ends() const { return link_ends_; }
  /// What it takes of the machine's memory, as was estimated before it was built.
  std::uint64_t memory_need() const { return memory_need_; }
  /// Ports of switches to devices, by their PBR identities.
  const std::vector<Topology::EdgePort>& edge_ports() const { return edge_ports_; }
  /// By node, the identity of the first edge port that leads to it, by which its messages name it; none: there is no such port.
  std::vector<std::optional<PbrId>> pbr_ids() const;

 private:
  void make_components();
  void aim_io_initiators();
  void aim(const Component& from, IoInitiator& initiator);
  void give_logical_devices();
  void make_links();
  void make_link(const Spec::Link& link, std::string name);
  void check_order() const;
  void connect_virtual_switches();
  void begin_extents();
  NodeId find_device(const std::string& name) const;
  NodeId find_requester(const std::string& name) const;
  ArbitrationNames names_around(const Component& owner) const;

  std::vector<Kernel*> kernels_;  // by node
  const Registry& registry_;
  const Spec& spec_;
  SystemContext system_context_;
  Router* router_ = nullptr;  // the fabric's
  Topology topology_;
  std::vector<GivenRoute> given_;
  std::unique_ptr<RouteTable> routes_;
  std::vector<RouteEpoch> epochs_;
  std::size_t epoch_ = 0;
  std::map<std::string, NodeId> ids_;
  std::vector<std::unique_ptr<Component>> components_;
  std::vector<InArena<LinkEnd>> link_ends_;
  std::vector<LinkView> links_;
  std::vector<Topology::EdgePort> edge_ports_;
  std::uint64_t memory_need_ = 0;
};

}  // namespace cxloom
