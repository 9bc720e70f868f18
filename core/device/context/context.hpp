// The surroundings of a device when the builder makes it.
#pragma once

#include "component/component.hpp"
#include "component/system_context.hpp"
#include "tags/cache_kinds.hpp"

namespace cxloom {

struct MediaRegistry;
template <class Product, class Context>
class KindRegistry;

struct DeviceContext : ComponentContext {
  SystemContext& system_context;
  const MediaRegistry& media;
  const VictimRegistry& victims;
  const PrefetcherRegistry& prefetchers;
};

using DeviceRegistry = KindRegistry<Component, DeviceContext>;

}  // namespace cxloom
