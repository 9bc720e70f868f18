#include "protocol/address_map.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <numeric>
#include <set>

#include "base/error.hpp"

namespace cxloom {

std::string MemoryTargetInfo::described() const {
  return logical ? name + " ld " + std::to_string(ld) : name;
}

namespace {

// Encoded ways 0-4, 8, 9, 10 of the HDM decoder control register (CXL 3.x, 8.2.4.20.7).
constexpr std::array<std::size_t, 8> kCxlWays{1, 2, 3, 4, 6, 8, 12, 16};
constexpr std::uint64_t kMinGranularity = 256;
constexpr std::uint64_t kMaxGranularity = 16384;
constexpr std::size_t kMaxSlots = 65536;  // of one round of a weighted interleave

std::vector<std::uint64_t> weights_of(const RegionParams& params,
                                      const std::vector<MemoryTargetInfo>& targets) {
  std::vector<std::uint64_t> weights(targets.size(), 1);
  if (params.policy == InterleavePolicy::kCapacity) {
    std::uint64_t divisor = 0;
    for (const MemoryTargetInfo& target : targets) divisor = std::gcd(divisor, target.capacity.count());
    for (std::size_t i = 0; i < targets.size(); ++i) weights[i] = targets[i].capacity.count() / divisor;
  } else if (!params.weights.empty()) {
    if (params.weights.size() != targets.size()) {
      throw InputError({"as many weights as targets are needed",
                        std::to_string(params.weights.size()),
                        std::to_string(targets.size()),
                        {}},
                       "weights");
    }
    std::copy(params.weights.begin(), params.weights.end(), weights.begin());
  }
  const std::uint64_t sum = std::accumulate(weights.begin(), weights.end(), std::uint64_t{0});
  if (std::find(weights.begin(), weights.end(), 0U) != weights.end() || sum > kMaxSlots) {
    throw InputError({"weights must be above zero and add up to at most " + std::to_string(kMaxSlots),
                      "a sum of " + std::to_string(sum),
                      {},
                      {}},
                     params.policy == InterleavePolicy::kCapacity ? "policy" : "weights");
  }
  return weights;
}

void check_cxl(const RegionParams& params) {
  if (!params.weights.empty()) {
    throw InputError({"weights need policy: weighted", {}, {}, {}}, "weights");
  }
  if (std::find(kCxlWays.begin(), kCxlWays.end(), params.to.size()) == kCxlWays.end()) {
    throw InputError({"a CXL decoder cannot interleave over this many targets",
                      counted(params.to.size(), "way"),
                      "1, 2, 3, 4, 6, 8, 12 or 16 ways, or policy: weighted for any number",
                      {}},
                     "to");
  }
  if (params.interleave.count() < kMinGranularity || params.interleave.count() > kMaxGranularity) {
    throw InputError({"a CXL decoder does not know this granularity",
                      to_text(params.interleave),
                      "256B, 512B, 1KiB, 2KiB, 4KiB, 8KiB or 16KiB, or policy: weighted",
                      {}},
                     "interleave");
  }
}

}  // namespace

void AddressMap::add_region(const RegionParams& params, const std::vector<MemoryTargetInfo>& targets,
                            std::optional<NodeId> home) {
  if (params.policy == InterleavePolicy::kCxl) check_cxl(params);
  if (params.policy == InterleavePolicy::kCapacity && !params.weights.empty()) {
    throw InputError({"policy capacity takes its weights from the capacities", {}, "policy: weighted", {}},
                     "weights");
  }
  const std::vector<std::uint64_t> weights = weights_of(params, targets);

  Region region;
  region.coherence = params.coherence;
  region.type = params.type;
  region.persistence = params.persistence;
  region.chunk_bits = static_cast<unsigned>(std::countr_zero(params.interleave.count()));
  std::uint64_t rounds = ~std::uint64_t{0};
  for (std::size_t i = 0; i < targets.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (targets[i].id == targets[j].id) {
        throw InputError(
            {"the target is named twice", "'" + targets[i].name + "'", "each device once; use weights", {}},
            "to");
      }
    }
    std::uint64_t used = 0;
    for (const Used& before : used_) {
      if (before.target == targets[i].id && before.ld == targets[i].ld) used += before.bytes;
    }
    for (std::uint32_t k = 0; k < weights[i]; ++k) {
      region.slots.push_back({targets[i].id, home.value_or(targets[i].id),
                              static_cast<std::uint32_t>(weights[i]), k, targets[i].base.count() + used,
                              targets[i].ld});
    }
    const std::uint64_t left = targets[i].capacity.count() > used ? targets[i].capacity.count() - used : 0;
    const Wide share = Wide{params.interleave.count()} * weights[i];
    rounds = static_cast<std::uint64_t>(std::min(Wide{rounds}, left / share));
  }
  const std::uint64_t round_bytes = params.interleave.count() * region.slots.size();
  const std::uint64_t available = rounds * round_bytes;
  region.size = params.size ? params.size->count() : available;
  if (region.size > available || available == 0) {
    throw InputError({"the region is larger than what its targets have left",
                      to_text(Bytes{region.size}),
                      "at most " + to_text(Bytes{available}),
                      {}},
                     params.size ? "size" : "to");
  }
  const std::uint64_t end_before = regions_.empty() ? 0 : regions_.back().base + regions_.back().size;
  region.base = params.base ? params.base->value() : end_before;
  if (region.base + region.size < region.base) {
    throw InputError({"the region runs past the end of the address space", {}, {}, {}}, "base");
  }
  for (const Region& other : regions_) {
    if (region.base < other.base + other.size && other.base < region.base + region.size) {
      throw InputError(
          {"the region overlaps another", to_text(Address{region.base}), "a base outside " + described(), {}},
          "base");
    }
  }
  const std::uint64_t rounds_used = (region.size + round_bytes - 1) / round_bytes;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    used_.push_back({targets[i].id, rounds_used * params.interleave.count() * weights[i], targets[i].ld,
                     targets[i].name, targets[i].owner});
  }
  if (std::has_single_bit(region.slots.size())) {
    region.round_mask = region.slots.size() - 1;
    region.round_bits = static_cast<unsigned>(std::countr_zero(region.slots.size()));
  }
  parts_.push_back({{Address{region.base}, region.size}, targets});
  regions_.push_back(std::move(region));
}

