#include "results/request_measures.hpp"

#include <algorithm>
#include <cmath>
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
          .maximum = known(latency.maximum().ns()),
          .p50_ci95 = {},
          .p90_ci95 = {},
          .p99_ci95 = {},
          .p999_ci95 = {}};
}

Value interval_of_mean(const LatencyDistribution& latency,
                       const std::optional<BatchMeans::Precision>& precision) {
  if (!precision) return {};
  const auto ends = BatchMeans::around(latency.mean_ns(), precision->half_width / 1000.0);
  return Value::List{ends.low, ends.high};
}

// A window in which requests depend on each other knows a share of them as well as one of fewer, independent
// ones, whose number is that with which their mean would be known as well. The ends of the share are
// percentiles, of ranks that are so much lower and higher (J. D. Gibbons and S. Chakraborti, Nonparametric
// Statistical Inference, ch. 5.2). In a closed loop the mean is known better than this by Little's law: no
// percentile is taken to be known better than the mean.
Value interval_of_percentile(const LatencyDistribution& latency, const BatchMeans::Precision& precision,
                             double independent, double share) {
  constexpr double kNormal = 1.959963984540054;
  const double value = latency.quantile_ns(share);
  const double away = kNormal * std::sqrt(share * (1.0 - share) / independent);
  const double mean = latency.mean_ns();
  const double factor = mean > 0.0 ? std::exp(precision.half_width / 1000.0 / mean) : 1.0;
  const double low = std::min(latency.quantile_ns(std::max(0.0, share - away)), value / factor);
  if (share + away >= 1.0) return Value::List{low, Value()};
  return Value::List{low, std::max(latency.quantile_ns(share + away), value * factor)};
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
  values.ci95 = interval_of_mean(latency, batches.precision(latency.count()));
  return map_of(kLatencyMeasures, values);
}

Value latency_of_many(const LatencyDistribution& latency, const BatchMeans& batches) {
  LatencyMeasured values = measured(latency);
  const auto precision = batches.precision(latency.count());
  values.ci95 = interval_of_mean(latency, precision);
  const double independent = precision ? independent_requests(latency, *precision) : 0.0;
  const auto interval = [&](double share) {
    return precision ? interval_of_percentile(latency, *precision, independent, share) : Value();
  };
  values.p50_ci95 = interval(0.5);
  values.p90_ci95 = interval(0.9);
  values.p99_ci95 = interval(0.99);
  values.p999_ci95 = interval(0.999);
  return map_of(kLatencyMeasures, values);
}

double independent_requests(const LatencyDistribution& latency, const BatchMeans::Precision& precision) {
  const auto count = static_cast<double>(latency.count());
  if (precision.most_variance <= 0.0) return count;
  return std::clamp(latency.variance() / precision.most_variance, 1.0, count);
}

Value bandwidth_interval(double bandwidth, std::uint64_t requests, const BatchMeans& batches) {
  const auto ends = batches.rate_interval(bandwidth, requests);
  return ends ? Value(Value::List{ends->low, ends->high}) : Value();
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
                 .bandwidth_ci95 = bandwidth_interval(rate(statistics.payload, length),
                                                      statistics.latency.count(), statistics.batches),
                 .latency = latency_of_many(statistics.latency, statistics.batches),
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
