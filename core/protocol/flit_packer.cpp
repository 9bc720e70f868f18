// What both families of formats share: filling a slot with messages, and the data under way.
#include "protocol/flit_packer.hpp"

#include <bit>

#include "protocol/isolated_flits.hpp"
#include "protocol/packer_filling.hpp"

namespace cxloom {
namespace {

constexpr auto kAllData = [] {
  std::array<Flit::Slot, kMostSlots> slots{};
  for (Flit::Slot& slot : slots) slot = {SlotKind::kData, 0};
  return slots;
}();

}  // namespace

FlitPacker::FlitPacker(const FlitPacking& packing)
    : packing_(packing), tables_(&slot_tables(packing.mode, packing.zero_extended)) {
  if (packing.mac_every == 0) isolated_ = &isolated_flits(packing.mode, packing.zero_extended);
}

void FlitPacker::pack(const Offer& offer, Flit& flit) {
  if (offer.empty() && !must_continue()) {
    pack_control(flit);
    return;
  }
  if (is_lone(offer)) {
    const IsolatedFlits& isolated =
        (*isolated_)[static_cast<std::size_t>(std::countr_zero(offer.counts_)) / 4];
    if (isolated.count > 0) {
      pack_lone(isolated, flit);
      return;
    }
  }
  ensure((nonzero_classes(offer.counts_) & ~nonzero_classes(tables_->largest)) == 0,
         "messages of a class that the flit format does not have (CXL.io; BISnp and BIRsp in 68B)");
  start(flit);
  if (packing_.mode == FlitMode::k68B) pack_68b(offer, flit);
  else pack_256b(offer, flit);
  if (packing_.mac_every > 0) count_for_mac(flit);
}

/// One message of 64 B or without data, and nothing before it that its flit depends on.
bool FlitPacker::is_lone(const Offer& offer) const {
  const ClassNibbles counts = offer.counts_;
  if ((counts & (counts - 1)) != 0 || (counts & kOnes) == 0) return false;
  const auto channel = static_cast<std::size_t>(std::countr_zero(counts)) / 4;
  return fresh() && (offer.shapes_[channel] & 15U) == (Offer::kWholeLines & 15U);
}

void FlitPacker::pack_lone(const IsolatedFlits& isolated, Flit& flit) {
  const Flit& known = isolated.flit[0];
  flit.mode = known.mode;
  flit.kind = known.kind;
  flit.slots = known.slots;
  flit.slots_of = known.slots_of;
  flit.slot = known.slot;
  flit.message_count = 1;
  flit.message[0] = known.message[0];
  flit.end_count = known.end_count;
  flit.end[0] = known.end[0];
  flit.io_bytes = flit.io_begun = flit.io_ended = 0;
  if (isolated.slots_left > 0) {
    transfers_[first_transfer_] = isolated.slots_left;
    transfer_count_ = 1;
    data_waiting_ = isolated.slots_left;
  }
}

void FlitPacker::pack_control(Flit& flit) {
  ensure(data_waiting_ == 0, "a control flit amid the data of a message");
  start(flit);
  flit.kind = FlitKind::kControl;
  for (unsigned i = 0; i < flit.slots; ++i) flit.slot[i] = {SlotKind::kEmpty, 0};
  flit.count(SlotKind::kEmpty) = flit.slots;
  if (unchecked_flits_ > 0) mac_due_ = true;
  unchecked_flits_ = 0;
  last_group_ = 0;
  if (!place_mac(flit) && packing_.mode == FlitMode::k68B) {
    flit.slot[0].kind = SlotKind::kControl;
    ++flit.count(SlotKind::kControl);
  } else if (flit.count(SlotKind::kMac) == 0) {
    return;  // the credits of a 256B flit are outside its slots
  }
  --flit.count(SlotKind::kEmpty);
}

void FlitPacker::start(Flit& flit) const {
  flit.mode = packing_.mode;
  flit.kind = FlitKind::kProtocol;
  flit.slots = static_cast<std::uint16_t>(geometry(packing_.mode).slots);
  flit.message_count = 0;
  flit.end_count = 0;
  flit.slots_of = {};
  flit.io_bytes = flit.io_begun = flit.io_ended = 0;
  flit.slot = kAllData;
}

/// Puts a MAC that is due into slot 0. True if it did.
bool FlitPacker::place_mac(Flit& flit) {
  if (!mac_due_) return false;
  mac_due_ = false;
  flit.slot[0] = {SlotKind::kMac, 0};
  ++flit.count(SlotKind::kMac);
  return true;
}

/// A flit that carries something joins the aggregation, whose MAC goes into the next header slot once it is
/// full.
void FlitPacker::count_for_mac(const Flit& flit) {
  if (flit.message_count == 0 && flit.count(SlotKind::kData) + flit.count(SlotKind::kTrailer) == 0) return;
  if (++unchecked_flits_ < packing_.mac_every) return;
  unchecked_flits_ = 0;
  mac_due_ = true;
}

/// Whose messages decide the format of a slot: the class with most messages waiting, so that queues of classes
/// that need each other (reads and writes of one window) drain in step, and classes of equal length in turn. But
/// every eighth time it is the next class in a round of all, whatever its length, so that none starves. Which time
/// is the eighth follows the golden ratio, which no pattern of slots and flits is in step with.
unsigned FlitPacker::lead_class(const Filling& filling, ClassNibbles ready) {
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
      const ClassNibbles waiting = in_round ? 1 : filling.left >> shift & 15U;
      if (waiting <= longest) continue;
      longest = waiting;
      lead = shift / 4;
    }
  }
  turn = lead + 1;
  return lead;
}

