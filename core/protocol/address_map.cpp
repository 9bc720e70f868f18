#include "protocol/address_map.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <numeric>
#include <set>

#include "base/error.hpp"
#include "base/schema.hpp"

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

void RegionParams::describe(Schema<RegionParams>& schema) {
  schema.doc(
      "A range of addresses and the devices that serve it. Regions follow each other in the order written.");
  schema.field("to", &RegionParams::to)
      .required()
      .where([](const auto& names) { return !names.empty(); }, "one target or more")
      .doc("The devices that share the range, in the order of the interleave.");
  schema.field("interleave", &RegionParams::interleave)
      .where(
          [](const Bytes& value) {
            return value.count() >= kLineBytes && std::has_single_bit(value.count());
          },
          "a power of two of at least 64B")
      .doc("Granularity: consecutive bytes on one target before the next one's turn.")
      .source("CXL 3.x, 8.2.4.20.7: 256 B to 16 KiB");
  schema
      .choice("policy", &RegionParams::policy,
              {{"cxl", InterleavePolicy::kCxl},
               {"weighted", InterleavePolicy::kWeighted},
               {"capacity", InterleavePolicy::kCapacity}})
      .doc(
          "cxl: an HDM decoder's ways and granularities. weighted: any number of targets, by weight. "
          "capacity: weights in proportion to the capacities.");
  schema.rule("the base must be a multiple of the interleave", [](const RegionParams& region) {
    return !region.base || region.base->value() % region.interleave.count() == 0;
  });
  schema.field("weights", &RegionParams::weights)
      .doc("Of policy weighted: chunks of each target in one round; all 1 if left out.");
  schema.field("size", &RegionParams::size)
      .min(Bytes{kLineBytes})
      .default_text("all that the targets have left")
      .doc("Length of the range.");
  schema.field("base", &RegionParams::base)
      .default_text("the end of the region before")
      .doc("First address of the range.");
  schema
      .choice("coherence", &RegionParams::coherence,
              {{"none", Coherence::kNone},
               {"hdm-db", Coherence::kHdmDb},
               {"hdm-h", Coherence::kHdmH},
               {"hdm-d", Coherence::kHdmD}})
      .doc(
          "Who keeps caches coherent that hold its lines. none: nobody; each line is taken to be used by one "
          "requester. hdm-db: the device, by a snoop filter and back-invalidate snoops. hdm-h: a host, by "
          "snoops of CXL.cache; its own memory, or a device's. hdm-d: the device, by bias: it asks who may "
          "hold lines by CXL.cache.")
      .source("CXL 3.x, HDM-DB, HDM-H and HDM-D");
  schema.field("home", &RegionParams::home)
      .default_text("each target, by a dcoh, bias or home_agent of its own")
      .doc(
          "The device that manages the coherence of the range: one with a dcoh (hdm-db) or bias (hdm-d), or "
          "a host with a home_agent (hdm-h).");
  schema
      .choice("persistence", &RegionParams::persistence,
              {{"volatile", Persistence::kVolatile},
               {"media", Persistence::kMedia},
               {"controller", Persistence::kController}})
      .doc(
          "When a write to the range is durable. volatile: never. media: when the media have it; memory that "
          "answers a write before is refused. controller: when the memory answers it; its buffers are "
          "flushed "
          "when power fails. What a persist buffer of a switch on the way has answered is durable as well.");
  schema.rule(
      "memory that is kept coherent is volatile: leave out persistence, or coherence",
      [](const RegionParams& region) {
        return region.persistence == Persistence::kVolatile || region.coherence == Coherence::kNone;
      },
      "persistence");
  schema
      .choice("type", &RegionParams::type,
              {{"wb", MemoryType::kWriteBack},
               {"wt", MemoryType::kWriteThrough},
               {"uc", MemoryType::kUncacheable},
               {"wc", MemoryType::kWriteCombining}})
      .doc(
          "How hosts and accelerators access the range. wb: lines are cached, and stores stay in the cache. "
          "wt: lines are cached, and stores go to memory as well. uc: nothing is cached, and one access is "
          "made at a time, in order. wc: nothing is cached, and stores are gathered by line in buffers.")
      .source("Intel 64 and IA-32 Architectures Software Developer's Manual, volume 3, section 12.3");
  schema.rule(
      "memory of another type than wb is volatile, and nobody keeps it coherent: leave out type, or "
      "coherence and persistence",
      [](const RegionParams& region) {
        return region.type == MemoryType::kWriteBack ||
               (region.persistence == Persistence::kVolatile && region.coherence == Coherence::kNone);
      },
      "type");
  schema.field("ld", &RegionParams::ld)
      .max(15)
      .default_text("none")
      .doc(
          "Of memory with logical_devices: which of them holds the range, by its place there, from 0 (the "
          "LD-ID).");
  schema.rule(
      "a logical device belongs to one host: nobody keeps it coherent; leave out coherence",
      [](const RegionParams& region) { return !region.ld || region.coherence == Coherence::kNone; }, "ld");
  schema.rule(
      "home names who keeps the range coherent: it needs coherence: hdm-db, hdm-h or hdm-d",
      [](const RegionParams& region) { return !region.home || region.coherence != Coherence::kNone; },
      "home");
}

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

AddressMap AddressMap::seen_by(const std::string& who, const std::function<bool(NodeId)>& reaches) const {
  AddressMap own;
  own.seen_by_ = who;
  for (std::size_t i = 0; i < regions_.size(); ++i) {
    const bool reached =
        std::ranges::any_of(regions_[i].slots, [&](const Slot& slot) { return reaches(slot.home); });
    if (reached) own.regions_.push_back(regions_[i]);
    (reached ? own.parts_ : own.beyond_).push_back(parts_[i]);
  }
  std::ranges::copy_if(used_, std::back_inserter(own.used_), [&](const Used& used) {
    return std::ranges::any_of(own.regions_, [&](const Region& region) {
      return std::ranges::any_of(region.slots, [&](const Slot& slot) { return slot.target == used.target; });
    });
  });
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
  std::set<NodeId> receivers;
  for (const Region& region : regions_) {
    for (const Slot& slot : region.slots) receivers.insert(slot.home);
  }
  return {receivers.begin(), receivers.end()};
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
