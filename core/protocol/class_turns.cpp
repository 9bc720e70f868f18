#include "protocol/class_turns.hpp"

#include <bit>

namespace cxloom {

unsigned ClassTurns::next(ClassNibbles ready, ClassNibbles waiting) {
  if ((ready & (ready - 1)) == 0) return static_cast<unsigned>(std::countr_zero(ready)) / 4;
  constexpr std::uint32_t kGoldenRatio = 0x9E37'79B9;  // of 2^32
  constexpr std::uint32_t kEighth = std::uint32_t{1} << 29;
  beat_ += kGoldenRatio;
  const bool in_round = beat_ < kEighth;
  unsigned& turn = in_round ? round_ : turn_;
  const ClassNibbles from_turn = ready >> (turn * 4) << (turn * 4);
  unsigned lead = 0;
  ClassNibbles longest = 0;
  for (ClassNibbles part : {from_turn, ready ^ from_turn}) {
    for (; part != 0; part &= part - 1) {
      const auto shift = static_cast<unsigned>(std::countr_zero(part));
      const ClassNibbles length = in_round ? 1 : waiting >> shift & 15U;
      if (length <= longest) continue;
      longest = length;
      lead = shift / 4;
    }
  }
  turn = lead + 1;
  return lead;
}

}  // namespace cxloom
