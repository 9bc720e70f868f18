#include "interconnect/link/measures.hpp"

#include <string>
#include <utility>

#include "base/measure_table.hpp"
#include "base/value.hpp"
#include "interconnect/flit/monitor.hpp"
#include "interconnect/link/end.hpp"

namespace cxloom {

namespace {

struct ByteShares {
  Value data = {};
  Value headers = {};
  Value trailers = {};
  Value mac = {};
  Value empty = {};
  Value io = {};
  Value retry = {};
  Value overhead = {};
};

constexpr std::array kByteShares{
    measure<&ByteShares::data>("data", "", "data of messages"),
    measure<&ByteShares::headers>("headers", "", "header slots"),
    measure<&ByteShares::trailers>("trailers", "", "trailers"),
    measure<&ByteShares::mac>("mac", "", "MACs of IDE"),
    measure<&ByteShares::empty>("empty", "", "slots that carry nothing or link control"),
    measure<&ByteShares::io>("io", "", "CXL.io packets"),
    measure<&ByteShares::retry>("retry", "", "flits of link control, which retries send"),
    measure<&ByteShares::overhead>("overhead", "",
                                   "what is not slots: flit header, credits, CRC, FEC, what CXL.io leaves"),
};

struct FlitsMeasured {
  Value flits;
  Value slots;
  Value slots_by_class;
  Value messages_by_class;
  Value flits_by_fill;
  Value byte_shares;
  std::uint64_t io_bytes = 0;
  std::uint64_t errors = 0;
  double retry_share = 0;
};

constexpr std::array kFlitMeasures{
    measure<&FlitsMeasured::flits>("flits", "", "flits by kind; those of which there were none are left out"),
    measure<&FlitsMeasured::slots>("slots", "", "slots by use"),
    measure<&FlitsMeasured::slots_by_class>(
        "slots_by_class", "", "data and trailers, and of each header slot the share of its messages"),
    measure<&FlitsMeasured::messages_by_class>("messages_by_class", "", "headers, one for each line"),
    measure<&FlitsMeasured::flits_by_fill>("flits_by_fill", "",
                                           "flits by slots that are not empty: a list, from none on"),
    measure<&FlitsMeasured::byte_shares>(
        "byte_shares", "", "of the bytes of all flits; they sum to 1, or are null if there were none",
        parts_of<kByteShares>()),
    measure<&FlitsMeasured::io_bytes>("io_bytes", "", "bytes of CXL.io packets"),
    measure<&FlitsMeasured::errors>("errors", "", "flits corrupted beyond correction, each sent again"),
    measure<&FlitsMeasured::retry_share>("retry_share", "", "part of the window that retries took"),
};

struct LinkMeasured {
  double utilization = 0;
  std::optional<double> turnaround;
  Value efficiency = {};
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  double payload_rate = 0;
  double queue_mean = 0;
  double queue_p50 = 0;
  double queue_p99 = 0;
  double queue_max = 0;
  double credit_blocked = 0;
  Value credit_blocked_by_class;
  std::optional<Value> flits;
};

constexpr std::array kLinkMeasures{
    measure<&LinkMeasured::utilization>("utilization", "",
                                        "busy time of the wire in this direction / length of the window"),
    measure<&LinkMeasured::turnaround>(
        "turnaround", "",
        "time in which the wire that both directions share turned / length of the window: the same in both. "
        "Absent of full duplex"),
    measure<&LinkMeasured::efficiency>(
        "efficiency", "",
        "transmission efficiency: payload bytes / bytes on the wire; null if there were none"),
    measure<&LinkMeasured::messages>("messages", "", "messages whose last byte left in the window"),
    measure<&LinkMeasured::bytes>("bytes", "", "bytes on the wire"),
    measure<&LinkMeasured::payload_rate>("payload_gb_per_s", "GB/s", "payload bytes / length of the window"),
    measure<&LinkMeasured::queue_mean>("queue_mean", "", "messages waiting for the wire, mean over time"),
    measure<&LinkMeasured::queue_p50>("queue_p50", "", "messages waiting for the wire, median over time"),
    measure<&LinkMeasured::queue_p99>("queue_p99", "",
                                      "messages waiting for the wire, 99th percentile over time"),
    measure<&LinkMeasured::queue_max>("queue_max", "", "messages waiting for the wire, largest number"),
    measure<&LinkMeasured::credit_blocked>(
        "credit_blocked_ns", "ns", "time in which something waited for credits, summed over the classes"),
    measure<&LinkMeasured::credit_blocked_by_class>(
        "credit_blocked_ns_by_class", "ns",
        "time in which a class had messages and no credit, by class; classes without such time are left out"),
    measure<&LinkMeasured::flits>("flits", "", "of a link of flits, these, their slots and errors",
                                  parts_of<kFlitMeasures>()),
};

template <class Counts, class Names>
Value table_of(const Names& names, const Counts& counts) {
  Value::Map table;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (counts[i] != 0) table.emplace_back(std::string(names[i]), static_cast<double>(counts[i]));
  }
  return table;
}

// The shares that each use has of the bytes of all flits; they sum to 1. Data and trailers take 16 B per
// slot. Header slots are a little shorter: the other uses share the rest of the slots' bytes by their slots.
Value byte_shares_of(const FlitTotals& totals, FlitMode mode) {
  const FlitGeometry& flit = geometry(mode);
  const auto slots_of = [&](SlotKind kind) {
    return static_cast<double>(totals.slots[static_cast<std::size_t>(kind)]);
  };
  const auto flits_of = [&](FlitKind kind) {
    return static_cast<double>(totals.flits[static_cast<std::size_t>(kind)]);
  };
  double slots = 0.0;
  for (const std::uint64_t each : totals.slots) slots += static_cast<double>(each);
  double flits = 0.0;
  for (const std::uint64_t each : totals.flits) flits += static_cast<double>(each);
  const double with_slots = slots / flit.slots;
  const double data = kChunkBytes * slots_of(SlotKind::kData);
  const double trailers = kChunkBytes * slots_of(SlotKind::kTrailer);
  const double others = slots - slots_of(SlotKind::kData) - slots_of(SlotKind::kTrailer);
  const double of_other = others > 0.0 ? (with_slots * flit.slot_bytes - data - trailers) / others : 0.0;
  const double all = flits * flit.bytes;
  const auto io = static_cast<double>(totals.io_bytes);
  const double retry = (flits - with_slots - flits_of(FlitKind::kIo)) * flit.bytes;
  const double overhead = all - with_slots * flit.slot_bytes - io - retry;
  const auto share = [&](double bytes) { return mean_value(bytes, all); };
  return map_of(kByteShares,
                {.data = share(data),
                 .headers = share(of_other * slots_of(SlotKind::kHeader)),
                 .trailers = share(trailers),
                 .mac = share(of_other * slots_of(SlotKind::kMac)),
                 .empty = share(of_other * (slots_of(SlotKind::kEmpty) + slots_of(SlotKind::kControl))),
                 .io = share(io),
                 .retry = share(retry),
                 .overhead = share(overhead)});
}

Value flits_of(const FlitMonitor& flits, double length) {
  const FlitTotals totals = flits.totals();
  constexpr std::array<std::string_view, 4> kFlitKinds{"protocol", "all-data", "io", "control"};
  Value::List fill;
  for (const std::uint64_t each : totals.fill) fill.emplace_back(number(each));
  return map_of(kFlitMeasures, {.flits = table_of(kFlitKinds, totals.flits),
                                .slots = table_of(kSlotKindNames, totals.slots),
                                .slots_by_class = table_of(kChannelNames, totals.slots_of_class),
                                .messages_by_class = table_of(kChannelNames, totals.messages),
                                .flits_by_fill = std::move(fill),
                                .byte_shares = byte_shares_of(totals, flits.mode()),
                                .io_bytes = totals.io_bytes,
                                .errors = totals.errors,
                                .retry_share = length > 0.0 ? totals.retry_time.ns() / length : 0.0});
}

}  // namespace

