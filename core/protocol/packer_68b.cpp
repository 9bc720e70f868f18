// 68B flits: four slots; slot 0 shares its 16 bytes with the flit header and carries no data.
#include "protocol/packer_filling.hpp"

namespace cxloom {

void FlitPacker::pack_68b(const Offer& offer, Flit& flit) {
  constexpr unsigned kSlots = 4;
  constexpr unsigned kMostRollover = 3;  // data slots beside a header
  if (data_waiting_ > kMostRollover) {
    flit.kind = FlitKind::kAllData;
    place_data(flit, 0, kSlots);
    return;
  }
  Filling filling{.offer = offer, .flit = flit, .left = offer.counts_, .room = tables_->largest};
  // At most one slot with data headers a flit.
  const auto allowed = [&] { return filling.data_headers ? kOnes ^ kDataClasses : kOnes; };
  if (!place_mac(flit)) place_messages(filling, 0, SlotType::kHeader, allowed());
  for (unsigned slot = 1; slot < kSlots;) {
    if (data_waiting_ > 0) {
      slot = place_data(flit, slot, kSlots);
    } else if (filling.left != 0) {
      place_messages(filling, slot++, SlotType::kGeneric, allowed());
    } else {
      flit.slot[slot++] = {SlotKind::kEmpty, 0};
      ++flit.count(SlotKind::kEmpty);
    }
  }
}

}  // namespace cxloom
