// What a device finds around itself when the builder makes it.
#pragma once

#include "base/kind_registry.hpp"
#include "component/component.hpp"
#include "component/fabric.hpp"
#include "memory/media.hpp"
#include "tags/victim_policy.hpp"

namespace cxloom {

struct DeviceContext : ComponentContext {
  Fabric& fabric;
  const MediaRegistry& media;
  const VictimRegistry& victims;
};

using DeviceRegistry = KindRegistry<Component, DeviceContext>;

}  // namespace cxloom
