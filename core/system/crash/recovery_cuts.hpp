// Power that fails again during recovery, and again during the one after: all that may come of it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <vector>

#include "base/random.hpp"
#include "system/crash/recovery.hpp"

namespace cxloom {

/// What came of the recoveries from one state.
struct RecoveryEnds {
  std::set<LineContents> contents;  ///< of the lines of the entries, in the end: one if it does not matter
                                    ///< where recovery was cut
  std::uint64_t recoveries = 0;     ///< that were begun
  Time longest;                     ///< of recoveries that came to their end: without a cut, the only one
};

/// Where recovery is cut.
struct CutChoice {
  std::uint32_t depth = 0;        ///< so many times in a row at most
  RandomStream* drawn = nullptr;  ///< at a drawn one of its states each time; null: at every one
  Look look = [] {};              ///< while recoveries are played
};

class RecoveryCuts {
 public:
  /// It outlives this.
  explicit RecoveryCuts(const Recovery& recovery) : recovery_(recovery) {}

  RecoveryEnds ends_of(const DurableState& left, const CutChoice& choice);

 private:
  /// A recovery that nothing cuts.
  struct Course {
    std::vector<DurableState> states;  ///< that it comes through, the last one included
    Time took;
  };

  Course play(const DurableState& left, const Look& look) const;
  const Course& known(const DurableState& left, const Look& look);
  RecoveryEnds all(const DurableState& left, const CutChoice& choice);
  RecoveryEnds drawn(const DurableState& left, const CutChoice& choice) const;

  const Recovery& recovery_;
  std::map<std::vector<std::uint64_t>, Course> known_;  // by the key of where it began
};

}  // namespace cxloom
