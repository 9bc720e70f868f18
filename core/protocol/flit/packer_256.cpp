#include "protocol/flit/packer_256.hpp"

#include <algorithm>
#include <bit>

namespace cxloom {
namespace {

constexpr unsigned kMostDataAtHeader =
    16;  // data slots to send beside which a header slot may bring data headers

}  // namespace

/// Whether the slot behind data that begin in `slot` is in the last group of a standard flit. Data headers
/// there would use up the count that the H-slot of the next flit shares with that group: only where both
/// together could bring more than one above it.
inline bool Packer256::ends_in_last_group(Channel channel, unsigned slot, unsigned count) const {
  const SlotTables& tables = *filling_.state.tables;
  const unsigned both = nibble_at(tables.of(SlotType::kHeader).most, channel) +
                        nibble_at(tables.of(SlotType::kGeneric).most, channel);
  if (both <= nibble_at(tables.largest, channel) + 1) return false;
  for (unsigned i = 0; i < count; ++i)
    slot += filling_.offer.data(channel, filling_.taken(channel) + i).slots();
  return slot < flit_.slots && FlitGeometry::group_of(slot) + 1 == flit_.groups();
}

/// Whether the H-slot of a standard flit should take one data header fewer. Their data fill the flit, or end
/// before it does; the next headers then go into the generic slot behind. In the last group one header fewer
/// ends the data a group earlier, and that slot and the next H-slot can be full. Only if more of the class
/// are waiting, so that no message is kept back for nothing.
inline bool Packer256::keeps_one_back(Channel channel, unsigned count) const {
  return nibble_at(filling_.left, channel) > count &&
         ends_in_last_group(channel, 1 + filling_.state.data.waiting(), count);
}

/// Whether the H-slot of a standard flit should have data headers, and nothing else: if they came in the
/// generic slot behind, their data would end in the last group. With data under way, those of as many headers
/// as that slot takes fill the flit.
inline bool Packer256::must_have_data() const {
  const ClassNibbles data = nonzero_classes(filling_.left) & kDataClasses;
  if (data == 0 || data == nonzero_classes(filling_.left)) return false;
  const auto channel = static_cast<Channel>(std::countr_zero(data) / 4);
  const unsigned count = nibble_at(filling_.state.tables->of(SlotType::kGeneric).most, channel);
  return nibble_at(filling_.room, channel) >= count && nibble_at(filling_.left, channel) > count &&
         ends_in_last_group(channel, 2, count);
}

inline void Packer256::place_header(unsigned slot, SlotType type) {
  const bool many_data = filling_.state.data.waiting() > kMostDataAtHeader;
  const bool only_data = filling_.state.data.waiting() == 0 && flit_.second_header == 0 && must_have_data();
  FlitFilling::Choice choice = filling_.choose(type, many_data   ? kOnes ^ kDataClasses
                                                     : only_data ? kDataClasses
                                                                 : kOnes);
  const ClassNibbles data = choice.counts & kDataClasses * 15;
  if (data != 0 && flit_.second_header == 0) {
    const auto channel = static_cast<Channel>(std::countr_zero(data) / 4);
    const unsigned count = nibble_at(data, channel);
    if (count > 1 && keeps_one_back(channel, count)) choice.counts -= nibble_of(channel, 1);
  }
  filling_.place(slot, type, choice);
}

/// Steps the rolling counts on.
inline void Packer256::enter_group_of(unsigned slot) {
  for (; group_ < FlitGeometry::group_of(slot); ++group_) {
    last_ = filling_.placed - split_;
    filling_.placed = split_;
    split_ = 0;
    filling_.room = filling_.state.tables->largest - last_ - filling_.placed;
  }
}

ClassNibbles Packer256::pack(unsigned first) {
  const unsigned slots = flit_.slots;
  const unsigned second_header = flit_.second_header != 0 ? flit_.second_header : slots;
  if (first == 0) place_header(0, SlotType::kHeader);
  for (unsigned slot = 1; slot < slots;) {
    enter_group_of(slot);
    if (slot == second_header) {
      place_header(slot++, SlotType::kSecondHeader);
    } else if (filling_.state.data.waiting() > 0) {
      slot = filling_.place_data(slot, slot < second_header ? second_header : slots);
    } else {
      const ClassNibbles before = filling_.placed;
      const bool placed = filling_.place_messages(slot, SlotType::kGeneric, kOnes);
      if (flit_.is_split(slot)) split_ = filling_.placed - before;
      ++slot;
      if (placed) continue;
      // A message that did not fit this slot does not fit another of its group.
      const unsigned next = filling_.left == 0 ? slots : std::min(FlitGeometry::group_from(slot), slots);
      while (slot < next) filling_.leave_empty(slot++);
    }
  }
  enter_group_of(slots - 1);
  return filling_.placed;
}

}  // namespace cxloom