/// The classes of which a message can go, without those of data that could not fill the slot because of the rolling
/// counts although more of them wait: beside others, they give way, and have a slot of theirs a group later. That is
/// for PBR flits, where a slot takes two reads' data, and the largest count is three.
ClassNibbles FlitPacker::leaders(const Filling& filling, const SlotTables::ForSlot& table,
                                 ClassNibbles available) const {
  const ClassNibbles ready = nonzero_classes(available);
  constexpr ClassNibbles kSeveralASlot = kDataClasses ^ nibble_of(Channel::kM2SRwD, 1);
  const ClassNibbles several = ready & kSeveralASlot;
  if (packing_.mode != FlitMode::k256BPbr || several == 0 || (ready & (ready - 1)) == 0) return ready;
  const ClassNibbles fill = least(at_most_7(filling.left), table.most) & several * 15;
  const ClassNibbles first = ready & ~nonzero_classes(fill - least(available, fill));
  return first != 0 ? first : ready;
}

/// Fills a slot with messages of the classes in `allowed`, in the format with the leading class that carries most; of
/// two that carry as many, that with more of the leading class if a queue of it waits: in 68B, completions then go by
/// twos, which cost less (place_header_68b). False, and an empty slot, if no message can go.
bool FlitPacker::place_messages(Filling& filling, unsigned slot, SlotType type, ClassNibbles allowed) {
  const SlotTables::ForSlot& table = tables_->of(type);
  const ClassNibbles available = filling.available(allowed & table.classes);
  Flit& flit = filling.flit;
  if (available == 0) {
    flit.slot[slot] = {SlotKind::kEmpty, 0};
    ++flit.count(SlotKind::kEmpty);
    return false;
  }
  const unsigned lead = lead_class(filling, leaders(filling, table, available));
  const auto& candidates = table.of_class[lead];
  unsigned chosen = candidates[0];
  ClassNibbles counts = 0;
  unsigned most = 0;
  for (unsigned i = 0; i < table.format_count[lead]; ++i) {
    const SlotTables::Format& format = table.formats[candidates[i]];
    ClassNibbles fits = least(available, format.most);
    if (format.several_data) fits = without_single(filling, format.several, fits);
    const unsigned sum = sum_of(fits);
    const auto of_lead = [&](ClassNibbles all) { return all >> (lead * 4) & 15U; };
    if (sum < most || of_lead(fits) == 0) continue;
    if (sum == most && (of_lead(filling.left) < 3 || of_lead(fits) <= of_lead(counts))) continue;
    most = sum;
    chosen = candidates[i];
    counts = fits;
  }
  flit.slot[slot] = {SlotKind::kHeader, static_cast<std::uint8_t>(chosen)};
  ++flit.count(SlotKind::kHeader);
  const SlotTables::Format& format = table.formats[chosen];
  for (unsigned i = 0; i < format.part_count; ++i) {
    const Channel channel = format.parts[i];
    const unsigned count = nibble_at(counts, channel);
    if (count == 0) continue;
    if (is_data_class(channel)) place_data_headers(filling, slot, channel, count);
    else place_headers(filling, slot, channel, count);
  }
  return true;
}

