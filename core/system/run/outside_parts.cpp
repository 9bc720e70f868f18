#include "system/run/outside_parts.hpp"

#include <cstdint>
#include <string>

#include "base/error.hpp"
#include "coherence/external/agent.hpp"
#include "component/component.hpp"
#include "device/requester/requester.hpp"
#include "memory/external/media.hpp"
#include "memory/memory_owner.hpp"
#include "system/model/system.hpp"

namespace cxloom {

namespace {

/// Its name; where there is none of that number this, as programs in C have it.
std::string named(const System& system, NodeId device) {
  const auto& components = system.components();
  if (device.index() < components.size()) return "'" + components[device.index()]->name() + "'";
  return std::to_string(static_cast<std::int32_t>(device.index()));
}

}  // namespace

void OutsideParts::put_medium(NodeId memory, OutsideMedium& outside) {
  MemoryOwner* const owner = system_.roles().of<MemoryOwner>(memory);
  if (!owner || owner->memory_capacity() == Bytes{}) {
    throw InputError(
        {"a device without memory has no medium", named(system_, memory), "the number of a memory", {}});
  }
  if (media_.contains(memory))
    throw InputError({"the medium of this memory is outside already", named(system_, memory), {}, {}});
  ExternalMedia* const put = owner->put_media_outside(outside);
  if (!put) {
    throw InputError({"this memory does not show what it consists of: its medium cannot be outside",
                      named(system_, memory),
                      {},
                      {}});
  }
  media_[memory] = put;
}

ExternalMedia& OutsideParts::medium(NodeId memory) const {
  const auto found = media_.find(memory);
  if (found == media_.end()) {
    throw InputError({"the medium of this memory is not outside",
                      named(system_, memory),
                      "the number of a memory whose medium is",
                      {}});
  }
  return *found->second;
}

ExternalCache& OutsideParts::put_cache(NodeId device, OutsideCache& outside) {
  Requester* const requester = system_.roles().of<Requester>(device);
  ExternalCache* const cache = requester ? requester->external_cache() : nullptr;
  if (!cache) {
    throw InputError({"the cache of this device is not outside",
                      named(system_, device),
                      "a device with external_cache: true",
                      {}});
  }
  if (caches_.contains(device))
    throw InputError({"the cache of this device has been given already", named(system_, device), {}, {}});
  cache->be(outside);
  caches_[device] = cache;
  return *cache;
}

ExternalCache& OutsideParts::cache(NodeId device) const {
  const auto found = caches_.find(device);
  if (found == caches_.end()) {
    throw InputError({"the cache of this device is not outside",
                      named(system_, device),
                      "the number of a device whose cache is",
                      {}});
  }
  return *found->second;
}

std::uint64_t OutsideParts::owed() const {
  std::uint64_t owed = 0;
  for (const auto& [memory, media] : media_) owed += media->handed_out();
  for (const auto& [device, cache] : caches_) owed += cache->snoops_outside();
  return owed;
}

}  // namespace cxloom
