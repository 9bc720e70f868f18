#include "embed/memory_offsets.hpp"

#include <string>

#include "base/error.hpp"

namespace cxloom {

Address MemoryOffsets::find(NodeId memory, std::uint64_t offset, std::uint64_t bytes) {
  const Stretch found = stretch_of(memory, offset);
  if (found.bytes == 0) {
    throw InputError({"no region of the address map leads to this offset of the memory",
                      std::to_string(offset),
                      "bytes of a memory that the address map names",
                      {}});
  }
  if (bytes > found.bytes - (offset - found.offset)) {
    throw InputError({"an access across the end of an interleave chunk, or of a region, by its offset",
                      std::to_string(offset) + " + " + std::to_string(bytes),
                      "at most " + std::to_string(found.bytes - (offset - found.offset)) + " bytes there",
                      {}});
  }
  if (known_.size() <= memory.index()) known_.resize(memory.index() + 1);
  known_[memory.index()] = found;
  return Address{found.address + (offset - found.offset)};
}

// A region gives each slot of its round a chunk of a memory; a memory has as many chunks of a round as slots.
MemoryOffsets::Stretch MemoryOffsets::stretch_of(NodeId memory, std::uint64_t offset) const {
  for (const AddressMap::Part& part : map_.parts()) {
    const auto& region = *map_.region_of(part.extent.base);
    for (std::size_t position = 0; position < region.slots.size(); ++position) {
      const auto& slot = region.slots[position];
      const std::uint64_t within = offset - slot.start;
      if (slot.target != memory || offset < slot.start || within >= region.size) continue;
      if (region.slots.size() == 1) return {slot.start, region.size, region.base};
      const std::uint64_t chunk = within >> region.chunk_bits;
      if (chunk % slot.share != slot.index) continue;
      const std::uint64_t place = (chunk / slot.share * region.slots.size() + position) << region.chunk_bits;
      if (place >= region.size) continue;
      const Address address{region.base + place};
      return {slot.start + (chunk << region.chunk_bits), AddressMap::together(region, address),
              address.value()};
    }
  }
  return {};
}

}  // namespace cxloom
