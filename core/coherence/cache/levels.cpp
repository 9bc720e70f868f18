#include "coherence/cache/levels.hpp"

#include <algorithm>
#include <string>

#include "base/error.hpp"

namespace cxloom {

CacheLevels::CacheLevels(const CacheAgentParams& params, const VictimRegistry& victims, std::uint64_t seed,
                         std::string_view component) {
  levels_.reserve(params.levels.size() + 1);
  levels_.push_back({CacheArray(params, victims, RandomStream(seed, component, "cache victims")),
                     params.access_time, false});
  for (std::size_t i = 0; i < params.levels.size(); ++i) {
    with_path("levels[" + std::to_string(i) + "]", [&] {
      const CacheLevelParams& level = params.levels[i];
      const std::string purpose = "cache victims of level " + std::to_string(i + 2);
      levels_.push_back({CacheArray(level, victims, RandomStream(seed, component, purpose)),
                         levels_.back().reached + level.access_time, level.inclusive});
    });
  }
}

CacheLevels::LookupResult CacheLevels::find_behind(LineAddress line, Slot first) const {
  LookupResult found{first == kNoSlot ? count() : 0,
                     first == kNoSlot ? LineState::kInvalid : levels_[0].array.state(first), first};
  for (std::uint32_t level = 1; level < count(); ++level) {
    const CacheArray& array = levels_[level].array;
    const Slot slot = array.lookup(line);
    if (slot == kNoSlot) continue;
    found.level = std::min(found.level, level);
    // A nearer copy may be clean where one behind it is dirty.
    if (found.state == LineState::kInvalid || array.state(slot) == LineState::kDirty)
      found.state = array.state(slot);
  }
  return found;
}

// From the far end inwards, as the data comes. Of a dirty line the copy that comes nearer is clean.
void CacheLevels::bring_nearer(LineAddress line, std::uint32_t level, std::vector<Gone>& gone) {
  CacheArray& array = levels_[level].array;
  const Slot slot = array.lookup(line);
  array.touch(slot);
  const LineState copy = array.state(slot) == LineState::kDirty ? LineState::kClean : array.state(slot);
  while (level-- > 0) place(level, line, copy, gone);
  drop_held(gone);
}

[[gnu::hot]] Slot CacheLevels::fill(LineAddress line, LineState state, std::vector<Gone>& gone) {
  Slot nearest = kNoSlot;
  for (std::uint32_t level = count(); level-- > 0;) nearest = place(level, line, state, gone);
  if (count() > 1) drop_held(gone);
  return nearest;
}

// A line on its way in may be the victim of another that it pushes back, and still arrive nearer.
void CacheLevels::drop_held(std::vector<Gone>& gone) const {
  std::erase_if(gone, [&](const Gone& each) { return find(each.line).state != LineState::kInvalid; });
}

Slot CacheLevels::place(std::uint32_t level, LineAddress line, LineState state, std::vector<Gone>& gone) {
  const CacheArray::Insertion insertion = levels_[level].array.insert(line, state);
  if (insertion.evicted()) leaves(level, insertion.victim, insertion.victim_state, gone);
  return insertion.slot;
}

[[gnu::hot]] void CacheLevels::leaves(std::uint32_t level, LineAddress line, LineState state,
                                      std::vector<Gone>& gone) {
  if (count() == 1) [[likely]]
    return gone.push_back({line, state});
  if (levels_[level].inclusive) {
    for (std::uint32_t nearer = 0; nearer < level; ++nearer) {
      if (levels_[nearer].array.invalidate(line) == LineState::kDirty) state = LineState::kDirty;
    }
  }
  if (state == LineState::kDirty && level + 1 < count()) {
    CacheArray& behind = levels_[level + 1].array;
    const Slot slot = behind.lookup(line);
    if (slot == kNoSlot) {
      place(level + 1, line, LineState::kDirty, gone);
    } else {
      behind.mark_dirty(slot);
      behind.touch(slot);
    }
    return;
  }
  const LookupResult nearer = find(line);
  if (nearer.state == LineState::kInvalid) {
    gone.push_back({line, state});
  } else if (state == LineState::kDirty) {  // it is written back with the nearer copy
    CacheArray& array = levels_[nearer.level].array;
    array.mark_dirty(array.lookup(line));
  }
}

void CacheLevels::set_state(LineAddress line, LineState state) {
  for (Level& level : levels_) {
    const Slot slot = level.array.lookup(line);
    if (slot == kNoSlot) continue;
    if (state == LineState::kInvalid) {
      level.array.invalidate(line);
    } else {
      level.array.set_state(slot, state);
    }
  }
}

}  // namespace cxloom
