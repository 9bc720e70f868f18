#include "protocol/class_turns.hpp"

#include <bit>

namespace cxloom {

unsigned ClassTurns::next(ClassNibbles ready, ClassNibbles filling) {
  unsigned lead = 0;
  std::uint64_t first = ~std::uint64_t{0};
  const auto fills = [&](unsigned which) { return filling == 0 || (filling >> (which * 4) & 1U) != 0; };
  for (; ready != 0; ready &= ready - 1) {
    const auto which = static_cast<unsigned>(std::countr_zero(ready)) / 4;
    if (!fills(which) && given_ < patient_until_[which]) continue;
    const std::uint64_t start = start_of(which);
    if (start >= first) continue;
    first = start;
    lead = which;
  }
  start_ = first;
  if (!fills(lead)) patient_until_[lead] = given_ + slots_for_one_;
  return lead;
}

}  // namespace cxloom
