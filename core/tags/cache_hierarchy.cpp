#include "tags/cache_hierarchy.hpp"

#include <string>

#include "base/error.hpp"

namespace cxloom {

CacheHierarchy::CacheHierarchy(const std::vector<CacheParams>& levels, const VictimRegistry& policies,
                               std::uint64_t seed, std::string_view component)
    : counts_(levels.size()) {
  if (levels.empty()) throw InputError({"no cache levels", "an empty list", "at least one level", {}});
  arrays_.reserve(levels.size());
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const std::string index = "[" + std::to_string(i) + "]";
    try {
      arrays_.emplace_back(levels[i], policies, RandomStream(seed, std::string(component) + index, "victim"));
    } catch (const InputError& error) {
      throw error.with_path(index);
    }
  }
}

// It may have been asked for by several levels: each had a use of it.
bool CacheHierarchy::used(LineAddress line) {
  for (std::size_t level = 0; level < levels(); ++level) {
    const Slot slot = arrays_[level].lookup(line);
    if (slot == kNoSlot || !ahead_[level][slot]) continue;
    ahead_[level][slot] = false;
    ++counts_[level].useful;
  }
  return true;
}

void CacheHierarchy::track_ahead() {
  for (const CacheArray& array : arrays_) ahead_.emplace_back(array.capacity());
}

LineState CacheHierarchy::state(LineAddress line) const {
  LineState most = LineState::kInvalid;
  for (const CacheArray& array : arrays_) {
    const Slot slot = array.lookup(line);
    if (slot == kNoSlot) continue;
    if (array.state(slot) == LineState::kDirty) return LineState::kDirty;
    most = array.state(slot);
  }
  return most;
}

LineState CacheHierarchy::take(LineAddress line) {
  const LineState before = state(line);
  if (before == LineState::kInvalid) return before;
  for (std::size_t level = 0; level < levels(); ++level) {
    if (const Slot slot = arrays_[level].lookup(line); slot != kNoSlot && !ahead_.empty()) leave(level, slot);
    arrays_[level].invalidate(line);
  }
  return before;
}

void CacheHierarchy::clean(LineAddress line) {
  for (CacheArray& array : arrays_) {
    const Slot slot = array.lookup(line);
    if (slot != kNoSlot) array.set_state(slot, LineState::kClean);
  }
}

}  // namespace cxloom
