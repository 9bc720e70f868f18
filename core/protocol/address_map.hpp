// Which device serves an address: regions in order, each interleaved over its targets.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/units.hpp"
#include "protocol/region_params.hpp"

namespace cxloom {

/// A device as the target of a region: its identity and the memory it has.
struct MemoryTargetInfo {
  std::string name;
  NodeId id;
  Bytes capacity;                         ///< of the device, or of its logical device
  Bytes base = {};                        ///< where that begins in the device's memory
  std::uint8_t ld = 0;                    ///< which it is
  std::optional<std::string> owner = {};  ///< the only device that may use it; none: any
  bool logical = false;                   ///< it is a logical device

  /// Its name for people: "mem0", "mld0 ld 2".
  std::string described() const;
};

class AddressMap {
  struct Slot {
    NodeId target;
    NodeId home;
    std::uint32_t share = 0;  ///< chunks of this target in one round
    std::uint32_t index = 0;  ///< which of them this slot is
    std::uint64_t start = 0;  ///< where the region begins in the target's memory
    std::uint8_t ld = 0;
  };
  struct Region {
    std::uint64_t base = 0;
    std::uint64_t size = 0;
    unsigned chunk_bits = 0;
    unsigned round_bits = 0;  ///< bits of the mask
    Coherence coherence = Coherence::kNone;
    Persistence persistence = Persistence::kVolatile;
    MemoryType type = MemoryType::kWriteBack;
    std::uint64_t round_mask = 0;  ///< slots - 1 where that is a power of two, else 0
    std::vector<Slot> slots;       ///< one round of the interleave
    std::vector<Slot> replicas;    ///< memories with further copies; `start` is how much further they have it
  };

 public:
  struct DecodedAddress {
    NodeId target;
    NodeId home;             ///< the receiver of requests: the target, or the device that keeps it coherent
    Address device_address;  ///< in the target's own memory, from zero
    Coherence coherence = Coherence::kNone;
    std::uint8_t ld = 0;      ///< the logical device of the target, where it has some
    bool persistent = false;  ///< writes to it are durable some time

    /// The home keeps track of the caches that hold its lines.
    bool coherent() const { return coherence != Coherence::kNone; }
  };

  /// Adds a region behind the last one (or at its base). Targets in the order of `to`. Throws InputError:
  /// ways or granularity that CXL does not know, an overlap, or more than its targets' memory. `home`: the
  /// device that manages the coherence of all of it; none: each target that of its part, if anybody does.
  void add_region(const RegionParams& params, const std::vector<MemoryTargetInfo>& targets,
                  std::optional<NodeId> home = std::nullopt);
  /// The memory has a copy of what the target at a place in `to` has, of the region that was added last.
  /// Throws InputError if it has too little left.
  void add_replica(const MemoryTargetInfo& memory, std::size_t place);

  /// The map as device `who` sees it: without the regions of which it `reaches` nobody who receives requests.
  AddressMap seen_by(const std::string& who, const std::function<bool(NodeId)>& reaches) const;

  /// Where an address lives; nothing if no region holds it.
  std::optional<DecodedAddress> find(Address address) const {
    const Region* const region = region_of(address);
    return region ? std::optional(decode_in(*region, address)) : std::nullopt;
  }
  /// `find` in two steps, for every request: to pack a decoded address and unpack it takes as long as to find
  /// it.
  const Region* region_of(Address address) const {
    for (const Region& region : regions_) {
      const std::uint64_t offset = address.value() - region.base;  // wraps to something large below the base
      if (offset < region.size) return &region;
    }
    return nullptr;
  }
  /// Bytes from an address of the region on that follow each other in one target.
  static std::uint64_t together(const Region& region, Address address) {
    const std::uint64_t offset = address.value() - region.base;
    if (region.slots.size() == 1) return region.size - offset;
    const std::uint64_t chunk = std::uint64_t{1} << region.chunk_bits;
    const std::uint64_t in_chunk = chunk - offset % chunk;
    const std::uint64_t in_region = region.size - offset;
    return in_chunk < in_region ? in_chunk : in_region;
  }
  static DecodedAddress decode_in(const Region& region, Address address) {
    const std::uint64_t offset = address.value() - region.base;
    const std::uint64_t chunk = offset >> region.chunk_bits;
    std::uint64_t round = 0;
    std::uint64_t position = 0;
    if (region.round_mask != 0 || region.slots.size() == 1) {
      position = chunk & region.round_mask;
      round = chunk >> region.round_bits;
    } else {
      round = chunk / region.slots.size();
      position = chunk % region.slots.size();
    }
    const Slot& slot = region.slots[position];
    const std::uint64_t within = offset & ((std::uint64_t{1} << region.chunk_bits) - 1);
    return {slot.target,
            slot.home,
            Address{slot.start + ((round * slot.share + slot.index) << region.chunk_bits) + within},
            region.coherence,
            slot.ld,
            region.persistence != Persistence::kVolatile};
  }