std::vector<MeasureInfo> link_measures() { return infos_of(kLinkMeasures); }

void report_link(const LinkEnd& end, bool shared, double length, MeasureSink& sink) {
  const WireTotals totals = end.monitor().closed_totals();
  const LevelMonitor& queue = end.monitor().queue();
  Value::Map blocked;
  for (std::size_t i = 0; i < kChannelCount; ++i) {
    const Time time = end.credit_blocked(static_cast<Channel>(i));
    if (time > Time{}) blocked.emplace_back(std::string(kChannelNames[i]), time.ns());
  }
  std::optional<Value> flits;
  if (const FlitMonitor* monitor = end.flits()) flits = flits_of(*monitor, length);
  const auto share = [&](double part) { return length > 0.0 ? part / length : 0.0; };
  std::optional<double> turnaround;
  if (shared) turnaround = end.turns() ? share(end.turns()->closed_totals().busy.ns()) : 0.0;
  report_all(kLinkMeasures,
             {.utilization = share(totals.busy.ns()),
              .turnaround = turnaround,
              .efficiency = totals.efficiency(),
              .messages = totals.messages,
              .bytes = totals.bytes,
              .payload_rate = share(static_cast<double>(totals.payload)),
              .queue_mean = queue.mean(),
              .queue_p50 = queue.quantile(0.5),
              .queue_p99 = queue.quantile(0.99),
              .queue_max = queue.maximum(),
              .credit_blocked = end.total_credit_blocked().ns(),
              .credit_blocked_by_class = std::move(blocked),
              .flits = std::move(flits)},
             sink);
}

}  // namespace cxloom
