#include "tags/victim_longest_block.hpp"

#include <algorithm>
#include <array>

#include "base/error.hpp"
#include "base/schema.hpp"
#include "tags/tag_array.hpp"

namespace cxloom {

/// The lines in a row that end next to a line on one side, as far as the longest block reaches.
struct LongestBlockVictims::Side {
  std::array<Slot, BlockRule::kMostLines> slots;
  std::uint32_t lines = 0;
};

void LongestBlockVictims::Params::describe(Schema<Params>& schema) {
  schema.doc(
      "The line in the longest block of lines that can leave together leaves; of equally long ones the line "
      "inserted last. Where lines leave one by one, as from a cache, that is lifo.");
}

LongestBlockVictims::LongestBlockVictims(const Params& /*params*/, const VictimContext& context)
    : blocks_(context.blocks), ways_(context.ways), slots_(context.sets, context.ways) {}

void LongestBlockVictims::inserted(std::uint32_t set, Slot slot, LineAddress line, const TagArray& tags) {
  const std::uint32_t most = blocks_.most;
  ensure(most == 1 || slots_.rank(set, slot) == 0, "a line took the place of one that left in a block");
  slots_.enter(set, slot, 1, ++insertions_);
  if (most == 1) return;
  if (blocks_.alignment == BlockAlignment::kSpec) {
    regroup(line, tags);
    return;
  }
  const Side below = side_of(line, false, false, tags);
  const Side above = side_of(line, true, false, tags);
  const std::uint32_t length = std::min(below.lines + 1 + above.lines, most);
  if (length > 1) set_length(slot, length);
  set_lengths(below, length);
  set_lengths(above, length);
}

void LongestBlockVictims::freed(std::uint32_t set, Slot slot, LineAddress line, const TagArray& tags) {
  const bool alone = slots_.rank(set, slot) == 1;
  slots_.leave(set, slot);
  if (alone) return;
  if (blocks_.alignment == BlockAlignment::kSpec) {
    regroup(line, tags);
    return;
  }
  for (const bool up : {false, true}) {
    const Side side = side_of(line, up, true, tags);
    set_lengths(side, side.lines);
  }
}

/// `joined`: the lengths that are kept still count the lines of both sides and the line between them.
LongestBlockVictims::Side LongestBlockVictims::side_of(LineAddress line, bool up, bool joined,
                                                       const TagArray& tags) const {
  Side side;
  std::uint64_t number = line.number();
  while (side.lines < blocks_.most && (up || number > 0)) {
    up ? ++number : --number;
    const Slot slot = tags.lookup(LineAddress{number});
    if (slot == kNoSlot) break;
    side.slots.at(side.lines++) = slot;
    if (!joined && length(slot) == blocks_.most) side.lines = blocks_.most;
  }
  return side;
}

/// A side as long as the longest block keeps the lengths of its lines, whatever happens at its end.
void LongestBlockVictims::set_lengths(const Side& side, std::uint32_t length) {
  if (side.lines == blocks_.most) return;
  for (std::uint32_t i = 0; i < side.lines; ++i) set_length(side.slots.at(i), length);
}

/// Lines that are aligned as in the specification have a length in common with their half at most, or with
/// both.
void LongestBlockVictims::regroup(LineAddress line, const TagArray& tags) {
  std::array<Slot, BlockRule::kMostLines> slots{kNoSlot, kNoSlot, kNoSlot, kNoSlot};
  const std::uint32_t lines = blocks_.most < 4 ? 2 : 4;
  const std::uint64_t first = line.number() / lines * lines;
  for (std::uint32_t i = 0; i < lines; ++i) slots.at(i) = tags.lookup(LineAddress{first + i});
  const bool lower = slots[0] != kNoSlot && slots[1] != kNoSlot;
  const bool upper = slots[2] != kNoSlot && slots[3] != kNoSlot;
  for (std::uint32_t i = 0; i < lines; ++i) {
    if (slots.at(i) == kNoSlot) continue;
    const bool half = i < 2 ? lower : upper;
    set_length(slots.at(i), lower && upper ? 4 : half ? 2 : 1);
  }
}

}  // namespace cxloom
