// Whose messages decide the format of a slot. The class that has had the fewest slots goes first, those of
// its data included (start-time fair queueing, as base/fair_share.hpp has it for weights). So a class that
// wants less than its share waits for one turn of each other class at most, whatever the length of their
// queues.
//
// Before a class of which fewer messages can go than its slot takes, one goes that fills it: completions go
// by twos and threes. But a class goes without company once it has waited long enough since it last did: the
// longer, the more of it is lacking.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "protocol/flit/slot_tables.hpp"

namespace cxloom {

class ClassTurns {
 public:
  /// How long a class waits for company, since it last went without.
  struct Patience {
    std::uint32_t slots;
    bool by_part;  ///< of so many slots the part that is lacking, not all
  };
  explicit ClassTurns(Patience patience) : patience_(patience) {
    patient_since_.fill(-std::int64_t{patience.slots});
  }

  /// One of at least two classes in `ready`. Each has `enough` messages, unless it is `lacking`.
  unsigned next(ClassNibbles ready, ClassNibbles lacking, ClassNibbles enough);
  /// Messages of the class take so many slots that others wanted.
  void charge(unsigned which, unsigned slots) { end_[which] = start_of(which) + slots; }
  /// So many slots are given to messages of any class.
  void count(unsigned slots) { given_ += slots; }

 private:
  std::int64_t patience_of(unsigned which, ClassNibbles lacking, ClassNibbles enough) const {
    const unsigned lacks = lacking >> (which * 4) & 15U;
    if (lacks == 0) return 0;
    const unsigned wanted = enough >> (which * 4) & 15U;
    return patience_.by_part ? std::int64_t{patience_.slots} * lacks / wanted : patience_.slots;
  }
  std::uint64_t start_of(unsigned which) const { return std::max(end_[which], start_); }

  Patience patience_;
  std::int64_t given_ = 0;                                 // slots
  std::uint64_t start_ = 0;                                // of the last turn, in slots of one class
  std::array<std::uint64_t, kChannelCount> end_{};         // by class: of its last turn
  std::array<std::int64_t, kChannelCount> patient_since_;  // by class: in slots given
};

}  // namespace cxloom
