#include "system/run/outside_parts.hpp"

#include <string>

#include "base/error.hpp"
#include "coherence/external/agent.hpp"
#include "component/component.hpp"
#include "device/requester/requester.hpp"
#include "memory/external/media.hpp"
#include "memory/media/memory_owner.hpp"
#include "system/model/system.hpp"

namespace cxloom {

void OutsideParts::put_medium(NodeId memory, OutsideMedium& outside) {
  MemoryOwner* const owner = system_.roles().of<MemoryOwner>(memory);
  if (!owner || owner->memory_capacity() == Bytes{}) {
    throw InputError({"a device without memory has no medium",
                      std::to_string(memory.index()),
                      "the number of a memory",
                      {}});
  }
  if (media_.contains(memory))
    throw InputError(
        {"the medium of this memory is outside already", std::to_string(memory.index()), {}, {}});
  ExternalMedia* const put = owner->put_media_outside(outside);
  if (!put) {
    throw InputError({"this memory does not show what it consists of: its medium cannot be outside",
                      std::to_string(memory.index()),
                      {},
                      {}});
  }
  media_[memory] = put;
}

ExternalMedia& OutsideParts::medium(NodeId memory) const {
  const auto found = media_.find(memory);
  if (found == media_.end()) {
    throw InputError({"the medium of this memory is not outside",
                      std::to_string(memory.index()),
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
                      std::to_string(device.index()),
                      "a device with external_cache: true",
                      {}});
  }
  if (caches_.contains(device))
    throw InputError(
        {"the cache of this device has been given already", std::to_string(device.index()), {}, {}});
  cache->be(outside);
  caches_[device] = cache;
  return *cache;
}

ExternalCache& OutsideParts::cache(NodeId device) const {
  const auto found = caches_.find(device);
  if (found == caches_.end()) {
    throw InputError({"the cache of this device is not outside",
                      std::to_string(device.index()),
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