void AddressMap::add_replica(const MemoryTargetInfo& memory, std::size_t place) {
  Region& region = regions_.back();
  const NodeId first = parts_.back().memories[place].id;
  const auto first_slot =
      std::ranges::find_if(region.slots, [&](const Slot& each) { return each.target == first; });
  const std::uint64_t bytes = std::ranges::find_if(used_.rbegin(), used_.rend(), [&](const Used& used) {
                                return used.target == first;
                              })->bytes;
  const auto taken = [&](const Slot& slot) { return slot.target == memory.id; };
  if (std::ranges::any_of(region.slots, taken) || std::ranges::any_of(region.replicas, taken)) {
    throw InputError({"a memory with two copies of a region",
                      "'" + memory.name + "'",
                      "another memory for each copy",
                      {}});
  }
  const std::uint64_t used = mapped_bytes(memory.id);
  const std::uint64_t left = memory.capacity.count() > used ? memory.capacity.count() - used : 0;
  if (bytes > left) {
    throw InputError({"the region is larger than what the memory of its copy has left",
                      to_text(Bytes{bytes}) + " in '" + memory.name + "'",
                      "a size of at most " + to_text(Bytes{left / first_slot->share * region.slots.size()}),
                      {}});
  }
  region.replicas.push_back({memory.id, memory.id, first_slot->share, 0, used - first_slot->start, 0});
  used_.push_back({memory.id, bytes, 0, memory.name, std::nullopt});
}

