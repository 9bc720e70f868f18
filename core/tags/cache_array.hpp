// The array of a set-associative cache: which lines it holds, in which state, and which one leaves when
// another comes. It has no data and no timing; caches and cache filters are built around it.
#pragma once

#include <cstdint>

#include "base/random.hpp"
#include "base/units.hpp"
#include "base/zeroed_array.hpp"
#include "tags/cache_params.hpp"
#include "tags/tag_array.hpp"

namespace cxloom {

/// The state of a line at a holder; all but kInvalid are present. Coherent lines have the states of MESI:
/// invalid, clean and the only copy (exclusive), dirty (modified), clean and one of several copies (shared).
enum class LineState : std::uint8_t { kInvalid, kClean, kDirty, kShared };

class CacheArray : private TagArray {
 public:
  /// What insert() did: where the line is now, and what had to leave for it.
  struct Insertion {
    Slot slot;
    LineAddress victim;
    LineState victim_state;  ///< kInvalid: nothing had to leave
    bool evicted() const { return victim_state != LineState::kInvalid; }
    bool evicted_dirty() const { return victim_state == LineState::kDirty; }
  };

  /// Throws InputError if the parameters are out of bounds, or what they name is no kind. `random` is for a
  /// policy that draws.
  CacheArray(const CacheParams& params, const VictimRegistry& policies, RandomStream random);

  /// What one takes of memory; `ways` as in its parameters.
  static std::uint64_t bytes(std::uint64_t lines, std::uint32_t ways);

  using TagArray::capacity;
  using TagArray::contains;
  using TagArray::holds;
  using TagArray::line;
  using TagArray::lookup;
  using TagArray::newest_first;
  using TagArray::occupied;
  using TagArray::sets;
  using TagArray::touch;
  using TagArray::victim_for;
  using TagArray::ways;

  /// Asks memory for what an insertion of the line changes. A small array is in a near cache of the machine
  /// as it is.
  [[gnu::always_inline]] void foresee_insertion(LineAddress line) const {
    if (capacity() < kForeseen) return;
    foresee_place(line);
    prefetch(states_.data() + std::size_t{set_of(line)} * ways());
  }

  LineState state(Slot slot) const { return states_[slot]; }
  /// Moves between states of presence; a line leaves by invalidate().
  void set_state(Slot slot, LineState state) { states_[slot] = state; }
  void mark_dirty(Slot slot) { states_[slot] = LineState::kDirty; }

  /// Puts in a line that is absent, if need be in the place of a victim.
  Insertion insert(LineAddress line, LineState state);
  /// Puts in a line with the `victim` that `victim_for` has just given for it.
  Insertion insert(LineAddress line, LineState state, Slot victim);
  /// Removes the line, if present, and returns what it was.
  LineState invalidate(LineAddress line);

 private:
  static constexpr std::uint32_t kForeseen = 1U << 14U;  // lines, of 17 bytes each

  Insertion put(LineAddress line, LineState state, std::uint32_t set, Slot victim);

  ZeroedArray<LineState> states_;
};

}  // namespace cxloom
