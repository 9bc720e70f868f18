// The addresses of bytes that are given as a memory and an offset in it: the address map, backwards.
#pragma once

#include <cstdint>
#include <vector>

#include "base/units.hpp"
#include "protocol/address_map.hpp"

namespace cxloom {

class MemoryOffsets {
 public:
  explicit MemoryOffsets(const AddressMap& map) : map_(map) {}

  /// The address that leads to `bytes` bytes at `offset` of the memory of a device; of several the first.
  /// Throws InputError if none does, or if they do not follow each other in addresses.
  Address address_of(NodeId memory, std::uint64_t offset, std::uint64_t bytes) {
    if (memory.index() < known_.size()) [[likely]] {
      const Stretch& last = known_[memory.index()];
      const std::uint64_t within = offset - last.offset;
      if (within < last.bytes && bytes <= last.bytes - within) return Address{last.address + within};
    }
    return find(memory, offset, bytes);
  }

 private:
  /// Bytes that follow each other in a memory and in addresses.
  struct Stretch {
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    std::uint64_t address = 0;
  };

  Address find(NodeId memory, std::uint64_t offset, std::uint64_t bytes);
  Stretch stretch_of(NodeId memory, std::uint64_t offset) const;

  const AddressMap& map_;
  std::vector<Stretch> known_;  // the last of each memory, by its node
};

}  // namespace cxloom
