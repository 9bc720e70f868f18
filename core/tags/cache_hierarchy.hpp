// The caches of one core as a filter: accesses go in, what reaches memory comes out.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/units.hpp"
#include "protocol/request.hpp"
#include "tags/cache_array.hpp"
#include "tags/prefetcher.hpp"

namespace cxloom {

/// Levels of write-back, write-allocate caches, the first one nearest to the core. Neither inclusive nor
/// exclusive: a line is filled into every level it missed in, each level chooses its victims alone, and a
/// victim stays wherever else it is. A dirty victim goes to the next level, which takes it in if it does not
/// hold it; a clean one is dropped. There is no time here: order is all that counts. Whoever keeps several of
/// them coherent asks what each has of a line, and takes it.
class CacheHierarchy {
 public:
  struct Counts {
    std::uint64_t hits = 0;  ///< of reads and writes from the core's side
    std::uint64_t misses = 0;
    std::uint64_t write_backs = 0;  ///< dirty victims sent on to the next level or to memory
    std::uint64_t prefetches = 0;   ///< lines brought into it ahead of their use
    std::uint64_t useful = 0;       ///< of these, lines that were used
    std::uint64_t useless = 0;      ///< and lines that left it before
  };

  /// At least one level. Throws InputError, with the path "[i]", if the parameters of a level are out of
  /// bounds. Random victims are keyed by (seed, component).
  CacheHierarchy(const std::vector<CacheParams>& levels, const VictimRegistry& policies,
                 std::uint64_t seed = 0, std::string_view component = "caches");

  /// Reads or writes `size` bytes, line by line. Calls `emit(LineAddress, AccessKind)` for each line that
  /// memory must read (kRead: a miss in every level, whether the access reads or writes) and each line
  /// written back to it (kWrite); the read of a line comes before the write-backs that make room for it.
  template <class Emit>
  void access(Address address, AccessKind kind, std::uint32_t size, Emit&& emit) {
    const LineAddress first = LineAddress::of(address);
    // Up to the last byte of the address space: what lies beyond does not wrap around.
    const std::uint64_t room = ~std::uint64_t{0} - address.value();
    const std::uint64_t reach = size == 0 ? 0 : size - 1;
    const LineAddress last = LineAddress::of(Address{address.value() + (reach < room ? reach : room)});
    for (std::uint64_t line = first.number(); line <= last.number(); ++line) {
      access_line(LineAddress{line}, kind, emit);
    }
  }

  /// Where a line is after an access.
  struct AccessedLine {
    Slot slot;           ///< in the first level
    std::size_t level;   ///< in which it was before; `levels()` if in none
    bool ahead = false;  ///< and it had been asked for ahead of this, its first use
  };

  /// An access to one line.
  template <class Emit>
  AccessedLine access_line(LineAddress line, AccessKind kind, Emit&& emit) {
    CacheArray& nearest = arrays_.front();
    AccessedLine found{nearest.lookup(line), 0};
    if (found.slot != kNoSlot) [[likely]] {
      nearest.touch(found.slot);
      ++counts_.front().hits;
      found.ahead = use(line, 0, found.slot);
    } else {
      found = fill(line, emit);
    }
    if (kind == AccessKind::kWrite) nearest.mark_dirty(found.slot);
    return found;
  }

  /// What `access_line` does with a line that is still in the slot of the first level where it was; false,
  /// and nothing done, if it is not.
  [[gnu::always_inline]] bool access_again(LineAddress line, AccessKind kind, Slot slot) {
    CacheArray& nearest = arrays_.front();
    if (!nearest.holds(slot, line) || (!ahead_.empty() && ahead_.front()[slot])) return false;
    nearest.touch(slot);
    ++counts_.front().hits;
    if (kind == AccessKind::kWrite) nearest.mark_dirty(slot);
    return true;
  }

