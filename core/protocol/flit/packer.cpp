#include "protocol/flit/packer.hpp"

#include <bit>

#include "base/error.hpp"
#include "protocol/flit/isolated_flits.hpp"
#include "protocol/flit/packer_256.hpp"

namespace cxloom {
namespace {

/// How long a class waits for company (docs/model/flit.md), in flits. In 68B, 256B-lo and 256B-pbr a slot
/// comes by in which the largest counts leave no room for data headers, and costs nothing: a class in another
/// slot wastes all of it. In 256B reads' data have no such slot, and the part that stays empty is wasted.
/// With so many flits the loss stays within half of the tolerance of the bounds there, by search.
ClassTurns::Patience patience_in(FlitMode mode) {
  const bool by_part = mode == FlitMode::k256B;
  return {.slots = (by_part ? 13 : 16) * geometry(mode).slots, .by_part = by_part};
}

constexpr auto kAllData = [] {
  std::array<Flit::Slot, kMostSlots> slots{};
  for (Flit::Slot& slot : slots) slot = {SlotKind::kData, 0};
  return slots;
}();

}  // namespace

FlitPacker::FlitPacker(const FlitPacking& packing)
    : packing_(packing),
      state_{.tables = &slot_tables(packing.mode, packing.zero_extended),
             .turns = ClassTurns(patience_in(packing.mode)),
             .data = {}} {
  if (packing.mac_every == 0) isolated_ = &isolated_flits(packing.mode, packing.zero_extended);
}

void FlitPacker::pack(const Offer& offer, Flit& flit) {
  if (offer.empty() && !must_continue()) {
    pack_control(flit);
    return;
  }
  if (is_isolated(offer)) {
    const IsolatedFlits& isolated =
        (*isolated_)[static_cast<std::size_t>(std::countr_zero(offer.counts())) / 4];
    if (isolated.count > 0) {
      pack_isolated(isolated, flit);
      return;
    }
  }
  ensure((nonzero_classes(offer.counts()) & ~nonzero_classes(state_.tables->largest)) == 0,
         "messages of a class that the flit format does not have (CXL.io; BISnp and BIRsp in 68B)");
  start(flit);
  if (all_data_due()) {
    flit.kind = FlitKind::kAllData;
    state_.data.place(flit, 0, flit.slots);
  } else {
    FlitFilling filling{.state = state_,
                        .offer = offer,
                        .flit = flit,
                        .left = offer.counts(),
                        .room = state_.tables->largest};
    const unsigned first = place_mac(flit) ? 1 : 0;
    if (packing_.mode == FlitMode::k68B) Packer68(filling).pack(first);
    else last_group_ = Packer256(filling, geometry(packing_.mode), last_group_).pack(first);
  }
  if (packing_.mac_every > 0) count_for_mac(flit);
}

/// One message of 64 B or without data, and nothing before it that its flit depends on.
bool FlitPacker::is_isolated(const Offer& offer) const {
  if (!offer.single() || !fresh()) return false;
  return offer.first_is_whole_line(static_cast<Channel>(std::countr_zero(offer.counts()) / 4));
}

void FlitPacker::pack_isolated(const IsolatedFlits& isolated, Flit& flit) {
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
  if (isolated.slots_left > 0) state_.data.push(isolated.slots_left, false);
}

void FlitPacker::pack_control(Flit& flit) {
  ensure(data_waiting() == 0, "a control flit amid the data of a message");
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

}  // namespace cxloom
