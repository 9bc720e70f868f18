#include "interconnect/flit/monitor.hpp"

#include "protocol/flit/isolated_flits.hpp"

namespace cxloom {
namespace {

/// Counts a flit so many times, its messages and their slots aside.
void count_slots(FlitCounts& counts, const Flit& flit, std::uint64_t times) {
  counts.flits[static_cast<std::size_t>(flit.kind)] += times;
  for (std::size_t i = 0; i < kSlotKindCount; ++i) counts.slots[i] += flit.slots_of[i] * times;
  counts.fill[flit.slots - flit.count(SlotKind::kEmpty)] += times;
}

}  // namespace

void FlitMonitor::count(const Flit& flit) {
  if (flit.kind == FlitKind::kIo) {
    ++counts_->flits[static_cast<std::size_t>(flit.kind)];
    counts_->io_bytes += flit.io_bytes;
    return;
  }
  count_slots(*counts_, flit, 1);
  // The messages of a slot lie side by side.
  for (std::size_t i = 0; i < flit.message_count;) {
    std::size_t end = i + 1;
    while (end < flit.message_count && flit.message[end].slot == flit.message[i].slot) ++end;
    const std::uint64_t share = kParts / (end - i);
    for (; i < end; ++i) {
      const auto channel = static_cast<std::size_t>(flit.message[i].channel);
      ++counts_->messages[channel];
      counts_->parts[channel] += share + kParts * flit.message[i].data.slots();
    }
  }
}

FlitTotals FlitMonitor::totals() const {
  const Counts counts = counts_.window();
  FlitTotals totals{static_cast<const FlitCounts&>(counts)};
  const auto& isolated = isolated_flits(packing_.mode, packing_.zero_extended);
  for (std::size_t i = 0; i < kChannelCount; ++i) {
    totals.slots_of_class[i] = static_cast<double>(counts.parts[i]) / static_cast<double>(kParts);
    totals.messages[i] += counts.isolated[i];
    for (std::size_t k = 0; k < isolated[i].count; ++k)
      count_slots(totals, isolated[i].flit[k], counts.isolated[i]);
  }
  return totals;
}

}  // namespace cxloom
