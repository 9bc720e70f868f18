// Takes in every request completed in the measured window: distributions, the mean of each segment, and on request a row
// for each.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "kernel/batch_means.hpp"
#include "kernel/distribution.hpp"
#include "protocol/request_observer.hpp"
#include "protocol/segment.hpp"

namespace cxloom {

/// Columns of the requests completed since they were last taken. All have the same length.
struct RequestTable {
  std::vector<std::uint64_t> id;
  std::vector<std::uint32_t> requester;  ///< node
  std::vector<std::uint32_t> target;     ///< node
  std::vector<std::uint32_t> thread;
  std::vector<std::uint16_t> hops;
  std::vector<std::uint64_t> address;
  std::vector<std::uint8_t> kind;  ///< 0 read, 1 write
  std::vector<std::uint16_t> size;
  std::vector<std::int64_t> created_ps;
  std::vector<std::int64_t> completed_ps;
  std::array<std::vector<std::int64_t>, kSegmentCount> segments_ps;

  std::size_t rows() const { return id.size(); }
};

/// The same measures of one kind of request, or of one device.
struct RequestStatistics {
  explicit RequestStatistics(unsigned precision = 7, std::size_t most_batches = 0)
      : latency(precision), batches(most_batches) {}
  LatencyDistribution latency;
  BatchMeans batches;         ///< of the latencies, as they completed
  std::uint64_t payload = 0;  ///< bytes exchanged with memory
  std::array<Wide, kSegmentCount> segment_sums_ps{};

  void add_latency(Time value) {
    latency.add(value);
    if (latency.count() == batches.next()) [[unlikely]]
      batches.close(latency.sum_ps());
  }
  void add(const Request& request, Time latency_of_request, std::uint64_t moved) {
    add_latency(latency_of_request);
    payload += moved;
    for (std::size_t i = 0; i < kSegmentCount; ++i) {
      segment_sums_ps[i] += static_cast<std::uint64_t>(request.account.segments[i].ps());
    }
  }
};

/// What one memory did for the requests and write-backs completed in the window.
struct MemoryStatistics : RequestStatistics {
  std::uint64_t reads = 0;  ///< of its accesses; a miss of a cache reads, whatever the request wants
  std::uint64_t read_payload = 0;
  std::uint64_t write_backs = 0;

  std::uint64_t accesses() const { return latency.count() + write_backs; }
};

class Collector final : public RequestObserver {
 public:
  explicit Collector(bool keep_requests) : keep_requests_(keep_requests) {}

  void measuring_begins(Time) override {}
  void work_ends(Time) override {}
  void completed(const Request& request, Time now) override;
  void line_completed(const Request& line, Time now) override;
  void written_back(NodeId requester, NodeId target, std::uint64_t bytes) override;
  std::optional<double> relative_error() const override;

  const RequestStatistics& all() const { return all_; }
  const RequestStatistics& reads() const { return reads_; }
  const RequestStatistics& writes() const { return writes_; }
  std::uint64_t write_backs() const { return write_backs_; }
  std::array<Wide, kSegmentCount> segment_sums_ps() const;
  /// What the memory at a node did.
  const MemoryStatistics& of_memory(NodeId node) const;
  /// Requests answered with an error: they moved nothing.
  std::uint64_t failed() const { return failed_; }
  std::uint64_t failed_write_backs() const { return failed_write_backs_; }
  std::uint64_t hops() const { return hops_; }
  RequestTable take_requests();

 private:
  static constexpr unsigned kPrecision = 10;    // percentiles of the whole run: to 0.1 %
  static constexpr std::size_t kBatches = 256;  // 4 KiB

  void count_at_memory(const Request& line, Time latency);
  MemoryStatistics& memory(NodeId node) {
    if (node.index() >= memories_.size()) memories_.resize(node.index() + 1);
    return memories_[node.index()];
  }
  void keep(const Request& request, Time now);

  bool keep_requests_;
  RequestStatistics all_{kPrecision, kBatches};  // its segments are those of reads and writes together
  RequestStatistics reads_{kPrecision, kBatches};
  RequestStatistics writes_{kPrecision, kBatches};
  std::vector<MemoryStatistics> memories_;  // by node
  std::uint64_t hops_ = 0;
  std::uint64_t failed_ = 0;
  std::uint64_t failed_write_backs_ = 0;
  std::uint64_t write_backs_ = 0;
  RequestTable table_;
};

}  // namespace cxloom
