// A system: components, the links between them, addresses and routes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/arena.hpp"
#include "base/units.hpp"
#include "component/system_context.hpp"
#include "component/virtual_channel_turns.hpp"
#include "interconnect/routing/route_table.hpp"
#include "interconnect/topology/topology.hpp"
#include "interconnect/wire/link_params.hpp"
#include "protocol/address_map.hpp"
#include "system/model/devices.hpp"

namespace cxloom {

/// A stretch of a run in which the routes of a system do not change.
struct RouteEpoch {
  Time at;
  std::string cause;          ///< the event; empty at the beginning
  std::vector<bool> avoided;  ///< by link
  VirtualChannelPlan plan;
};

class LinkEnd;
class Router;

/// `build_system` makes one.
class System {
 public:
  struct LinkView {
    std::string name;  ///< "host-bus"
    LinkEnd* forward;
    LinkEnd* backward;
    bool shared;  ///< half duplex
    const LinkParams* params = nullptr;

    /// What people call a direction of it: "a->b" of the link "a-b", and "a->b#2" of "a-b#2", the second of
    /// parallel links.
    std::string way(const LinkEnd& end) const;
  };

  /// What it consists of, in the order in which it is made.
  struct Parts {
    SystemContext context;
    Devices devices;
    Topology topology;
    std::vector<LinkView> links;
    std::vector<InArena<LinkEnd>>
        link_ends;  ///< of each link one after the other: its forward end, its backward end
    std::vector<Topology::EdgePort> edge_ports;  ///< of switches to devices, by their PBR identities
    RouteMetric metric = RouteMetric::kHops;
    std::vector<GivenRoute> given_routes;
    std::unique_ptr<RouteTable> routes;
    Router* router = nullptr;  ///< what `context.routes` is
    std::uint64_t memory_need = 0;
  };

  explicit System(std::unique_ptr<Parts> parts);
  System(System&&) noexcept;
  ~System();

  /// Throws InputError if there is no such device.
  Component& component(const std::string& name) const { return parts_->devices.component(name); }
  const std::vector<std::unique_ptr<Component>>& components() const { return parts_->devices.all(); }
  const Devices& devices() const { return parts_->devices; }

  SystemContext& system_context() { return parts_->context; }
  const SystemContext& system_context() const { return parts_->context; }
  /// Null: nobody asks for them.
  const LineVersions* versions() const { return parts_->context.versions.get(); }
  /// Null: nobody asks who has seen which stores.
  const SharedLines* shared_lines() const { return parts_->context.shared.get(); }
  const AddressMap& address_map() const { return *parts_->context.map; }
  /// The map as a device sees it: without memory to which no way leads from there.
  const AddressMap& address_map_of(NodeId device) const { return parts_->context.map_of(device); }
  /// The roles of the components.
  const Roles& roles() const { return parts_->context.roles; }

  const Topology& topology() const { return parts_->topology; }
  const std::vector<LinkView>& links() const { return parts_->links; }
  const std::vector<InArena<LinkEnd>>& link_ends() const { return parts_->link_ends; }
  const std::vector<Topology::EdgePort>& edge_ports() const { return parts_->edge_ports; }
  /// By node, the identity of the first edge port that leads to it, by which its messages name it; none:
  /// there is no such port.
  std::vector<std::optional<PbrId>> pbr_ids() const;

  RouteMetric route_metric() const { return parts_->metric; }
  /// The routing table of the spec.
  std::span<const GivenRoute> given_routes() const { return parts_->given_routes; }
  const RouteTable& routes() const { return *parts_->routes; }
  Router& router() const { return *parts_->router; }
  /// When routes will change, and how: to be said before the run. The first epoch is the beginning.
  void expect(std::vector<RouteEpoch> epochs) { epochs_ = std::move(epochs); }
  const std::vector<RouteEpoch>& route_epochs() const { return epochs_; }
  /// Routes lead around these links from now on, which begins the next epoch. Whoever knows routes must hear
  /// of it.
  void route_around(const std::vector<bool>& links);

  /// Software has taken that memory out of use: nobody's pages go there. Or it uses it again.
  void set_offline(NodeId memory, bool offline);
  bool offline(NodeId memory) const { return offline_.contains(memory.index()); }

  /// What it takes of the machine's memory, as was estimated before it was built.
  std::uint64_t memory_need() const { return parts_->memory_need; }

 private:
  std::unique_ptr<Parts> parts_;
  std::vector<RouteEpoch> epochs_;
  std::size_t epoch_ = 0;
  std::set<std::uint32_t> offline_;  // memories, by node
};

}  // namespace cxloom
