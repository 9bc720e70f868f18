// The measures of requests: all, of one kind, made by one requester, served by one memory, or of one I/O
// engine.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/measure_table.hpp"
#include "base/value.hpp"
#include "protocol/segment.hpp"
#include "results/collector.hpp"

namespace cxloom {

/// A distribution of latencies; null where there were no requests.
struct LatencyMeasured {
  Value mean;
  std::optional<Value> ci95;  ///< none: it is not kept here
  Value minimum;
  Value p50;
  Value p90;
  Value p99;
  Value p999;
  Value maximum;
  // None: they are not worked out here.
  std::optional<Value> p50_ci95;
  std::optional<Value> p90_ci95;
  std::optional<Value> p99_ci95;
  std::optional<Value> p999_ci95;
};

inline constexpr std::array kLatencyMeasures{
    measure<&LatencyMeasured::mean>("mean", "ns", "their mean"),
    measure<&LatencyMeasured::ci95>(
        "ci95", "ns",
        "the ends of the 95 % interval of the mean, by batch means; null where there are too few requests to "
        "decide"),
    measure<&LatencyMeasured::minimum>("min", "ns", "the least"),
    measure<&LatencyMeasured::p50>("p50", "ns", "median"),
    measure<&LatencyMeasured::p90>("p90", "ns", "90th percentile"),
    measure<&LatencyMeasured::p99>("p99", "ns", "99th percentile"),
    measure<&LatencyMeasured::p999>("p999", "ns", "percentile of 99.9 %"),
    measure<&LatencyMeasured::maximum>("max", "ns", "the greatest"),
    measure<&LatencyMeasured::p50_ci95>("p50_ci95", "ns", "the ends of the 95 % interval of p50, as ci95"),
    measure<&LatencyMeasured::p90_ci95>(
        "p90_ci95", "ns",
        "of p90; the upper end is null where the window has too few independent requests to bound it"),
    measure<&LatencyMeasured::p99_ci95>("p99_ci95", "ns", "of p99, as p90_ci95"),
    measure<&LatencyMeasured::p999_ci95>("p999_ci95", "ns", "of p999, as p90_ci95"),
};

/// Entries of a `breakdown_ns`: the segments, in the order in which people read them.
inline constexpr auto kBreakdownMeasures = [] {
  std::array<MeasureInfo, kSegmentCount> infos;
  for (std::size_t i = 0; i < kSegmentCount; ++i) {
    const SegmentInfo& segment = kSegments[static_cast<std::size_t>(kPathOrder[i])];
    infos[i] = {segment.name, "ns", segment.meaning};
  }
  return infos;
}();
inline constexpr MeasureParts kBreakdownParts{kBreakdownMeasures.data(), kBreakdownMeasures.size()};

/// Requests answered without data: a link was down, a part of the system had failed, or the memory belongs to
/// another host.
struct ErrorsMeasured {
  std::uint64_t requests = 0;
  Value latency;
};

inline constexpr std::array kErrorsMeasures{
    measure<&ErrorsMeasured::requests>("requests", "", "answered without data in the window"),
    measure<&ErrorsMeasured::latency>("latency_ns", "ns", "their latency", parts_of<kLatencyMeasures>()),
};

/// The first of them.
struct FirstErrorMeasured {
  Value address;
  Value requester;
  Value answered_by;
  double at = 0;
};

inline constexpr std::array kFirstErrorMeasures{
    measure<&FirstErrorMeasured::address>("address", "", "of its first byte, in the address map"),
    measure<&FirstErrorMeasured::requester>("requester", "", "who made it"),
    measure<&FirstErrorMeasured::answered_by>("answered_by", "", "the device that answered it"),
    measure<&FirstErrorMeasured::at>("at_ns", "ns", "when it was answered"),
};

/// All of them.
struct AllErrorsMeasured {
  std::uint64_t requests = 0;
  Value latency;
  std::optional<Value> first;
};

inline constexpr std::array kAllErrorsMeasures{
    measure<&AllErrorsMeasured::requests>("requests", "", "answered without data in the window"),
    measure<&AllErrorsMeasured::latency>("latency_ns", "ns", "their latency", parts_of<kLatencyMeasures>()),
    measure<&AllErrorsMeasured::first>("first", "", "the first of them. Absent where there were none",
                                       parts_of<kFirstErrorMeasures>()),
};

inline constexpr std::string_view kBandwidthInterval =
    "the ends of the 95 % interval of bandwidth_gb_per_s, by what batches of requests moved and the times "
    "they took; null where there are too few to decide";

/// Reads, writes, or atomic operations.
struct KindMeasured {
  std::uint64_t requests = 0;
  double bandwidth = 0;
  Value bandwidth_ci95;
  Value latency;
  Value breakdown;
  std::optional<Value> errors;
};

inline constexpr std::array kKindMeasures{
    measure<&KindMeasured::requests>("requests", "", "answered with data in the window"),
    measure<&KindMeasured::bandwidth>("bandwidth_gb_per_s", "GB/s",
                                      "payload bytes that they exchanged with memory / length of the window"),
    measure<&KindMeasured::bandwidth_ci95>("bandwidth_ci95", "GB/s", kBandwidthInterval),
    measure<&KindMeasured::latency>("latency_ns", "ns", "their latency", parts_of<kLatencyMeasures>()),
    measure<&KindMeasured::breakdown>("breakdown_ns", "ns", "mean of each segment of their latency",
                                      kBreakdownParts),
    measure<&KindMeasured::errors>("errors", "",
                                   "requests answered without data, apart. Absent where there were none",
                                   parts_of<kErrorsMeasures>()),
};

/// The latencies of the requests that crossed one number of links.
struct HopsMeasured {
  std::uint64_t requests = 0;
  double mean = 0;
  double minimum = 0;
  double maximum = 0;
};

inline constexpr std::array kHopsMeasures{
    measure<&HopsMeasured::requests>("requests", "", "answered with data in the window"),
    measure<&HopsMeasured::mean>("mean_ns", "ns", "their latency, mean"),
    measure<&HopsMeasured::minimum>("min_ns", "ns", "the least"),
    measure<&HopsMeasured::maximum>("max_ns", "ns", "the greatest"),
};

/// The measures of a requester besides its own.
struct RequesterMeasured {
  Value latency;
  std::optional<Value> errors;
};

inline constexpr std::array kRequesterMeasures{
    measure<&RequesterMeasured::latency>("latency_ns", "ns", "latency of its requests",
                                         parts_of<kLatencyMeasures>()),
    measure<&RequesterMeasured::errors>(
        "errors", "", "its requests answered without data, apart. Absent where there were none",
        parts_of<kErrorsMeasures>()),
};

/// The measures of a memory besides its own: the requests and write-backs that it served.
struct ServedMeasured {
  std::uint64_t requests = 0;
  std::uint64_t write_backs = 0;
  std::optional<std::uint64_t> prefetches;
  std::optional<std::uint64_t> drains;
  std::optional<std::uint64_t> copied_lines;
  std::uint64_t reads = 0;
  std::uint64_t writes = 0;
  std::optional<std::uint64_t> atomics;
  double bandwidth = 0;
  double read_bandwidth = 0;
  double write_bandwidth = 0;
  Value latency;
  Value breakdown;
  std::optional<Value> errors;
};

inline constexpr std::array kServedMeasures{
    measure<&ServedMeasured::requests>("requests", "",
                                       "requests that it served with data: not hits of a cache, misses that "
                                       "waited for the line of another, and what was answered without data"),
    measure<&ServedMeasured::write_backs>("write_backs", "", "dirty lines written back to it"),
    measure<&ServedMeasured::prefetches>(
        "prefetches", "",
        "lines that caches had asked it for ahead of their use. Absent where there were none"),
    measure<&ServedMeasured::drains>(
        "drains", "",
        "lines that persist buffers of switches wrote to it, or that it got as a further copy of a "
        "replicated region. Absent where there were none"),
    measure<&ServedMeasured::copied_lines>(
        "copied_lines", "",
        "lines that were read from it to make another copy of a replicated region anew. Absent where there "
        "were none"),
    measure<&ServedMeasured::reads>("reads", "",
                                    "of its accesses (requests, write-backs, prefetches, drains and copied "
                                    "lines), the reads; a miss reads a line"),
    measure<&ServedMeasured::writes>("writes", "", "of its accesses, the writes"),
    measure<&ServedMeasured::atomics>("atomics", "",
                                      "of its accesses, the atomic operations that it made, each of them "
                                      "neither a read nor a write of this "
                                      "count. Absent where there were none"),
    measure<&ServedMeasured::bandwidth>("bandwidth_gb_per_s", "GB/s",
                                        "payload bytes of its accesses / length of the window"),
    measure<&ServedMeasured::read_bandwidth>("read_gb_per_s", "GB/s",
                                             "bytes that its accesses read / length of the window"),
    measure<&ServedMeasured::write_bandwidth>("write_gb_per_s", "GB/s",
                                              "bytes that its accesses wrote / length of the window"),
    measure<&ServedMeasured::latency>("latency_ns", "ns", "latency of its requests",
                                      parts_of<kLatencyMeasures>()),
    measure<&ServedMeasured::breakdown>("breakdown_ns", "ns", "mean of each segment of their latency",
                                        kBreakdownParts),
    measure<&ServedMeasured::errors>("errors", "",
                                     "accesses of a line that it answered without data itself, apart. Absent "
                                     "where there were none",
                                     parts_of<kErrorsMeasures>()),
};

/// The measures of an I/O engine besides its own.
struct IoMeasured {
  Value latency;
  Value breakdown;
};

inline constexpr std::array kIoMeasures{
    measure<&IoMeasured::latency>("latency_ns", "ns", "latency of its packets", parts_of<kLatencyMeasures>()),
    measure<&IoMeasured::breakdown>("breakdown_ns", "ns", "mean of each segment of their latency",
                                    kBreakdownParts),
};

/// Bytes per nanosecond, which are GB/s; none in no time.
double rate(std::uint64_t bytes, double nanoseconds);
/// A mean; null over nothing.
Value mean_of(double sum, std::uint64_t count);
Value latency_of(const LatencyDistribution& latency);
/// The requests answered without data; none if there were none.
std::optional<Value> errors_of(const LatencyDistribution& errors);
/// With the interval of the mean, or a null where it is not known.
Value latency_of(const LatencyDistribution& latency, const BatchMeans& batches);
/// With those of percentiles besides.
Value latency_of_many(const LatencyDistribution& latency, const BatchMeans& batches);
/// So many independent ones would tell their mean as well.
double independent_requests(const LatencyDistribution& latency, const BatchMeans::Precision& precision);
/// The interval of a bandwidth of so many requests; null where it is not known.
Value bandwidth_interval(double bandwidth, std::uint64_t requests, const BatchMeans& batches);
/// `segments`: how many there are, with persist buffers' at their end.
Value breakdown_of(const SegmentSums::Sums& sums_ps, std::uint64_t requests, std::size_t segments);
Value kind_summary(const RequestStatistics& statistics, double length, std::size_t segments);
/// By the number of links that requests and their answers crossed.
Value hops_summary(const std::vector<HopStatistics>& by_hops);
/// Links crossed, mean; null over nothing.
Value mean_hops_of(const std::vector<HopStatistics>& by_hops);
/// Adds the measures of what a memory served.
void report_served(const MemoryStatistics& served, double length, std::size_t segments, MeasureSink& sink);

}  // namespace cxloom