AddressMap AddressMap::seen_by(const std::string& who, const std::function<bool(NodeId)>& reaches) const {
  AddressMap own;
  own.seen_by_ = who;
  for (std::size_t i = 0; i < regions_.size(); ++i) {
    const bool reached =
        std::ranges::any_of(regions_[i].slots, [&](const Slot& slot) { return reaches(slot.home); });
    if (reached) own.regions_.push_back(regions_[i]);
    (reached ? own.parts_ : own.beyond_).push_back(parts_[i]);
  }
  std::set<NodeId> targets;
  for (const Region& region : own.regions_) {
    for (const Slot& slot : region.slots) targets.insert(slot.target);
    for (const Slot& slot : region.replicas) targets.insert(slot.target);
  }
  std::ranges::copy_if(used_, std::back_inserter(own.used_),
                       [&](const Used& used) { return targets.contains(used.target); });
  return own;
}

std::vector<NodeId> AddressMap::targets() const {
  std::vector<NodeId> targets;
  for (const Used& used : used_) targets.push_back(used.target);
  std::sort(targets.begin(), targets.end());
  targets.erase(std::unique(targets.begin(), targets.end()), targets.end());
  return targets;
}

std::vector<NodeId> AddressMap::receivers() const {
  std::vector<NodeId> receivers;
  for (const Region& region : regions_) {
    for (const Slot& slot : region.slots) receivers.push_back(slot.home);
  }
  std::sort(receivers.begin(), receivers.end());
  receivers.erase(std::unique(receivers.begin(), receivers.end()), receivers.end());
  return receivers;
}

std::optional<std::size_t> AddressMap::region_at(Address address) const {
  for (std::size_t i = 0; i < regions_.size(); ++i) {
    if (address.value() - regions_[i].base < regions_[i].size) return i;
  }
  return std::nullopt;
}

std::vector<NodeId> AddressMap::targets_of(NodeId home) const {
  std::vector<NodeId> targets;
  for (const Region& region : regions_) {
    if (region.coherence == Coherence::kNone) continue;
    for (const Slot& slot : region.slots) {
      if (slot.home == home) targets.push_back(slot.target);
    }
  }
  std::sort(targets.begin(), targets.end());
  targets.erase(std::unique(targets.begin(), targets.end()), targets.end());
  return targets;
}

std::vector<NodeId> AddressMap::persistent_targets(Persistence persistence) const {
  std::vector<NodeId> targets;
  for (const Region& region : regions_) {
    if (region.persistence != persistence) continue;
    for (const Slot& slot : region.slots) targets.push_back(slot.target);
  }
  std::sort(targets.begin(), targets.end());
  targets.erase(std::unique(targets.begin(), targets.end()), targets.end());
  return targets;
}

std::vector<NodeId> AddressMap::homes(Coherence coherence) const {
  std::vector<NodeId> homes;
  for (const Region& region : regions_) {
    if (region.coherence != coherence) continue;
    for (const Slot& slot : region.slots) homes.push_back(slot.home);
  }
  std::sort(homes.begin(), homes.end());
  homes.erase(std::unique(homes.begin(), homes.end()), homes.end());
  return homes;
}

std::vector<Address> AddressMap::first_addresses() const {
  std::map<std::pair<NodeId, std::uint8_t>, std::uint64_t> firsts;
  for (const Region& region : regions_) {
    for (std::uint64_t chunk = 0; chunk < region.slots.size(); ++chunk) {
      if (chunk << region.chunk_bits >= region.size) break;  // it ends within its first round
      const Slot& slot = region.slots[chunk];
      const std::uint64_t address = region.base + (chunk << region.chunk_bits);
      std::uint64_t& first = firsts.try_emplace({slot.target, slot.ld}, address).first->second;
      first = std::min(first, address);
    }
  }
  std::vector<Address> addresses;
  for (const auto& [target, first] : firsts) addresses.emplace_back(first);
  return addresses;
}

