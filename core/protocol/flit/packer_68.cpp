#include "protocol/flit/packer_68.hpp"

namespace cxloom {

/// Slot 0. Where reads' data and completions wait together, two completions in it (H4) and three data headers
/// in a generic slot (G6) carry most a slot, if a generic slot is free behind the data left over. Where
/// completions prevail, two chunks left over and the data of one header (H3) fill the flit and leave three,
/// beside which slot 0 has two completions again: more of them a flit than otherwise fit. docs/model/flit.md
/// has the best mixes.
inline void Packer68::place_header() {
  const unsigned completions = nibble_at(filling_.left, Channel::kS2MNDR);
  const unsigned data = nibble_at(filling_.left, Channel::kS2MDRS);
  const unsigned waiting = filling_.state.data.waiting();
  const bool no_slot_free = waiting == kFlit.generic_slots();
  // The flit that left three over may have taken one.
  const bool prevail = completions + (no_slot_free ? 1 : 0) >= data;
  if (completions < 2 || data == 0) {
    filling_.place_messages(0, SlotType::kHeader, kOnes);
  } else if (no_slot_free && !prevail) {
    filling_.place_messages(0, SlotType::kHeader, kOnes ^ nibble_of(Channel::kS2MNDR, 1));
  } else if (waiting == 2 && prevail) {
    constexpr ClassNibbles kOneOfEach = nibble_of(Channel::kS2MNDR, 1) | nibble_of(Channel::kS2MDRS, 1);
    const ClassNibbles withheld = filling_.room - kOneOfEach;
    filling_.room = kOneOfEach;
    filling_.place_messages(0, SlotType::kHeader, kOnes);
    filling_.room += withheld;
  } else {
    filling_.place_messages(0, SlotType::kHeader, kOnes ^ kDataClasses);
  }
}

void Packer68::pack(unsigned first) {
  if (first == 0) place_header();
  for (unsigned slot = 1; slot < kFlit.slots;) {
    if (filling_.state.data.waiting() > 0) {
      slot = filling_.place_data(slot, kFlit.slots);
    } else if (filling_.left != 0) {
      // At most one slot with data headers a flit.
      const ClassNibbles allowed = filling_.data_headers ? kOnes ^ kDataClasses : kOnes;
      filling_.place_messages(slot++, SlotType::kGeneric, allowed);
    } else {
      filling_.leave_empty(slot++);
    }
  }
}

}  // namespace cxloom