  /// Brings a line into that level, and into those behind it that lack it, ahead of its use. Calls `emit` as
  /// an access does. False, and nothing done, if the level has it.
  template <class Emit>
  bool ask_ahead(LineAddress line, std::size_t level, Emit&& emit) {
    if (arrays_[level].lookup(line) != kNoSlot) return false;
    if (ahead_.empty()) track_ahead();
    std::size_t found = level + 1;
    while (found < arrays_.size() && arrays_[found].lookup(line) == kNoSlot) ++found;
    if (found == arrays_.size()) emit(line, AccessKind::kRead);
    for (std::size_t each = found; each-- > level;) {
      const Slot slot = place(each, line, LineState::kClean, emit);
      if (each == level) ahead_[each][slot] = true;
    }
    ++counts_[level].prefetches;
    return true;
  }

  /// What an access to the line would find in that level.
  Found found(std::size_t level, LineAddress line) const {
    const Slot slot = arrays_[level].lookup(line);
    if (slot == kNoSlot) return Found::kMiss;
    return !ahead_.empty() && ahead_[level][slot] ? Found::kFirstUse : Found::kHit;
  }

  /// Whether it would be a write that changes nothing about the line: it is dirty in that slot.
  bool is_dirty(Slot slot) const { return arrays_.front().state(slot) == LineState::kDirty; }

  /// What its levels together have of a line.
  LineState state(LineAddress line) const;
  /// It has the line no longer. Gives what it had.
  LineState take(LineAddress line);
  /// It has the line clean, if it has it.
  void clean(LineAddress line);

  std::size_t levels() const { return arrays_.size(); }
  const CacheArray& array(std::size_t level) const { return arrays_[level]; }
  const Counts& counts(std::size_t level) const { return counts_[level]; }

 private:
  /// Brings a line that the first level lacks into it.
  template <class Emit>
  AccessedLine fill(LineAddress line, Emit& emit) {
    ++counts_.front().misses;
    std::size_t found = 1;
    bool ahead = false;
    for (; found < arrays_.size(); ++found) {
      const Slot slot = arrays_[found].lookup(line);
      if (slot != kNoSlot) {
        arrays_[found].touch(slot);
        ++counts_[found].hits;
        ahead = use(line, found, slot);
        break;
      }
      ++counts_[found].misses;
    }
    if (found == arrays_.size()) emit(line, AccessKind::kRead);
    // From the far end inwards, as the data comes.
    Slot slot = kNoSlot;
    for (std::size_t level = found; level-- > 0;) slot = place(level, line, LineState::kClean, emit);
    return {slot, found, ahead};
  }

  template <class Emit>
  Slot place(std::size_t level, LineAddress line, LineState state, Emit& emit) {
    const CacheArray::Insertion insertion = arrays_[level].insert(line, state);
    if (!ahead_.empty()) leave(level, insertion.slot);
    if (insertion.evicted_dirty()) {
      ++counts_[level].write_backs;
      write_back(level + 1, insertion.victim, emit);
    }
    return insertion.slot;
  }

  template <class Emit>
  void write_back(std::size_t level, LineAddress line, Emit& emit) {
    if (level == arrays_.size()) {
      emit(line, AccessKind::kWrite);
      return;
    }
    const Slot slot = arrays_[level].lookup(line);
    if (slot == kNoSlot) {
      place(level, line, LineState::kDirty, emit);
    } else {
      arrays_[level].mark_dirty(slot);
      arrays_[level].touch(slot);
    }
  }

  /// Whether the line in that slot was asked for ahead. From now on it was not.
  bool use(LineAddress line, std::size_t level, Slot slot) {
    return !ahead_.empty() && ahead_[level][slot] && used(line);
  }
  bool used(LineAddress line);
  /// Another line has taken that slot.
  void leave(std::size_t level, Slot slot) {
    if (!ahead_[level][slot]) return;
    ahead_[level][slot] = false;
    ++counts_[level].useless;
  }
  void track_ahead();

  std::vector<CacheArray> arrays_;
  std::vector<Counts> counts_;
  std::vector<std::vector<bool>>
      ahead_;  // by level and slot: not used since; empty: nothing was asked for ahead
};

}  // namespace cxloom
