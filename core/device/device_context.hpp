// What a device finds around itself when the builder makes it.
#pragma once

#include <memory>
#include <vector>

#include "base/kind_registry.hpp"
#include "component/component.hpp"
#include "device/roles.hpp"
#include "interconnect/routing.hpp"
#include "kernel/pool.hpp"
#include "memory/media.hpp"
#include "protocol/address_map.hpp"
#include "protocol/request.hpp"

namespace cxloom {

/// What all devices of a simulation share. Map and router are complete when `Component::start` is called.
struct Fabric {
  AddressMap map;
  std::unique_ptr<Router> router;
  Pool<Message> messages;  ///< those without a request, which has its own
  Roles roles;

  /// Which way a message goes where directions differ (a bus). CXL.io goes by where it leads.
  bool goes_downstream(const Message& message) const {
    return message.channel == Channel::kIo ? !leads_upstream(message.destination)
                                           : is_downstream(message.channel);
  }
  /// CXL.io to that node goes upstream: it is, or stands for, a root complex.
  void set_root(NodeId node) {
    if (roots_.size() <= node.index()) roots_.resize(node.index() + 1);
    roots_[node.index()] = true;
  }

 private:
  bool leads_upstream(NodeId node) const { return node.index() < roots_.size() && roots_[node.index()]; }

  std::vector<bool> roots_;  // by node
};

struct DeviceContext : ComponentContext {
  Fabric& fabric;
  const MediaRegistry& media;
};

using DeviceRegistry = KindRegistry<Component, DeviceContext>;

}  // namespace cxloom
