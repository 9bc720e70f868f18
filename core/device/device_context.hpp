// What a device finds around itself when the builder makes it.
#pragma once

#include <memory>

#include "base/kind_registry.hpp"
#include "interconnect/routing.hpp"
#include "kernel/component.hpp"
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
};

struct DeviceContext : ComponentContext {
  Fabric& fabric;
  const MediaRegistry& media;
};

using DeviceRegistry = KindRegistry<Component, DeviceContext>;

}  // namespace cxloom
