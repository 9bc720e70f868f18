#include "interconnect/flit_monitor.hpp"

namespace cxloom {

void FlitMonitor::add(const Flit& flit) {
  ++totals_.flits[static_cast<std::size_t>(flit.kind)];
  if (flit.kind == FlitKind::kIo) {
    totals_.io_bytes += flit.io_bytes;
    return;
  }
  for (std::size_t i = 0; i < kSlotKindCount; ++i) totals_.slots[i] += flit.slots_of[i];
  ++totals_.fill[flit.slots - flit.count(SlotKind::kEmpty)];
  // The messages of a slot lie side by side.
  for (std::size_t i = 0; i < flit.message_count;) {
    std::size_t end = i + 1;
    while (end < flit.message_count && flit.message[end].slot == flit.message[i].slot) ++end;
    const double share = end - i == 1 ? 1.0 : 1.0 / static_cast<double>(end - i);
    for (; i < end; ++i) {
      const auto channel = static_cast<std::size_t>(flit.message[i].channel);
      ++totals_.messages[channel];
      totals_.slots_of_class[channel] += share + flit.message[i].data.slots();
    }
  }
}

}  // namespace cxloom
