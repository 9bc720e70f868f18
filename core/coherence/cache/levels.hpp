// The levels of a cache, one behind the other: which lines each holds, and what leaves them all.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/units.hpp"
#include "coherence/cache/params.hpp"
#include "tags/cache_array.hpp"

namespace cxloom {

/// A line that is found in one level is taken into all that are nearer. Each level chooses its victims alone:
/// a dirty one goes to the level behind (from the last one to a nearer copy if there is one), a clean one is
/// dropped, and both stay wherever else they are, unless the level is inclusive: then what leaves it leaves
/// the nearer ones, too. Copies of one line have the same right to write it in all levels.
class CacheLevels {
 public:
  /// A line that is in no level any more.
  struct Gone {
    LineAddress line;
    LineState state;
  };
  /// Where a line is: in which level first, and what the cache as a whole holds it as. kInvalid: nowhere.
  struct LookupResult {
    std::uint32_t level;
    LineState state;
    Slot slot = kNoSlot;  ///< in the first level, if it is there
  };

  /// Random victims are keyed by (seed, component).
  CacheLevels(const CacheAgentParams& params, const VictimRegistry& victims, std::uint64_t seed,
              std::string_view component);

  std::uint32_t count() const { return static_cast<std::uint32_t>(levels_.size()); }
  const CacheArray& array(std::uint32_t level) const { return levels_[level].array; }
  /// The time to look for a line up to that level; up to the last one if it is nowhere.
  Time access_time(std::uint32_t level) const {
    return levels_[level < count() ? level : count() - 1].reached;
  }

  LookupResult find(LineAddress line) const {
    const Slot slot = levels_[0].array.lookup(line);
    if (levels_.size() == 1) [[likely]]
      return {0, slot == kNoSlot ? LineState::kInvalid : levels_[0].array.state(slot), slot};
    return find_behind(line, slot);
  }
  /// Asks memory for what `fill` changes in the first level.
  [[gnu::always_inline]] void foresee_fill(LineAddress line) const {
    levels_[0].array.foresee_insertion(line);
  }
  /// The line of a slot of the first level was used.
  void touch(Slot slot) { levels_[0].array.touch(slot); }
  /// The line was used, and is in that level: it comes nearer. What leaves goes to `gone`.
  void use(LineAddress line, std::uint32_t level, std::vector<Gone>& gone) {
    CacheArray& first = levels_[0].array;
    if (level == 0) [[likely]] {
      first.touch(first.lookup(line));
    } else {
      bring_nearer(line, level, gone);
    }
  }
  /// Takes in a line that is nowhere, into all levels. Returns its slot in the first.
  Slot fill(LineAddress line, LineState state, std::vector<Gone>& gone);
  /// The line, which is in the first level, is written: only this copy is the latest.
  void mark_dirty(LineAddress line) {
    CacheArray& first = levels_[0].array;
    first.mark_dirty(first.lookup(line));
  }
  void mark_dirty(Slot slot) { levels_[0].array.mark_dirty(slot); }
  /// Calls `visit(line)` for each line of each level: of one that is in several, as often. It changes
  /// nothing.
  template <class Visit>
  void for_each_line(Visit&& visit) const {
    for (const Level& level : levels_) {
      for (std::uint32_t set = 0; set < level.array.sets(); ++set)
        level.array.newest_first(set, [&](Slot slot) { visit(level.array.line(slot)); });
    }
  }
  /// All copies of a line that is somewhere are in this state now; kInvalid: they are gone.
  void set_state(LineAddress line, LineState state);

 private:
  struct Level {
    CacheArray array;
    Time reached;
    bool inclusive;
  };

  LookupResult find_behind(LineAddress line, Slot first) const;
  void bring_nearer(LineAddress line, std::uint32_t level, std::vector<Gone>& gone);
  void drop_held(std::vector<Gone>& gone) const;
  Slot place(std::uint32_t level, LineAddress line, LineState state, std::vector<Gone>& gone);
  void leaves(std::uint32_t level, LineAddress line, LineState state, std::vector<Gone>& gone);

  std::vector<Level> levels_;
};

}  // namespace cxloom
