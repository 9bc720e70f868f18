// What both families of formats share: filling a slot with messages, and the data under way.
#include "protocol/flit_packer.hpp"

#include <bit>

#include "protocol/packer_filling.hpp"

namespace cxloom {

FlitPacker::FlitPacker(const FlitPacking& packing)
    : packing_(packing), tables_(&slot_tables(packing.mode, packing.zero_extended)) {}

void FlitPacker::pack(const Offer& offer, Flit& flit) {
  if (offer.empty() && !must_continue()) {
    pack_control(flit);
    return;
  }
  ensure((nonzero_classes(offer.counts_) & ~nonzero_classes(tables_->largest)) == 0,
         "messages of a class that the flit format does not have (CXL.io; BISnp and BIRsp in 68B)");
  start(flit);
  if (packing_.mode == FlitMode::k68B) pack_68b(offer, flit);
  else pack_256b(offer, flit);
  if (packing_.mac_every > 0) count_for_mac(flit);
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
  flit.slots = packing_.mode == FlitMode::k68B ? 4 : 15;
  flit.message_count = 0;
  flit.end_count = 0;
  flit.slots_of = {};
  flit.io_bytes = flit.io_begun = flit.io_ended = 0;
}

/// Puts a MAC that is due into slot 0. True if it did.
bool FlitPacker::place_mac(Flit& flit) {
  if (!mac_due_) return false;
  mac_due_ = false;
  flit.slot[0] = {SlotKind::kMac, 0};
  ++flit.count(SlotKind::kMac);
  return true;
}

/// A flit that carries something joins the aggregation, whose MAC goes into the next header slot once it is full.
void FlitPacker::count_for_mac(const Flit& flit) {
  if (flit.message_count == 0 && flit.count(SlotKind::kData) + flit.count(SlotKind::kTrailer) == 0) return;
  if (++unchecked_flits_ < packing_.mac_every) return;
  unchecked_flits_ = 0;
  mac_due_ = true;
}

/// Whose messages decide the format of a slot: the class with most messages waiting, so that queues of classes that need
/// each other (reads and writes of one window) drain in step; but every fourth time the next class in turn whatever its
/// length, so that none starves. Equal lengths take turns. Which time is the fourth follows the golden ratio, which no
/// pattern of slots and flits is in step with.
unsigned FlitPacker::lead_class(const Filling& filling, ClassNibbles ready) {
  if ((ready & (ready - 1)) == 0) return static_cast<unsigned>(std::countr_zero(ready)) / 4;
  constexpr std::uint32_t kGoldenRatio = 0x9E37'79B9;  // of 2^32
  constexpr std::uint32_t kFourth = std::uint32_t{1} << 30;
  beat_ += kGoldenRatio;
  const ClassNibbles from_turn = ready >> (turn_ * 4) << (turn_ * 4);
  unsigned lead = 0;
  unsigned longest = 0;
  for (ClassNibbles part : {from_turn, ready ^ from_turn}) {
    for (; part != 0; part &= part - 1) {
      const auto shift = static_cast<unsigned>(std::countr_zero(part));
      const unsigned waiting = filling.left >> shift & 15U;
      if (waiting <= longest) continue;
      longest = beat_ < kFourth ? Offer::kMost : waiting;
      lead = shift / 4;
    }
  }
  turn_ = lead + 1;
  return lead;
}

/// How many messages of this part of a format could go now.
unsigned FlitPacker::usable(const Filling& filling, const SlotFormat::Part& part) const {
  const unsigned room = std::min<unsigned>(filling.available(part.channel), part.most);
  if (room == 0 || packing_.mode != FlitMode::k68B || !is_data_class(part.channel)) return room;
  // 68B: one data header a flit, unless a multi-data header slot brings two or more whole lines.
  if (part.most == 1) return room;
  const unsigned whole = std::min(filling.whole_lines(part.channel), room);
  return whole < 2 ? 0 : whole;
}

/// Fills a slot with messages of the classes in `allowed`: a class whose turn it is, in the format that carries most.
/// False, and an empty slot, if no message can go.
bool FlitPacker::place_messages(Filling& filling, unsigned slot, SlotType type, ClassNibbles allowed) {
  const SlotTables::ForSlot& table = tables_->of(type);
  filling.allowed = allowed;
  const ClassNibbles ready = filling.ready() & table.classes;
  Flit& flit = filling.flit;
  if (ready == 0) {
    flit.slot[slot] = {SlotKind::kEmpty, 0};
    ++flit.count(SlotKind::kEmpty);
    return false;
  }
  const unsigned lead = lead_class(filling, ready);

  const auto& candidates = table.of_class[lead];
  unsigned chosen = candidates[0];
  std::array<unsigned, kMostPartsOfSlot> counts{};
  unsigned most = 0;
  for (unsigned i = 0; i < table.format_count[lead]; ++i) {
    const SlotFormat& format = table.formats[candidates[i]];
    std::array<unsigned, kMostPartsOfSlot> fits{};
    unsigned sum = 0;
    bool leads = false;
    for (std::size_t part = 0; part < kMostPartsOfSlot && format.parts[part].most > 0; ++part) {
      fits[part] = usable(filling, format.parts[part]);
      sum += fits[part];
      leads |= fits[part] > 0 && static_cast<unsigned>(format.parts[part].channel) == lead;
    }
    if (!leads || sum <= most) continue;
    most = sum;
    chosen = candidates[i];
    counts = fits;
  }
  flit.slot[slot] = {SlotKind::kHeader, static_cast<std::uint8_t>(chosen)};
  ++flit.count(SlotKind::kHeader);
  for (std::size_t part = 0; part < kMostPartsOfSlot; ++part) {
    if (counts[part] == 0) continue;
    const Channel channel = table.formats[chosen].parts[part].channel;
    if (slot == 0 && counts[part] > 1 && is_data_class(channel))
      counts[part] = well_placed(filling, channel, counts[part]);
    place_part(filling, slot, channel, counts[part]);
  }
  return true;
}

void FlitPacker::place_part(Filling& filling, unsigned slot, Channel channel, unsigned count) {
  Flit& flit = filling.flit;
  if (!is_data_class(channel)) {
    for (unsigned i = 0; i < count; ++i)
      flit.message[flit.message_count++] = {channel, static_cast<std::uint8_t>(slot), {0, false}};
  } else {
    for (unsigned i = 0; i < count; ++i) {
      const DataShape shape = filling.offer.data(channel, filling.taken(channel) + i);
      ensure(shape.chunks == 4 ||
                 (shape.chunks == 2 && packing_.mode == FlitMode::k68B && channel != Channel::kM2SRwD),
             "data of a length that the flit format does not carry");
      flit.message[flit.message_count++] = {channel, static_cast<std::uint8_t>(slot), shape};
      push_transfer(shape);
    }
    filling.data_headers = true;
  }
  filling.take(channel, count);
}

void FlitPacker::push_transfer(DataShape shape) {
  ensure(transfer_count_ < kMostTransfers, "more data under way than a flit format allows");
  transfers_[(first_transfer_ + transfer_count_++) % kMostTransfers] =
      static_cast<std::uint8_t>(shape.slots() | (shape.trailer ? kTrailerFlag : 0U));
  data_waiting_ += shape.slots();
}

/// Puts data under way into the slots from `slot` up to `end`. Returns the slot behind the last one used.
unsigned FlitPacker::place_data(Flit& flit, unsigned slot, unsigned end) {
  const unsigned stop = std::min(end, slot + data_waiting_);
  data_waiting_ -= stop - slot;
  unsigned trailers = 0;
  const unsigned begin = slot;
  while (slot < stop) {
    std::uint8_t& transfer = transfers_[first_transfer_];
    const unsigned left = transfer & kSlotsMask;
    const unsigned take = std::min(left, stop - slot);
    for (unsigned i = 0; i < take; ++i) flit.slot[slot + i] = {SlotKind::kData, 0};
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
      static_cast<std::uint8_t>(flit.count(SlotKind::kData) + stop - begin - trailers);
  flit.count(SlotKind::kTrailer) = static_cast<std::uint8_t>(flit.count(SlotKind::kTrailer) + trailers);
  return stop;
}

}  // namespace cxloom