std::uint64_t AddressMap::contiguous_bytes() const {
  if (regions_.empty()) return 0;
  std::uint64_t end = regions_.front().base + regions_.front().size;
  for (bool grown = true; grown;) {
    grown = false;
    for (const Region& region : regions_) {
      if (region.base != end) continue;
      end += region.size;
      grown = true;
    }
  }
  return end - regions_.front().base;
}

std::vector<AddressMap::Extent> AddressMap::extents() const {
  std::vector<Extent> extents;
  for (const Region& region : regions_) {
    if (!extents.empty() && extents.back().base.value() + extents.back().bytes == region.base) {
      extents.back().bytes += region.size;
    } else {
      extents.push_back({Address{region.base}, region.size});
    }
  }
  return extents;
}

AddressMap::Extent AddressMap::rounds_within(std::size_t part, std::size_t memory,
                                             const Extent& bytes) const {
  const Region& region = regions_[part];
  const MemoryTargetInfo& of = parts_[part].memories[memory];
  const auto slot = std::ranges::find_if(
      region.slots, [&](const Slot& each) { return each.target == of.id && each.ld == of.ld; });
  const std::uint64_t chunk = std::uint64_t{1} << region.chunk_bits;
  const std::uint64_t in_memory = chunk * slot->share;  // bytes of a round
  const std::uint64_t round = chunk * region.slots.size();
  const std::uint64_t begin = std::max(bytes.base.value(), slot->start) - slot->start;
  const std::uint64_t last = std::max(bytes.base.value() + bytes.bytes, slot->start) - slot->start;
  const std::uint64_t first_round = (begin + in_memory - 1) / in_memory;
  const auto end = static_cast<std::uint64_t>(std::min(Wide{region.size}, Wide{last / in_memory} * round));
  const auto base = static_cast<std::uint64_t>(std::min(Wide{end}, Wide{first_round} * round));
  return {Address{region.base + base}, end - base};
}

// One round of a region leads to all of its targets.
std::optional<AddressMap::Owned> AddressMap::foreign(Address base, std::uint64_t bytes,
                                                     const std::string& device) const {
  const auto foreign_to = [&](const Used& used) { return used.owner && *used.owner != device; };
  if (std::ranges::none_of(used_, foreign_to)) return std::nullopt;
  for (const Region& region : regions_) {
    const std::uint64_t from = std::max(base.value(), region.base) - region.base;
    const std::uint64_t end = std::min(base.value() + bytes - region.base, region.size);
    if (from >= region.size || base.value() + bytes <= region.base) continue;
    const std::uint64_t last = std::min(end, from + (region.slots.size() << region.chunk_bits));
    for (std::uint64_t at = from; at < last; at = ((at >> region.chunk_bits) + 1) << region.chunk_bits) {
      const DecodedAddress there = decode_in(region, Address{region.base + at});
      const auto found = std::ranges::find_if(used_, [&](const Used& used) {
        return used.target == there.target && used.ld == there.ld && foreign_to(used);
      });
      if (found != used_.end())
        return Owned{Address{region.base + at}, found->name, found->ld, *found->owner};
    }
  }
  return std::nullopt;
}

std::string AddressMap::described() const {
  std::string text;
  for (const Region& region : regions_) {
    if (!text.empty()) text += ", ";
    text += to_text(Address{region.base}) + "-" + to_text(Address{region.base + region.size - 1});
  }
  if (!beyond_.empty()) text += " (all that '" + seen_by_ + "' reaches)";
  return text;
}

bool AddressMap::has_types() const {
  return std::ranges::any_of(regions_,
                             [](const Region& region) { return region.type != MemoryType::kWriteBack; });
}

bool AddressMap::has_coherent() const {
  return std::ranges::any_of(regions_,
                             [](const Region& region) { return region.coherence != Coherence::kNone; });
}

std::uint64_t AddressMap::mapped_bytes(NodeId target) const {
  std::uint64_t mapped = 0;
  for (const Used& used : used_) mapped += used.target == target ? used.bytes : 0;
  return mapped;
}

}  // namespace cxloom