/// 68B: what fits a slot for several data headers, which are of whole lines and two at least.
ClassNibbles FlitPacker::without_single(const Filling& filling, Channel channel, ClassNibbles fits) {
  const unsigned count = nibble_at(fits, channel);
  const unsigned whole = std::min(filling.whole_lines(channel), count);
  return fits - nibble_of(channel, whole < 2 ? count : count - whole);
}

void FlitPacker::place_headers(Filling& filling, unsigned slot, Channel channel, unsigned count) {
  Flit& flit = filling.flit;
  for (unsigned i = 0; i < count; ++i)
    flit.message[flit.message_count++] = {channel, static_cast<std::uint8_t>(slot), {0, false}};
  filling.take(channel, count);
}

void FlitPacker::place_data_headers(Filling& filling, unsigned slot, Channel channel, unsigned count) {
  Flit& flit = filling.flit;
  if (slot == 0 && count > 1) count = well_placed(filling, channel, count);
  const unsigned first = filling.taken(channel);
  for (unsigned i = 0; i < count; ++i) {
    const DataShape shape = filling.offer.data(channel, first + i);
    ensure(shape.chunks == 4 ||
               (shape.chunks == 2 && packing_.mode == FlitMode::k68B && channel != Channel::kM2SRwD),
           "data of a length that the flit format does not carry");
    flit.message[flit.message_count++] = {channel, static_cast<std::uint8_t>(slot), shape};
    push_transfer(shape);
  }
  filling.data_headers = true;
  filling.take(channel, count);
}

void FlitPacker::push_transfer(DataShape shape) {
  ensure(transfer_count_ < kMostTransfers, "more data under way than a flit format allows");
  transfers_[(first_transfer_ + transfer_count_++) % kMostTransfers] =
      static_cast<std::uint8_t>(shape.slots() | (shape.trailer ? kTrailerFlag : 0U));
  data_waiting_ += shape.slots();
}

/// Puts data under way into the slots from `slot` up to `end`, which start() has made data slots. Returns the
/// slot behind the last one used.
unsigned FlitPacker::place_data(Flit& flit, unsigned slot, unsigned end) {
  const unsigned stop = std::min(end, slot + data_waiting_);
  data_waiting_ -= stop - slot;
  unsigned trailers = 0;
  const unsigned begin = slot;
  while (slot < stop) {
    std::uint8_t& transfer = transfers_[first_transfer_];
    const unsigned left = transfer & kSlotsMask;
    const unsigned take = std::min(left, stop - slot);
    slot += take;
    if (take < left) {
      transfer = static_cast<std::uint8_t>(transfer - take);
      break;
    }
    if (transfer & kTrailerFlag) {
      flit.slot[slot - 1].kind = SlotKind::kTrailer;
      ++trailers;
    }
    flit.end[flit.end_count++] = static_cast<std::uint8_t>(slot - 1);
    first_transfer_ = (first_transfer_ + 1) % kMostTransfers;
    --transfer_count_;
  }
  flit.count(SlotKind::kData) =
      static_cast<std::uint16_t>(flit.count(SlotKind::kData) + stop - begin - trailers);
  flit.count(SlotKind::kTrailer) = static_cast<std::uint16_t>(flit.count(SlotKind::kTrailer) + trailers);
  return stop;
}

}  // namespace cxloom