  /// Where the memory at `node`, which has a copy of the region, has an address: a memory asks for its own.
  static Address address_at(const Region& region, Address address, NodeId node) {
    const Address first = decode_in(region, address).device_address;
    for (const Slot& replica : region.replicas) {
      if (replica.target == node) return Address{first.value() + replica.start};  // which may wrap
    }
    return first;
  }

  bool empty() const { return regions_.empty(); }
  /// Some region is kept coherent.
  bool has_coherent() const;
  /// Some region is of another memory type than write-back.
  bool has_types() const;
  /// The memory type of an address; write-back if no region holds it.
  MemoryType type_of(Address address) const {
    const Region* const region = region_of(address);
    return region ? region->type : MemoryType::kWriteBack;
  }
  /// Every device that a region leads to, once, in the order of their identities.
  std::vector<NodeId> targets() const;
  /// Every device that receives requests for a region: its home, which is its target where nobody else keeps
  /// it coherent. Once, in the order of their identities.
  std::vector<NodeId> receivers() const;
  /// Every device with memory that is persistent, in this way, once, in the order of their identities.
  std::vector<NodeId> persistent_targets(Persistence persistence) const;
  /// Every device that keeps a region coherent in this way, or a part of one, once, in the order of their
  /// identities.
  std::vector<NodeId> homes(Coherence coherence) const;
  /// Which region holds an address, from zero; nothing if none does.
  std::optional<std::size_t> region_at(Address address) const;
  /// Every device with memory that `home` keeps coherent, once, in the order of their identities.
  std::vector<NodeId> targets_of(NodeId home) const;
  /// The lowest address that leads to each device, or to each of its logical devices, in the order of both.
  std::vector<Address> first_addresses() const;
  /// Bytes of a target's memory that its regions take.
  std::uint64_t mapped_bytes(NodeId target) const;
  /// The first address of the first region, and how many bytes follow it without a gap.
  Address base() const { return Address{regions_.empty() ? 0 : regions_.front().base}; }
  std::uint64_t contiguous_bytes() const;
  /// Addresses without a gap.
  struct Extent {
    Address base;
    std::uint64_t bytes = 0;
  };
  /// All addresses, in the order of the regions; adjacent ones are one extent.
  std::vector<Extent> extents() const;
  /// A region: its addresses, and the memories that share them, in the order of the interleave.
  struct Part {
    Extent extent;
    std::vector<MemoryTargetInfo> memories;
  };
  /// All regions, in order.
  const std::vector<Part>& parts() const { return parts_; }
  /// The regions that the device whose map this is does not reach, in order.
  const std::vector<Part>& beyond() const { return beyond_; }
  /// The addresses of a part (by its number) whose rounds of the interleave lie in these bytes of one of its
  /// memories (by its place there).
  Extent rounds_within(std::size_t part, std::size_t memory, const Extent& bytes) const;
  /// Memory that belongs to a device.
  struct Owned {
    Address at;  ///< an address that leads to it
    std::string memory;
    std::uint8_t ld = 0;
    std::string owner;
  };
  /// The first of these addresses that leads to memory of another device than `device`; nothing if none does.
  std::optional<Owned> foreign(Address base, std::uint64_t bytes, const std::string& device) const;
  /// "0x0-0x3ffffffff": the regions as an error message lists them; "(all that 'host0' reaches)" behind them
  /// if there are others.
  std::string described() const;

 private:
  std::vector<Region> regions_;
  std::vector<Part> parts_;  // the regions for people; apart, since every access looks at `regions_`
  std::vector<Part> beyond_;
  std::string seen_by_;  // whose map it is; empty: that of the system
  /// Bytes of a target's memory that are mapped so far.
  struct Used {
    NodeId target;
    std::uint64_t bytes;
    std::uint8_t ld;
    std::string name;
    std::optional<std::string> owner;
  };
  std::vector<Used> used_;
};

}  // namespace cxloom
