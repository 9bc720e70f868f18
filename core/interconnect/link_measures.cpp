#include "interconnect/link_measures.hpp"

#include "base/measure_table.hpp"
#include "interconnect/link_end.hpp"

namespace cxloom {

namespace {

struct Measured {
  double utilization = 0;
  double efficiency = 0;
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  double payload_rate = 0;
  double queue_mean = 0;
  double queue_p50 = 0;
  double queue_p99 = 0;
  double queue_max = 0;
  double credit_blocked = 0;
};

constexpr std::array kMeasures{
    measure<&Measured::utilization>("utilization", "",
                                    "busy time of the wire in this direction / length of the window"),
    measure<&Measured::efficiency>("efficiency", "",
                                   "transmission efficiency: payload bytes / bytes on the wire"),
    measure<&Measured::messages>("messages", "", "messages whose last byte left in the window"),
    measure<&Measured::bytes>("bytes", "", "bytes on the wire"),
    measure<&Measured::payload_rate>("payload_gb_per_s", "GB/s", "payload bytes / length of the window"),
    measure<&Measured::queue_mean>("queue_mean", "", "messages waiting for the wire, mean over time"),
    measure<&Measured::queue_p50>("queue_p50", "", "the same, median over time"),
    measure<&Measured::queue_p99>("queue_p99", "", "the same, 99th percentile over time"),
    measure<&Measured::queue_max>("queue_max", "", "the same, largest number"),
    measure<&Measured::credit_blocked>("credit_blocked_ns", "ns",
                                       "time in which something waited for credits, summed over the classes"),
};

}  // namespace

std::vector<MeasureInfo> link_measures() {
  std::vector<MeasureInfo> all = infos_of(kMeasures);
  all.push_back(kCreditBlockedByClass);
  all.push_back(kLinkFlits);
  return all;
}

void report_link(const LinkEnd& end, double length, MeasureSink& sink) {
  const WireTotals& totals = end.monitor().closed_totals();
  const LevelMonitor& queue = end.monitor().queue();
  const auto share = [&](double part) { return length > 0.0 ? part / length : 0.0; };
  report_all(kMeasures,
             {.utilization = share(totals.busy.ns()),
              .efficiency = totals.efficiency(),
              .messages = totals.messages,
              .bytes = totals.bytes,
              .payload_rate = share(static_cast<double>(totals.payload)),
              .queue_mean = queue.mean(),
              .queue_p50 = queue.quantile(0.5),
              .queue_p99 = queue.quantile(0.99),
              .queue_max = queue.maximum(),
              .credit_blocked = end.total_credit_blocked().ns()},
             sink);
}

}  // namespace cxloom
