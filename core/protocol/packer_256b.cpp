// 256B flits: an H-slot, and generic slots in which data follow their headers without a gap; the
// latency-optimised flit has a second header slot amid them.
#include "protocol/packer_filling.hpp"

namespace cxloom {
namespace {

constexpr unsigned kSlotsOf256 = geometry(FlitMode::k256B).slots;
constexpr unsigned kLastGroup = geometry(FlitMode::k256B).groups() - 1;
constexpr unsigned kMostDataAtHeader =
    16;  // data slots to send beside which a header slot may bring data headers

}  // namespace

/// How many of `count` data headers the H-slot of a standard flit should take. Their data fill the flit, or end before
/// it does; the next headers then go into the generic slot behind. In the last group they would use up the count that
/// the H-slot of the next flit shares with it: one header fewer ends the data a group earlier, and both slots can be
/// full. Only where both would lack more than that one together, and more of the class are waiting, so that no message
/// is kept back for nothing.
unsigned FlitPacker::well_placed(const Filling& filling, Channel channel, unsigned count) const {
  if (packing_.mode == FlitMode::k68B || packing_.mode == FlitMode::k256BLo) return count;
  if (nibble_at(filling.left, channel) <= count) return count;
  const unsigned both = nibble_at(tables_->of(SlotType::kHeader).most, channel) +
                        nibble_at(tables_->of(SlotType::kGeneric).most, channel);
  if (both <= nibble_at(tables_->largest, channel) + 1) return count;
  unsigned next = 1 + data_waiting_;  // the slot behind the data
  for (unsigned i = 0; i < count; ++i)
    next += filling.offer.data(channel, filling.taken(channel) + i).slots();
  return FlitGeometry::group_of(next) == kLastGroup && next < kSlotsOf256 ? count - 1 : count;
}

void FlitPacker::pack_256b(const Offer& offer, Flit& flit) {
  const bool halves = packing_.mode == FlitMode::k256BLo;
  const unsigned second_header = halves ? geometry(packing_.mode).second_header : kSlotsOf256;
  Filling filling{
      .offer = offer, .flit = flit, .left = offer.counts_, .room = tables_->largest - last_group_};
  unsigned group = 0;
  ClassNibbles last = last_group_;  // messages of the group before this one
  ClassNibbles straddling = 0;      // messages of the slot that counts in two groups
  const auto enter = [&](unsigned slot) {
    for (; group < FlitGeometry::group_of(slot); ++group) {
      last = filling.group - straddling;
      filling.group = straddling;
      straddling = 0;
      filling.room = tables_->largest - last - filling.group;
    }
  };
  const auto header = [&](unsigned slot, SlotType type) {
    place_messages(filling, slot, type, data_waiting_ > kMostDataAtHeader ? kOnes ^ kDataClasses : kOnes);
  };

  if (!place_mac(flit)) header(0, SlotType::kHeader);
  for (unsigned slot = 1; slot < kSlotsOf256;) {
    enter(slot);
    if (slot == second_header) {
      header(slot++, SlotType::kSecondHeader);
    } else if (data_waiting_ > 0) {
      slot =
          place_data(flit, slot, slot < second_header ? std::min(second_header, kSlotsOf256) : kSlotsOf256);
    } else {
      const ClassNibbles before = filling.group;
      const bool placed = place_messages(filling, slot, SlotType::kGeneric, kOnes);
      if (geometry(packing_.mode).is_split(slot)) straddling = filling.group - before;
      ++slot;
      if (placed) continue;
      // What could not go into this slot cannot go into another of its group.
      const unsigned next =
          filling.left == 0 ? kSlotsOf256 : std::min(FlitGeometry::group_from(slot), kSlotsOf256);
      for (; slot < next; ++slot) {
        flit.slot[slot] = {SlotKind::kEmpty, 0};
        ++flit.count(SlotKind::kEmpty);
      }
    }
  }
  enter(kSlotsOf256);
  last_group_ = filling.group;
}

}  // namespace cxloom
