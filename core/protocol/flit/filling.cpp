#include "protocol/flit/filling.hpp"

#include <algorithm>
#include <bit>

#include "base/error.hpp"

namespace cxloom {

unsigned DataTransfers::place(Flit& flit, unsigned slot, unsigned end) {
  const unsigned stop = std::min(end, slot + waiting_);
  waiting_ -= stop - slot;
  unsigned trailers = 0;
  const unsigned begin = slot;
  while (slot < stop) {
    std::uint8_t& transfer = transfers_[first_];
    const unsigned left = transfer & kSlots;
    const unsigned take = std::min(left, stop - slot);
    slot += take;
    if (take < left) {
      transfer = static_cast<std::uint8_t>(transfer - take);
      break;
    }
    if (transfer & kTrailer) {
      flit.slot[slot - 1].kind = SlotKind::kTrailer;
      ++trailers;
    }
    flit.end[flit.end_count++] = static_cast<std::uint8_t>(slot - 1);
    first_ = (first_ + 1) % kMost;
    --count_;
  }
  flit.count(SlotKind::kData) =
      static_cast<std::uint16_t>(flit.count(SlotKind::kData) + stop - begin - trailers);
  flit.count(SlotKind::kTrailer) = static_cast<std::uint16_t>(flit.count(SlotKind::kTrailer) + trailers);
  return stop;
}

/// 68B: what fits a slot for several data headers, which are of whole lines and two at least.
inline ClassNibbles FlitFilling::without_single(Channel channel, ClassNibbles fits) const {
  const unsigned count = nibble_at(fits, channel);
  const unsigned whole = std::min(offer.whole_lines(channel, taken(channel)), count);
  return fits - nibble_of(channel, whole < 2 ? count : count - whole);
}

/// The class whose turn it is. It lacks company if fewer wait than are enough, or can go than the slot takes.
inline unsigned FlitFilling::lead_of(const SlotTables::ForSlot& table, ClassNibbles available,
                                     ClassNibbles ready) {
  const ClassNibbles kept_back = table.enough - table.most;
  const ClassNibbles there = least(at_most_7(left), least(available, table.most) + kept_back);
  return state.turns.next(ready, (table.enough - there) & ready * 15, table.enough);
}

FlitFilling::Choice FlitFilling::choose(SlotType type, ClassNibbles allowed) {
  const SlotTables::ForSlot& table = state.tables->of(type);
  const ClassNibbles available = least(at_most_7(left), room) & (allowed & table.classes) * 15;
  if (available == 0) return {};
  const ClassNibbles ready = nonzero_classes(available);
  const bool shared = (ready & (ready - 1)) != 0;
  const unsigned lead =
      shared ? lead_of(table, available, ready) : static_cast<unsigned>(std::countr_zero(ready)) / 4;
  const auto& candidates = table.of_class[lead];
  Choice chosen{.format = candidates[0], .lead = static_cast<std::uint8_t>(lead), .shared = shared};
  unsigned most = 0;
  for (unsigned i = 0; i < table.format_count[lead]; ++i) {
    const SlotTables::Format& format = table.formats[candidates[i]];
    ClassNibbles fits = least(available, format.most);
    if (format.several_data) fits = without_single(format.several, fits);
    const unsigned sum = sum_of(fits);
    const auto of_lead = [&](ClassNibbles all) { return all >> (lead * 4) & 15U; };
    if (sum < most || of_lead(fits) == 0) continue;
    if (sum == most && (of_lead(left) < 3 || of_lead(fits) <= of_lead(chosen.counts))) continue;
    most = sum;
    chosen.counts = fits;
    chosen.format = candidates[i];
  }
  return chosen;
}

void FlitFilling::place(unsigned slot, SlotType type, const Choice& choice) {
  if (choice.counts == 0) {
    leave_empty(slot);
    return;
  }
  flit.slot[slot] = {SlotKind::kHeader, choice.format};
  ++flit.count(SlotKind::kHeader);
  const SlotTables::Format& format = state.tables->of(type).formats[choice.format];
  if (choice.shared) state.turns.charge(choice.lead, 1);
  const unsigned data_before = state.data.waiting();
  for (unsigned i = 0; i < format.part_count; ++i) {
    const Channel channel = format.parts[i];
    const unsigned count = nibble_at(choice.counts, channel);
    if (count == 0) continue;
    if (!is_data_class(channel)) {
      place_headers(slot, channel, count);
      continue;
    }
    const unsigned before = state.data.waiting();
    place_data_headers(slot, channel, count);
    if (choice.shared) state.turns.charge(static_cast<unsigned>(channel), state.data.waiting() - before);
  }
  // A message that goes alone is not always packed: it does not count.
  if (!offer.single()) state.turns.count(1 + state.data.waiting() - data_before);
}

inline void FlitFilling::place_headers(unsigned slot, Channel channel, unsigned count) {
  for (unsigned i = 0; i < count; ++i)
    flit.message[flit.message_count++] = {channel, static_cast<std::uint8_t>(slot), {0, false}};
  take(channel, count);
}

inline void FlitFilling::place_data_headers(unsigned slot, Channel channel, unsigned count) {
  const unsigned first = taken(channel);
  for (unsigned i = 0; i < count; ++i) {
    const DataShape shape = offer.data(channel, first + i);
    ensure(shape.chunks == 4 || (shape.chunks == 2 && nibble_at(state.tables->half_transfers, channel) != 0),
           "data of a length that the flit format does not carry");
    flit.message[flit.message_count++] = {channel, static_cast<std::uint8_t>(slot), shape};
    state.data.push(shape.slots(), shape.trailer);
  }
  data_headers = true;
  take(channel, count);
}

inline void FlitFilling::take(Channel channel, unsigned count) {
  const ClassNibbles nibble = nibble_of(channel, count);
  left -= nibble;
  room -= nibble;
  placed += nibble;
}

}  // namespace cxloom
