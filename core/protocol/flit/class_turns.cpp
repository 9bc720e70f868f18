#include "protocol/flit/class_turns.hpp"

#include <algorithm>
#include <bit>

namespace cxloom {

unsigned ClassTurns::next(ClassNibbles ready, ClassNibbles lacking, ClassNibbles enough) {
  // Whether there is one that fills the slot, and one that does not.
  const bool company_matters = lacking != 0 && (ready & ~nonzero_classes(lacking)) != 0;
  unsigned lead = 0;
  std::int64_t needs = 0;
  std::uint64_t first = ~std::uint64_t{0};
  for (; ready != 0; ready &= ready - 1) {
    const auto which = static_cast<unsigned>(std::countr_zero(ready)) / 4;
    std::int64_t patience = 0;
    if (company_matters) {
      patience = patience_of(which, lacking, enough);
      if (given_ - patient_since_[which] < patience) continue;
    }
    const std::uint64_t start = start_of(which);
    if (start >= first) continue;
    first = start;
    lead = which;
    needs = patience;
  }
  start_ = first;
  // The class keeps the rest of its patience, but no more than makes for one slot.
  if (needs > 0) patient_since_[lead] = std::max(patient_since_[lead], given_ - patience_.slots) + needs;
  return lead;
}

}  // namespace cxloom
