#include "system/model/touched_memory.hpp"

#include <algorithm>

#include "memory/media/media.hpp"
#include "memory/memory_owner.hpp"
#include "system/model/system.hpp"
#include "workload/placement/placed_stream.hpp"

namespace cxloom {

namespace {

/// So many times what a medium remembers is touched last: earlier bytes have left, whatever the policy.
constexpr std::uint64_t kTimesOver = 8;

}  // namespace

void touch_memory(const System& system, const PlacedStream& program) {
  std::uint64_t remembered = 0;
  for (const auto& [component, memory] : system.roles().all<MemoryOwner>()) {
    if (const Media* const media = memory->media()) remembered += media->remembers();
  }
  if (remembered == 0) return;
  const AddressMap& map = system.address_map();
  program.touched_last(kTimesOver * remembered, [&](Address base, std::uint64_t bytes) {
    for (std::uint64_t done = 0; done < bytes;) {
      const Address at{base.value() + done};
      const auto* const region = map.region_of(at);
      if (!region) return;
      const std::uint64_t part = std::min(bytes - done, AddressMap::together(*region, at));
      const AddressMap::DecodedAddress place = AddressMap::decode_in(*region, at);
      Media* const media = system.roles().of<MemoryOwner>(place.target)->media();
      if (media && media->remembers() > 0) media->touched_before(place.device_address, part);
      done += part;
    }
  });
}

}  // namespace cxloom
