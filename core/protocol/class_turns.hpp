// Whose messages decide the format of a slot. The class that has had the fewest slots goes first, those of its data included
// (start-time fair queueing, as base/fair_share.hpp has it for weights). So a class that wants less than its share waits for one
// turn of each other class at most, whatever the length of their queues.
//
// Before a class of which fewer messages can go than its slot takes, one goes that fills it: completions go by twos and threes.
// But one slot of so many goes to such a class nevertheless.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "protocol/slot_tables.hpp"

namespace cxloom {

class ClassTurns {
 public:
  /// Of so many slots, a class that does not fill it may have one that another would fill.
  explicit ClassTurns(std::uint32_t slots_for_one) : slots_for_one_(slots_for_one) {}

  /// One of the classes in `ready`, of which there are two at least; those in `filling` can fill the slot.
  unsigned next(ClassNibbles ready, ClassNibbles filling);
  /// Messages of the class take so many slots that others wanted.
  void charge(unsigned which, unsigned slots) { end_[which] = start_of(which) + slots; }
  /// So many slots are given to messages of any class.
  void count(unsigned slots) { given_ += slots; }

 private:
  std::uint64_t start_of(unsigned which) const { return std::max(end_[which], start_); }

  std::uint32_t slots_for_one_;
  std::uint64_t given_ = 0;                                   // slots
  std::uint64_t start_ = 0;                                   // of the last turn, in slots of one class
  std::array<std::uint64_t, kChannelCount> end_{};            // by class: of its last turn
  std::array<std::uint64_t, kChannelCount> patient_until_{};  // by class: in slots given
};

}  // namespace cxloom
