#include "results/request_measures.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace cxloom {

namespace {

LatencyMeasured measured(const LatencyDistribution& latency) {
  const auto known = [&](double value) { return latency.count() > 0 ? Value(value) : Value(); };
  return {.mean = known(latency.mean_ns()),
          .ci95 = {},
          .minimum = known(latency.minimum().ns()),
          .p50 = known(latency.quantile_ns(0.5)),
          .p90 = known(latency.quantile_ns(0.9)),
          .p99 = known(latency.quantile_ns(0.99)),
          .p999 = known(latency.quantile_ns(0.999)),
          .maximum = known(latency.maximum().ns())};
}

}  // namespace

double rate(std::uint64_t bytes, double nanoseconds) {
  return nanoseconds > 0.0 ? static_cast<double>(bytes) / nanoseconds : 0.0;
}

Value mean_of(double sum, std::uint64_t count) {
  return count > 0 ? Value(sum / static_cast<double>(count)) : Value();
}

Value latency_of(const LatencyDistribution& latency) { return map_of(kLatencyMeasures, measured(latency)); }

Value latency_of(const LatencyDistribution& latency, const BatchMeans& batches) {
  LatencyMeasured values = measured(latency);
  Value interval;
  if (const auto precision = batches.precision(latency.count())) {
    const double half_width = precision->half_width / 1000.0;
    interval = Value::List{std::max(0.0, latency.mean_ns() - half_width), latency.mean_ns() + half_width};
  }
  values.ci95 = std::move(interval);
  return map_of(kLatencyMeasures, values);
}

std::optional<Value> errors_of(const LatencyDistribution& errors) {
  if (errors.count() == 0) return std::nullopt;
  return map_of(kErrorsMeasures, {.requests = errors.count(), .latency = latency_of(errors)});
}

Value breakdown_of(const SegmentSums::Sums& sums_ps, std::uint64_t requests, std::size_t segments) {
  Value::Map breakdown;
  for (std::size_t i = 0; i < kSegmentCount; ++i) {
    const auto segment = static_cast<std::size_t>(kPathOrder[i]);
    if (segment >= segments) continue;
    breakdown.emplace_back(std::string(kBreakdownMeasures[i].name),
                           mean_of(static_cast<double>(sums_ps[segment]) / 1000.0, requests));
  }
  return breakdown;
}

Value kind_summary(const RequestStatistics& statistics, double length, std::size_t segments) {
  return map_of(kKindMeasures,
                {.requests = statistics.latency.count(),
                 .bandwidth = rate(statistics.payload, length),
                 .latency = latency_of(statistics.latency, statistics.batches),
                 .breakdown = breakdown_of(statistics.segment_sums_ps, statistics.latency.count(), segments),
                 .errors = errors_of(statistics.errors)});
}

Value hops_summary(const std::vector<HopStatistics>& by_hops) {
  Value::Map summary;
  for (std::size_t hops = 0; hops < by_hops.size(); ++hops) {
    const HopStatistics& all = by_hops[hops];
    if (all.count == 0) continue;
    const double mean = static_cast<double>(all.latency_sum_ps) / static_cast<double>(all.count) / 1000.0;
    summary.emplace_back(std::to_string(hops), map_of(kHopsMeasures, {.requests = all.count,
                                                                      .mean = mean,
                                                                      .minimum = all.minimum.ns(),
                                                                      .maximum = all.maximum.ns()}));
  }
  return summary;
}

Value mean_hops_of(const std::vector<HopStatistics>& by_hops) {
  std::uint64_t requests = 0;
  std::uint64_t sum = 0;
  for (std::size_t hops = 0; hops < by_hops.size(); ++hops) {
    requests += by_hops[hops].count;
    sum += by_hops[hops].count * hops;
  }
  return mean_of(static_cast<double>(sum), requests);
}

void report_served(const MemoryStatistics& served, double length, std::size_t segments, MeasureSink& sink) {
  report_all(kServedMeasures,
             {.requests = served.latency.count(),
              .write_backs = served.write_backs,
              .prefetches = served.prefetches > 0 ? std::optional(served.prefetches) : std::nullopt,
              .drains = served.drains > 0 ? std::optional(served.drains) : std::nullopt,
              .copied_lines = served.copied_lines > 0 ? std::optional(served.copied_lines) : std::nullopt,
              .reads = served.reads,
              .writes = served.accesses() - served.reads - served.atomics,
              .atomics = served.atomics > 0 ? std::optional(served.atomics) : std::nullopt,
              .bandwidth = rate(served.payload, length),
              .read_bandwidth = rate(served.read_payload, length),
              .write_bandwidth = rate(served.payload - served.read_payload - served.atomic_payload, length),
              .latency = latency_of(served.latency),
              .breakdown = breakdown_of(served.segment_sums_ps(), served.latency.count(), segments),
              .errors = errors_of(served.errors)},
             sink);
}

}  // namespace cxloom
