// What a device finds around itself when the builder makes it.
#pragma once

#include <memory>
#include <vector>

#include "base/kind_registry.hpp"
#include "component/component.hpp"
#include "interconnect/routing.hpp"
#include "kernel/pool.hpp"
#include "memory/media.hpp"
#include "protocol/address_map.hpp"
#include "protocol/request.hpp"

namespace cxloom {

class IoSource;

/// What all devices of a simulation share. Map and router are complete when `Component::start` is called.
struct Fabric {
  AddressMap map;
  std::unique_ptr<Router> router;
  Pool<Message> messages;             ///< those without a request, which has its own
  std::vector<IoSource*> io_sources;  ///< by node: who makes CXL.io traffic; null for the others
  std::vector<bool> io_upstream;      ///< by node: CXL.io to it goes upstream

  /// Which way a message goes where directions differ (a bus). CXL.io goes by where it leads.
  bool goes_downstream(const Message& message) const {
    return message.channel == Channel::kIo ? !io_upstream[message.destination.index()]
                                           : is_downstream(message.channel);
  }
};

struct DeviceContext : ComponentContext {
  Fabric& fabric;
  const MediaRegistry& media;
};

using DeviceRegistry = KindRegistry<Component, DeviceContext>;

}  // namespace cxloom
