// The line inserted least often leaves (LFI).
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/flat_table.hpp"
#include "base/schema.hpp"
#include "tags/ranked_victims.hpp"
#include "tags/slot_tournament.hpp"
#include "tags/victim_policy.hpp"

namespace cxloom {

/// Counts how often each line has been inserted, also while it is absent, so that a line that
/// comes back again and again stays at last. Of lines inserted equally often the oldest leaves: if
/// the newest left, the first to come would stay until all others had been inserted more often.
class LfiVictims final : public RankedVictims {
 public:
  struct Params {
    static void describe(Schema<Params>& schema) {
      schema.doc(
          "The line inserted least often leaves, counted over the whole run; the oldest of those inserted "
          "equally often.");
    }
  };
  LfiVictims(const Params& /*params*/, const VictimContext& context) : RankedVictims(context) {}

  void inserted(std::uint32_t set, Slot slot, LineAddress line, const TagArray& /*tags*/) override {
    const std::uint32_t count = count_insertion(line);
    slots().enter(set, slot, SlotTournament::kHighestRank - count,
                  SlotTournament::kHighestTurn - insertions_);
  }

 private:
  struct Count {
    std::uint64_t line = 0;  // and one; 0: empty
    std::uint32_t insertions = 0;

    std::uint64_t key() const { return line; }
  };

  std::uint32_t count_insertion(LineAddress line) {
    ++insertions_;
    Count& count = counts_.place(line.number() + 1);
    count.line = line.number() + 1;
    count.insertions = std::min(count.insertions + 1, SlotTournament::kHighestRank);
    return count.insertions;
  }

  FlatTable<Count> counts_;  // of every line that has ever been in the array
  std::uint64_t insertions_ = 0;
};

}  // namespace cxloom
