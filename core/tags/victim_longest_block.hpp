// The line whose block is the longest leaves, so that as many lines as possible leave in one message.
#pragma once

#include <cstdint>

#include "base/parameters.hpp"
#include "tags/line_block.hpp"
#include "tags/slot_tournament.hpp"
#include "tags/victim_policy.hpp"

namespace cxloom {

/// Goes by the longest block that may leave (BlockRule) around each line, of lines that are there, pinned or
/// not. Of equally long ones the line inserted last leaves. Where lines leave one by one that is LIFO. Blocks
/// reach across sets.
class LongestBlockVictims final : public VictimPolicy {
 public:
  struct Params {
    static void describe(Schema<Params>& schema);
  };
  LongestBlockVictims(const Params& params, const VictimContext& context);

  bool listens() const override { return true; }
  void inserted(std::uint32_t set, Slot slot, LineAddress line, const TagArray& tags) override;
  void freed(std::uint32_t set, Slot slot, LineAddress line, const TagArray& tags) override;
  void pinned(std::uint32_t set, Slot slot) override { slots_.put_aside(set, slot); }
  void unpinned(std::uint32_t set, Slot slot) override { slots_.bring_back(set, slot); }
  Slot victim(std::uint32_t set, const SlotOrder& /*order*/, const SlotPins& /*pins*/) override {
    return slots_.winner(set);
  }

 private:
  struct Side;

  Side side_of(LineAddress line, bool up, bool joined, const TagArray& tags) const;
  void regroup(LineAddress line, const TagArray& tags);
  std::uint32_t length(Slot slot) const { return slots_.rank(slot / ways_, slot); }
  void set_length(Slot slot, std::uint32_t length) {
    if (length != this->length(slot)) slots_.set_rank(slot / ways_, slot, length);
  }
  void set_lengths(const Side& side, std::uint32_t length);

  BlockRule blocks_;
  std::uint32_t ways_;
  std::uint64_t insertions_ = 0;
  SlotTournament slots_;  // ranked by the length of the block around each line
};

}  // namespace cxloom
