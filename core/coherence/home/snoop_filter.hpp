// The contents of an inclusive snoop filter: the lines in caches,
// their states, and their owners. It has no timing and sends nothing.
#pragma once

#include <array>
#include <cstdint>
#include <utility>

#include "base/parameters.hpp"
#include "base/random.hpp"
#include "base/units.hpp"
#include "coherence/home/entry_bits.hpp"
#include "tags/line_block.hpp"
#include "tags/tag_array.hpp"

namespace cxloom {

class ResourceSink;

/// The parameters of a filter whose lines leave one by one.
struct LineFilterParams {
  std::uint32_t entries = 65'536;
  std::uint32_t ways = 0;
  KindSpec policy{"lru", Value(Value::Map{})};

  static void describe(Schema<LineFilterParams>& schema);
};

struct SnoopFilterParams : LineFilterParams {
  std::uint32_t block = 1;
  BlockAlignment alignment = BlockAlignment::kSpec;

  static void describe(Schema<SnoopFilterParams>& schema);
  void resources(ResourceSink& sink) const;
};

/// The rights of caches to a line that the filter holds. No cache has a line that it does not hold.
enum class FilterState : std::uint8_t {
  kShared,     ///< read it, any number of them
  kExclusive,  ///< write it, one of them
};

class SnoopFilter {
 public:
  /// Slots that leave together; their lines follow each other, in the order of addresses.
  class Victims {
   public:
    const Slot* begin() const { return slots_.data(); }
    const Slot* end() const { return slots_.data() + size_; }
    std::uint32_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    void push(Slot slot) { slots_[size_++] = slot; }

   private:
    std::array<Slot, BlockRule::kMostLines> slots_;
    std::uint32_t size_ = 0;
  };

  /// For caches of `peers` owners, numbered from zero. Throws InputError if the parameters are out of bounds,
  /// or name what is no policy. `random` is for a policy that draws.
  SnoopFilter(const SnoopFilterParams& params, std::uint32_t peers, const VictimRegistry& policies,
              RandomStream random);

  /// The memory of a filter. With `lfi` it also has a counter for each line ever inserted.
  static std::uint64_t bytes(const LineFilterParams& params, std::uint32_t peers);

  /// Which lines have entries, in which sets, and in which order.
  const TagArray& tags() const { return tags_; }
  std::uint32_t capacity() const { return tags_.capacity(); }
  std::uint32_t occupied() const { return tags_.occupied(); }
  std::uint32_t peers() const { return peers_; }

  /// The slot of a line, or kNoSlot. Does not count as a use.
  Slot find(LineAddress line) const { return tags_.lookup(line); }
  /// Asks memory for what `find` will look at first: a hint.
  [[gnu::always_inline]] void foresee(LineAddress line) const { tags_.foresee(line); }
  /// Asks for the entry, once what `foresee` has asked for is there; and for what a use of the entry that was
  /// asked for before writes beside it in the order.
  [[gnu::always_inline]] void foresee_entry(LineAddress line) {
    if (foreseen_ != kNoSlot) tags_.foresee_neighbours(foreseen_);
    foreseen_ = tags_.foresee_slot(line);
    if (foreseen_ == kNoSlot) return;
    bits_.foresee(foreseen_);
  }
  LineAddress line(Slot slot) const { return tags_.line(slot); }
  /// Counts as a use of the entry.
  void touch(Slot slot) { tags_.touch(slot); }

  /// Whether a line can come in without another leaving.
  bool has_room(LineAddress line) { return tags_.has_room(line); }
  /// Puts in a line that is absent and has room; nobody owns it.
  Slot insert(LineAddress line, FilterState state);
  /// The entry leaves, with its pin if it has one.
  void erase(Slot slot) { tags_.erase(slot); }
  /// All entries leave.
  void clear();
  /// The entries that have to leave so that `line`, which has no room, can come in: the victim of the policy
  /// and, if blocks have several lines, unpinned entries around it in its longest block. Empty if there is
  /// room, or if all entries of the set are pinned. A policy that draws does so with each call.
  Victims victims_for(LineAddress line);

  /// An entry that is pinned does not leave for another: it is busy with a transaction. One that is not
  /// pinned can be pinned, and the other way round.
  void pin(Slot slot) { tags_.pin(slot); }
  void unpin(Slot slot) { tags_.unpin(slot); }
  bool pinned(Slot slot) const { return tags_.pinned(slot); }

  FilterState state(Slot slot) const {
    return bits_.state(slot) ? FilterState::kExclusive : FilterState::kShared;
  }
  void set_state(Slot slot, FilterState state) { bits_.set_state(slot, state == FilterState::kExclusive); }

  void add_owner(Slot slot, std::uint32_t peer) { bits_.set_owner(slot, peer, true); }
  void remove_owner(Slot slot, std::uint32_t peer) { bits_.set_owner(slot, peer, false); }
  void clear_owners(Slot slot) { bits_.clear_owners(slot); }
  bool has_owner(Slot slot, std::uint32_t peer) const { return bits_.owner(slot, peer); }
  bool has_owners(Slot slot) const { return bits_.has_owners(slot); }
  /// No peer but this one is an owner, and this one may be none.
  bool owned_by_none_but(Slot slot, std::uint32_t peer) const { return bits_.owned_by_none_but(slot, peer); }
  /// The entries that a peer is an owner of.
  std::vector<Slot> owned_by(std::uint32_t peer) const;
  /// Calls `visit(peer)` for each owner, the lowest number first. It may change the owners of the entry.
  template <class Visit>
  void for_each_owner(Slot slot, Visit&& visit) const {
    bits_.for_each_owner(slot, std::forward<Visit>(visit));
  }

 private:
  TagArray tags_;
  BlockRule blocks_;
  std::uint32_t peers_;
  Slot foreseen_ = kNoSlot;
  EntryBits bits_;
};

}  // namespace cxloom
