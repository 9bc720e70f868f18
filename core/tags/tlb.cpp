#include "tags/tlb.hpp"

#include <bit>

#include "tags/victim_policy.hpp"

namespace cxloom {

namespace {

TagArray translations(std::uint32_t entries, std::uint32_t ways, const VictimRegistry& policies) {
  const std::uint32_t in_set = ways == 0 ? entries : ways;
  const VictimContext context{
      .sets = entries / in_set, .ways = in_set, .random = RandomStream(0, "tlb", "victim")};
  return {KindSpec{"lru", Value(Value::Map{})}, policies, context};
}

/// The slot of the entry, which is marked as used; or kNoSlot.
Slot use(TagArray& array, std::uint64_t number) {
  const Slot slot = array.lookup(LineAddress{number});
  if (slot != kNoSlot) array.touch(slot);
  return slot;
}

void put(TagArray& array, std::uint64_t number) {
  const LineAddress line{number};
  array.place(line, array.victim_for(line));
}

}  // namespace

Tlb::Tlb(const TlbParams& params, const VictimRegistry& policies)
    : page_bits_(static_cast<unsigned>(std::countr_zero(params.page.count()))),
      leaf_(params.huge() ? 2 : 1),
      first_(translations(params.huge() ? params.huge_entries : params.entries,
                          params.huge() ? params.huge_ways : params.ways, policies)),
      second_(translations(params.second_entries, params.second_ways, policies)) {
  if (params.walk_cache == 0) return;
  for (unsigned level = leaf_ + 1; level <= kPageTableLevels; ++level)
    upper_.push_back(translations(params.walk_cache, 0, policies));
}

bool Tlb::finds(std::uint64_t page) {
  const Slot slot = use(first_, page);
  if (slot == kNoSlot) return false;
  recent_[place(page)] = {page, slot};
  return true;
}

unsigned Tlb::bring(std::uint64_t address) {
  const std::uint64_t page = address >> page_bits_;
  unsigned loads = 0;
  if (use(second_, page) == kNoSlot) {
    loads = walk(address);
    put(second_, page);
  }
  put_first(page);
  return loads;
}

void Tlb::put_first(std::uint64_t page) {
  const LineAddress line{page};
  const Slot victim = first_.victim_for(line);
  if (victim != kNoSlot) {
    const std::uint64_t left = first_.line(victim).number();
    if (Recent& recent = recent_[place(left)]; recent.page == left) recent = {};
  }
  recent_[place(page)] = {page, first_.place(line, victim)};
}

/// How many levels are to be loaded: all up to the first whose entry is known.
unsigned Tlb::walk(std::uint64_t address) {
  const auto number = [&](unsigned level) { return address >> (12U + 9U * (level - 1)); };
  unsigned known = leaf_ + 1;
  for (TagArray& array : upper_) {
    if (use(array, number(known)) != kNoSlot) break;
    ++known;
  }
  if (upper_.empty()) known = kPageTableLevels + 1;
  for (unsigned level = leaf_ + 1; level < known && !upper_.empty(); ++level)
    put(upper_[level - leaf_ - 1], number(level));
  return known - leaf_;
}

}  // namespace cxloom
