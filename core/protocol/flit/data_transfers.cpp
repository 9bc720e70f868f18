#include "protocol/flit/data_transfers.hpp"

#include <algorithm>

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

}  // namespace cxloom
