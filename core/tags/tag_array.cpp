#include "tags/tag_array.hpp"

#include <bit>
#include <string>

#include "base/kind_registry.hpp"

namespace cxloom {

namespace {

// From here on a hash table beats comparing the tags of a set one after the other.
constexpr std::uint32_t kMostComparedWays = 32;

}  // namespace

TagArray::TagArray(const KindSpec& policy, const VictimRegistry& policies, VictimContext context)
    : ways_(context.ways),
      sets_(context.sets),
      mask_sets_(std::has_single_bit(sets_)),
      indexed_(ways_ > kMostComparedWays),
      tags_(capacity()),
      policy_(with_path("policy", [&] { return policies.make(policy, context); })),
      listens_(policy_->listens()),
      order_(sets_, ways_, policy_->orders_by_use()) {
  if (indexed_) index_ = SlotIndex(capacity());
}

std::uint64_t TagArray::bytes(std::uint64_t sets, std::uint32_t ways) {
  const std::uint64_t slots = sets * ways;
  const std::uint64_t index = ways > kMostComparedWays ? SlotIndex::bytes(slots) : 0;
  return slots * sizeof(std::uint64_t) + SlotOrder::bytes(sets, slots) + index + kMostBytesOfPolicy * slots;
}

[[gnu::hot]] void TagArray::erase(Slot slot) {
  const LineAddress line = this->line(slot);
  const std::uint32_t set = set_of(line);
  if (pins_.pinned(slot)) unpin(slot);
  if (indexed_) leave_index(slot);
  tags_[slot] = kNoLine;
  order_.freed(set, slot);
  if (listens_) policy_->freed(set, slot, line, *this);
  --occupied_;
}

void TagArray::refuse(std::uint32_t set, Slot victim) const {
  const std::uint64_t first = std::uint64_t{set} * ways_;
  const bool astray = victim - first >= ways_;
  throw InternalError(
      "the victim policy chose slot " + std::to_string(victim) + " of set " + std::to_string(set) +
      (astray ? ", which has the slots " + std::to_string(first) + " to " + std::to_string(first + ways_ - 1)
              : ", which is pinned"));
}

}  // namespace cxloom
