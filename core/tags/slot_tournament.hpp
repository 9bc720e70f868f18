// The slot of each set that comes first by rank, kept up to date as ranks change.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

#include "base/zeroed_array.hpp"
#include "tags/slot.hpp"

namespace cxloom {

/// A tournament over the slots of a set: a tree in which eight neighbours meet at each node, and the best of
/// them goes on. The highest rank wins, among equal ranks the highest turn. A change goes up the tree as far
/// as it changes the winner there: log8 of the ways at most. Slots take part once they enter.
class SlotTournament {
 public:
  /// The highest rank and turn: counts stop there.
  static constexpr std::uint32_t kHighestRank = (1U << 23U) - 1;
  static constexpr std::uint64_t kHighestTurn = (std::uint64_t{1} << 40U) - 1;

  SlotTournament(std::uint32_t sets, std::uint32_t ways) : ways_(ways) {
    std::uint32_t width = ways;
    while (true) {
      rounds_[last_round_] = {nodes_, width};
      nodes_ += width;
      if (width == 1) break;
      width = (width + kMeet - 1) / kMeet;
      ++last_round_;
    }
    keys_ = ZeroedArray<Key>(nodes_ * sets);
  }

  /// A slot takes part, or goes on with another rank and turn. Turns are above zero, and differ within a set.
  void enter(std::uint32_t set, Slot slot, std::uint32_t rank, std::uint64_t turn) {
    const Key key = static_cast<Key>((std::uint64_t{rank} << kTurnBits) | turn);
    change(set, slot, leaf(set, slot) < 0 ? key | kAside : key);
  }
  /// The rank of a slot that takes part changes: its turn stays.
  void set_rank(std::uint32_t set, Slot slot, std::uint32_t rank) {
    enter(set, slot, rank, static_cast<std::uint64_t>(leaf(set, slot)) & kHighestTurn);
  }
  /// The rank of a slot; 0 if it does not take part.
  std::uint32_t rank(std::uint32_t set, Slot slot) const {
    return static_cast<std::uint32_t>((leaf(set, slot) & ~kAside) >> kTurnBits);
  }
  void leave(std::uint32_t set, Slot slot) { change(set, slot, 0); }
  /// A slot that takes part waits aside, and cannot win, until it comes back.
  void put_aside(std::uint32_t set, Slot slot) { change(set, slot, leaf(set, slot) | kAside); }
  void bring_back(std::uint32_t set, Slot slot) { change(set, slot, leaf(set, slot) & ~kAside); }

  /// At least one slot of the set takes part and is not aside.
  Slot winner(std::uint32_t set) const {
    const Key* keys = keys_.data() + nodes_ * set;
    const Key best = keys[rounds_[last_round_].start];
    std::size_t at = 0;
    for (std::uint32_t round = last_round_; round-- > 0;) {
      at *= kMeet;
      while (keys[rounds_[round].start + at] != best) ++at;
    }
    return static_cast<Slot>(set * ways_ + at);
  }

 private:
  // A rank and below it a turn; zero if the slot does not take part, negative if it is aside.
  using Key = std::int64_t;
  static constexpr unsigned kTurnBits = 40;
  static constexpr Key kAside = std::numeric_limits<Key>::min();
  static constexpr std::uint32_t kMeet = 8;

  // Where the nodes of a round begin among the nodes of a set, and how many there are. Round 0 are the slots.
  struct Round {
    std::size_t start;
    std::size_t width;
  };

  Key leaf(std::uint32_t set, Slot slot) const { return keys_[nodes_ * set + (slot - set * ways_)]; }
  void change(std::uint32_t set, Slot slot, Key key) {
    const std::size_t first = nodes_ * set;
    std::size_t at = slot - set * ways_;
    Key before = std::exchange(keys_[first + at], key);
    for (std::uint32_t round = 0; round < last_round_; ++round) {
      const std::size_t group = at / kMeet;
      Key& best = keys_[first + rounds_[round + 1].start + group];
      const Key was = best;
      if (key > best) {
        best = key;
      } else if (before == best) {
        best = best_of(first + rounds_[round].start, group, rounds_[round].width);
      }
      if (best == was) return;
      before = was;
      key = best;
      at = group;
    }
  }
  Key best_of(std::size_t start, std::size_t group, std::size_t width) const {
    const std::size_t end = std::min<std::size_t>((group + 1) * kMeet, width);
    Key best = 0;
    for (std::size_t at = group * kMeet; at < end; ++at) best = std::max(best, keys_[start + at]);
    return best;
  }

  std::uint32_t ways_;
  std::uint32_t last_round_ = 0;
  std::array<Round, 12> rounds_{};  // 8^11 is more than there are slots
  std::size_t nodes_ = 0;           // of a set
  ZeroedArray<Key> keys_;
};

}  // namespace cxloom
