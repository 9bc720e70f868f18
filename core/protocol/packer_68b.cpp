// 68B flits: four slots; slot 0 shares its 16 bytes with the flit header and carries no data.
#include "protocol/packer_filling.hpp"

namespace cxloom {
namespace {

constexpr unsigned kSlotsOf68 = geometry(FlitMode::k68B).slots;
constexpr unsigned kMostRollover = geometry(FlitMode::k68B).generic_slots();  // data slots beside a header

}  // namespace

/// Slot 0. Where reads' data and completions wait together, two completions in it (H4) and three data headers in a
/// generic slot (G6) carry most a slot, if a generic slot is free behind the data left over. Where completions prevail,
/// two chunks left over and the data of one header (H3) fill the flit and leave three, beside which slot 0 has two
/// completions again: more of them a flit than otherwise fit. docs/model/flit.md has the best mixes.
void FlitPacker::place_header_68b(Filling& filling) {
  const unsigned completions = nibble_at(filling.left, Channel::kS2MNDR);
  const unsigned data = nibble_at(filling.left, Channel::kS2MDRS);
  const bool three_left = data_waiting_ == kMostRollover;
  // The flit that left three over may have taken one.
  const bool prevail = completions + (three_left ? 1 : 0) >= data;
  if (completions < 2 || data == 0 || (three_left && !prevail)) {
    place_messages(filling, 0, SlotType::kHeader, kOnes);
  } else if (data_waiting_ == 2 && prevail) {
    constexpr ClassNibbles kOneOfEach = nibble_of(Channel::kS2MNDR, 1) | nibble_of(Channel::kS2MDRS, 1);
    const ClassNibbles withheld = filling.room - kOneOfEach;
    filling.room = kOneOfEach;
    place_messages(filling, 0, SlotType::kHeader, kOnes);
    filling.room += withheld;
  } else {
    place_messages(filling, 0, SlotType::kHeader, kOnes ^ kDataClasses);
  }
}

void FlitPacker::pack_68b(const Offer& offer, Flit& flit) {
  if (data_waiting_ > kMostRollover) {
    flit.kind = FlitKind::kAllData;
    place_data(flit, 0, kSlotsOf68);
    return;
  }
  Filling filling{.offer = offer, .flit = flit, .left = offer.counts_, .room = tables_->largest};
  // At most one slot with data headers a flit.
  const auto allowed = [&] { return filling.data_headers ? kOnes ^ kDataClasses : kOnes; };
  if (!place_mac(flit)) place_header_68b(filling);
  for (unsigned slot = 1; slot < kSlotsOf68;) {
    if (data_waiting_ > 0) {
      slot = place_data(flit, slot, kSlotsOf68);
    } else if (filling.left != 0) {
      place_messages(filling, slot++, SlotType::kGeneric, allowed());
    } else {
      flit.slot[slot++] = {SlotKind::kEmpty, 0};
      ++flit.count(SlotKind::kEmpty);
    }
  }
}

}  // namespace cxloom
