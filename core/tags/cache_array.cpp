#include "tags/cache_array.hpp"

#include <bit>
#include <cassert>
#include <string>

#include "base/kind_registry.hpp"
#include "base/schema.hpp"

namespace cxloom {

namespace {

// From here on a hash table beats comparing the tags of a set one after the other.
constexpr std::uint32_t kMostComparedWays = 32;
// Slots have 32 bits, and the sentinels of the sets count too.
constexpr Bytes kLargest{std::uint64_t{64} << 30U};

std::uint32_t ways_of(const CacheParams& params) {
  static const Schema<CacheParams> schema;
  schema.check(params);
  return params.ways == 0 ? static_cast<std::uint32_t>(params.lines()) : params.ways;
}

}  // namespace

void CacheParams::describe(Schema<CacheParams>& schema) {
  schema.doc("A cache of 64-byte lines. What it holds is exact; it takes one fixed time to look up.");
  schema.field("size", &CacheParams::size)
      .doc(
          "Bytes of data it holds; a multiple of ways x 64 B, and the number of sets need not be a power of "
          "two.")
      .min(Bytes{kLineBytes})
      .max(kLargest);
  schema.field("ways", &CacheParams::ways).doc("Lines in a set; 0 means fully associative.");
  schema.field("access_time", &CacheParams::access_time)
      .doc("Time of one look-up, hit or miss.")
      .source("ESF, Table III (cache access)")
      .min(Time{0});
  schema.field("policy", &CacheParams::policy)
      .category("victims")
      .doc("Which line leaves a full set. Only with two ways or more: of one line there is no choice.");
  schema.rule("size must be a multiple of ways x 64 B", [](const CacheParams& params) {
    const std::uint64_t set_bytes = (params.ways == 0 ? 1 : std::uint64_t{params.ways}) * kLineBytes;
    return params.size.count() % set_bytes == 0;
  });
  schema.effective(
      "policy",
      [](const CacheParams& params) { return params.ways == 0 ? params.lines() > 1 : params.ways > 1; },
      "unless a set has two lines to choose from: set ways: 2 or more");
}

void CacheParams::estimate(const CacheParams& params, MemoryEstimate& memory) {
  memory.add("size", to_text(params.size), 1, CacheArray::bytes(params.lines(), params.ways));
}

std::uint64_t CacheArray::bytes(std::uint64_t lines, std::uint32_t ways) {
  constexpr std::uint64_t kOfPolicy = 1;  // what those that come with cxloom keep of a slot
  constexpr std::uint64_t kSlotBytes = sizeof(std::uint64_t) + sizeof(LineState) + kOfPolicy;
  const std::uint64_t in_set = ways == 0 ? lines : ways;
  const std::uint64_t index = in_set > kMostComparedWays ? LineIndex::bytes(lines) : 0;
  return lines * kSlotBytes + SlotOrder::bytes(lines / in_set, lines) + index;
}

CacheArray::CacheArray(const CacheParams& params, const VictimRegistry& policies, RandomStream random)
    : ways_(ways_of(params)),
      sets_(static_cast<std::uint32_t>(params.lines() / ways_)),
      mask_sets_(std::has_single_bit(sets_)),
      indexed_(ways_ > kMostComparedWays),
      tags_(params.lines()),
      states_(params.lines()),
      policy_(below("policy",
                    [&] {
                      VictimContext context{sets_, ways_, random};
                      return policies.make(params.policy, context);
                    })),
      listens_(policy_->listens()),
      order_(sets_, ways_, policy_->orders_by_use()) {
  if (indexed_) index_ = LineIndex(capacity());
}

void CacheArray::tell_of_use(Slot slot) { policy_->used(set_of(line(slot)), slot); }

// Insertions are most of the cost of a miss: these two are part of each of their callers.
[[gnu::always_inline]] inline Slot CacheArray::victim_in(std::uint32_t set) {
  if (states_[order_.first(set)] == LineState::kInvalid) return kNoSlot;
  const Slot victim = policy_->victim(set, order_);
  if (victim - set * ways_ >= ways_) [[unlikely]]
    refuse(set, victim);
  return victim;
}

void CacheArray::refuse(std::uint32_t set, Slot victim) const {
  const std::uint64_t first = std::uint64_t{set} * ways_;
  throw InternalError("the victim policy chose slot " + std::to_string(victim) + " of set " +
                      std::to_string(set) + ", which has the slots " + std::to_string(first) + " to " +
                      std::to_string(first + ways_ - 1));
}

[[gnu::always_inline]] inline CacheArray::Insertion CacheArray::put(LineAddress line, LineState state,
                                                                    std::uint32_t set, Slot victim) {
  assert(!contains(line) && state != LineState::kInvalid);
  const bool room = victim == kNoSlot;
  const Slot slot = room ? order_.first(set) : victim;
  if (room) ++occupied_;
  const Insertion insertion{slot, room ? LineAddress{} : this->line(slot), states_[slot]};
  if (indexed_) {
    if (!room) index_.erase(insertion.victim);
    index_.insert(line, slot);
  }
  tags_[slot] = tag_of(line);
  states_[slot] = state;
  order_.inserted(set, slot);
  if (listens_) policy_->inserted(set, slot);
  return insertion;
}

Slot CacheArray::victim_for(LineAddress line) { return victim_in(set_of(line)); }

CacheArray::Insertion CacheArray::insert(LineAddress line, LineState state) {
  const std::uint32_t set = set_of(line);
  return put(line, state, set, victim_in(set));
}

CacheArray::Insertion CacheArray::insert(LineAddress line, LineState state, Slot victim) {
  return put(line, state, set_of(line), victim);
}

LineState CacheArray::invalidate(LineAddress line) {
  const Slot slot = lookup(line);
  if (slot == kNoSlot) return LineState::kInvalid;
  const LineState state = states_[slot];
  if (indexed_) index_.erase(line);
  tags_[slot] = kNoLine;
  states_[slot] = LineState::kInvalid;
  const std::uint32_t set = set_of(line);
  order_.freed(set, slot);
  if (listens_) policy_->freed(set, slot);
  --occupied_;
  return state;
}

}  // namespace cxloom
