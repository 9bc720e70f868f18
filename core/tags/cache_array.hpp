// The tag array of a set-associative cache: which lines it holds, in which state, and which one leaves when another
// comes. It has no data and no timing; caches, cache filters and snoop filters are built around it.
#pragma once

#include <cstdint>

#include <memory>

#include "base/memory_estimate.hpp"
#include "base/parameters.hpp"
#include "base/random.hpp"
#include "base/units.hpp"
#include "base/zeroed_array.hpp"
#include "tags/line_index.hpp"
#include "tags/victim_policy.hpp"

namespace cxloom {

struct CacheParams {
  Bytes size{32 * 1024};
  std::uint32_t ways = 8;
  Time access_time{12'000};
  Kinded policy{"lru", Value(Value::Map{})};

  std::uint64_t lines() const { return size.count() / kLineBytes; }
  static void describe(Schema<CacheParams>& schema);
  static void estimate(const CacheParams& params, MemoryEstimate& memory);
};

/// What a holder knows of a line. A protocol may add states (shared, owned, ...); every state but kInvalid is present.
enum class LineState : std::uint8_t { kInvalid, kClean, kDirty };

class CacheArray {
 public:
  /// What insert() did: where the line is now, and what had to leave for it.
  struct Insertion {
    Slot slot;
    LineAddress victim;
    LineState victim_state;  ///< kInvalid: nothing had to leave
    bool evicted() const { return victim_state != LineState::kInvalid; }
    bool evicted_dirty() const { return victim_state == LineState::kDirty; }
  };

  /// Throws InputError if the parameters are out of bounds, or what they name is no kind. `random` is for a policy that
  /// draws.
  CacheArray(const CacheParams& params, const VictimRegistry& policies, RandomStream random);

  /// What one takes of memory; `ways` as in its parameters.
  static std::uint64_t bytes(std::uint64_t lines, std::uint32_t ways);

  std::uint32_t sets() const { return sets_; }
  std::uint32_t ways() const { return ways_; }
  /// Number of slots: slots are 0 .. capacity() - 1, for whoever keeps more about a line in an array beside this one.
  std::uint32_t capacity() const { return sets_ * ways_; }
  /// Number of lines held.
  std::uint32_t occupied() const { return occupied_; }

  /// The slot of a line, or kNoSlot. Does not count as a use.
  Slot lookup(LineAddress line) const {
    if (indexed_) return index_.find(line);
    const Slot first = set_of(line) * ways_;
    const std::uint64_t* tags = tags_.data() + first;
    const std::uint64_t wanted = tag_of(line);
    // Compares every way: leaving early costs a mispredicted branch, which takes longer (27 against 13 ns a hit).
    Slot found = kNoSlot;
    for (std::uint32_t way = 0; way < ways_; ++way) found = tags[way] == wanted ? first + way : found;
    return found;
  }
  bool contains(LineAddress line) const { return lookup(line) != kNoSlot; }

  LineAddress line(Slot slot) const { return LineAddress{tags_[slot] - 1}; }
  LineState state(Slot slot) const { return states_[slot]; }
  /// Moves between states of presence; a line leaves by invalidate().
  void set_state(Slot slot, LineState state) { states_[slot] = state; }
  void mark_dirty(Slot slot) { states_[slot] = LineState::kDirty; }

  /// Tells the victim policy that the line was used.
  void touch(Slot slot) {
    if (!order_.settled(slot)) order_.used(set_of(line(slot)), slot);
    if (listens_) [[unlikely]]
      tell_of_use(slot);
  }

  /// Puts in a line that is absent, if need be in the place of a victim.
  Insertion insert(LineAddress line, LineState state);
  /// The same with what `victim_for` has just said of the line.
  Insertion insert(LineAddress line, LineState state, Slot victim);
  /// The line that would have to leave for `line`, or kNoSlot if there is room. A policy that draws does so with each
  /// call.
  Slot victim_for(LineAddress line);
  /// Removes the line, if present, and tells what it was.
  LineState invalidate(LineAddress line);

 private:
  static constexpr std::uint64_t kNoLine = 0;  // as a tag, which is the number of the line and one

  static std::uint64_t tag_of(LineAddress line) { return line.number() + 1; }
  std::uint32_t set_of(LineAddress line) const {
    const std::uint64_t set = mask_sets_ ? line.number() & (sets_ - 1) : line.number() % sets_;
    return static_cast<std::uint32_t>(set);
  }

  void tell_of_use(Slot slot);
  Slot victim_in(std::uint32_t set);
  [[noreturn]] void refuse(std::uint32_t set, Slot victim) const;
  Insertion put(LineAddress line, LineState state, std::uint32_t set, Slot victim);

  std::uint32_t ways_;
  std::uint32_t sets_;
  std::uint32_t occupied_ = 0;
  bool mask_sets_;  // the number of sets is a power of two
  bool indexed_;    // too many ways to compare one by one
  ZeroedArray<std::uint64_t> tags_;
  ZeroedArray<LineState> states_;
  std::unique_ptr<VictimPolicy> policy_;
  bool listens_;  // the policy is told what happens
  SlotOrder order_;
  LineIndex index_;
};

}  // namespace cxloom
