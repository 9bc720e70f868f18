#include "interconnect/flit/monitor.hpp"

#include "protocol/flit/isolated_flits.hpp"

namespace cxloom {
namespace {

/// Counts a flit so many times, its messages and their slots aside.
void count_slots(FlitTotals& totals, const Flit& flit, std::uint64_t times) {
  totals.flits[static_cast<std::size_t>(flit.kind)] += times;
  for (std::size_t i = 0; i < kSlotKindCount; ++i) totals.slots[i] += flit.slots_of[i] * times;
  totals.fill[flit.slots - flit.count(SlotKind::kEmpty)] += times;
}

}  // namespace

void FlitMonitor::add(const Flit& flit) {
  if (flit.kind == FlitKind::kIo) {
    ++totals_.flits[static_cast<std::size_t>(flit.kind)];
    totals_.io_bytes += flit.io_bytes;
    return;
  }
  count_slots(totals_, flit, 1);
  // The messages of a slot lie side by side.
  for (std::size_t i = 0; i < flit.message_count;) {
    std::size_t end = i + 1;
    while (end < flit.message_count && flit.message[end].slot == flit.message[i].slot) ++end;
    const std::uint64_t share = kParts / (end - i);
    for (; i < end; ++i) {
      const auto channel = static_cast<std::size_t>(flit.message[i].channel);
      ++totals_.messages[channel];
      of_class_[channel].parts += share + kParts * flit.message[i].data.slots();
    }
  }
}

void FlitMonitor::close() {
  if (!measuring_) return;
  measuring_ = false;
  const auto& isolated = isolated_flits(packing_.mode, packing_.zero_extended);
  for (std::size_t i = 0; i < kChannelCount; ++i) {
    const OfClass& own = of_class_[i];
    totals_.slots_of_class[i] = static_cast<double>(own.parts) / static_cast<double>(kParts);
    totals_.messages[i] += own.isolated;
    for (std::size_t k = 0; k < isolated[i].count; ++k)
      count_slots(totals_, isolated[i].flit[k], own.isolated);
  }
}

}  // namespace cxloom
