#include "tags/cache_array.hpp"

#include <cassert>

#include "base/schema.hpp"

namespace cxloom {

namespace {

VictimContext context_of(const CacheParams& params, RandomStream random) {
  check_params(params);
  const std::uint32_t ways = params.ways == 0 ? static_cast<std::uint32_t>(params.lines()) : params.ways;
  return {static_cast<std::uint32_t>(params.lines() / ways), ways, random};
}

}  // namespace

std::uint64_t CacheArray::bytes(std::uint64_t lines, std::uint32_t ways) {
  const std::uint64_t in_set = ways == 0 ? lines : ways;
  return TagArray::bytes(lines / in_set, static_cast<std::uint32_t>(in_set)) + lines * sizeof(LineState);
}

CacheArray::CacheArray(const CacheParams& params, const VictimRegistry& policies, RandomStream random)
    : TagArray(params.policy, policies, context_of(params, random)), states_(params.lines()) {}

[[gnu::always_inline]] inline CacheArray::Insertion CacheArray::put(LineAddress line, LineState state,
                                                                    std::uint32_t set, Slot victim) {
  assert(!contains(line) && state != LineState::kInvalid);
  Insertion insertion{victim, {}, LineState::kInvalid};
  if (victim != kNoSlot) {
    insertion.victim = this->line(victim);
    insertion.victim_state = states_[victim];
  }
  insertion.slot = place_in(set, line, victim);
  states_[insertion.slot] = state;
  return insertion;
}

[[gnu::hot]] CacheArray::Insertion CacheArray::insert(LineAddress line, LineState state) {
  const std::uint32_t set = set_of(line);
  return put(line, state, set, victim_in(set));
}

[[gnu::hot]] CacheArray::Insertion CacheArray::insert(LineAddress line, LineState state, Slot victim) {
  return put(line, state, set_of(line), victim);
}

LineState CacheArray::invalidate(LineAddress line) {
  const Slot slot = lookup(line);
  if (slot == kNoSlot) return LineState::kInvalid;
  const LineState state = states_[slot];
  states_[slot] = LineState::kInvalid;
  erase(slot);
  return state;
}

}  // namespace cxloom
