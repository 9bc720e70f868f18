// Takes in every request completed in the measured window: distributions, the mean of each segment, and on
// request a row for each.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "base/columns.hpp"
#include "kernel/batch_means.hpp"
#include "kernel/distribution.hpp"
#include "protocol/request_observer.hpp"
#include "protocol/segment_sums.hpp"
#include "results/mix_windows.hpp"

namespace cxloom {

/// Columns of requests. All have the same length.
struct RequestTable {
  std::vector<std::uint64_t> id;
  std::vector<std::uint32_t> requester;  ///< node
  std::vector<std::uint32_t> target;     ///< node
  std::vector<std::uint32_t> thread;
  std::vector<std::uint16_t> hops;
  std::vector<std::uint64_t> address;
  std::vector<std::uint8_t> kind;  ///< AccessKind
  std::vector<std::uint16_t> size;
  std::vector<std::uint8_t> error;
  std::vector<std::int64_t> created_ps;
  std::vector<std::int64_t> completed_ps;
  std::array<std::vector<std::int64_t>, kSegmentCount> segments_ps;

  std::size_t rows() const { return id.size(); }
};

/// Behind them a column for each segment, "..._ps".
inline constexpr std::tuple kRequestColumns{
    column<&RequestTable::id>("id", "", "number among the requests of its requester, in the order of issue"),
    column<&RequestTable::requester>("requester", "", "device that made the request"),
    column<&RequestTable::target>("target", "", "device that answered it; of several lines the last"),
    column<&RequestTable::thread>("thread", "", "thread of the workload that made it"),
    column<&RequestTable::hops>("hops", "", "links that it and its answer crossed"),
    column<&RequestTable::address>("address", "", "first byte that it accesses"),
    column<&RequestTable::kind>("kind", "", "read, write, atomic or flush"),
    column<&RequestTable::size>("size", "B", "bytes that it accesses"),
    column<&RequestTable::error>("error", "", "whether it was answered without data"),
    column<&RequestTable::created_ps>("created_ps", "ps", "when it was made"),
    column<&RequestTable::completed_ps>("completed_ps", "ps", "when it was answered"),
};

/// Calls `act(column)` for each.
template <class Act>
void each_column(RequestTable& table, Act act) {
  each_column(table, kRequestColumns, [&](const MeasureInfo&, auto& values) { act(values); });
  for (auto& segment : table.segments_ps) act(segment);
}

/// The request that was the first to be answered without data.
struct FirstError {
  Address address;
  NodeId requester;
  NodeId answered_by;
  Time at;
};

/// Statistics of all requests, or of one kind. All but `errors` is of requests answered with data.
struct RequestStatistics {
  LatencyDistribution latency;
  BatchMeans batches;         ///< of the latencies, as they completed
  std::uint64_t payload = 0;  ///< bytes exchanged with memory
  SegmentSums::Sums segment_sums_ps{};
  LatencyDistribution errors{};  ///< latencies of requests answered without data
};

/// The work of one memory for requests and write-backs completed in the window.
struct MemoryStatistics {
  LatencyDistribution latency;
  LatencyDistribution errors;                   ///< of the accesses of a line that it answered without data
  std::array<SegmentSums, kAccessKinds> whole;  ///< accesses of one line, by kind
  SegmentSums lines;                            ///< of the accesses of several
  std::uint64_t payload = 0;
  std::uint64_t reads = 0;  ///< of its accesses; a miss of a cache reads, whatever the request wants
  std::uint64_t read_payload = 0;
  std::uint64_t atomics = 0;  ///< that it has made
  std::uint64_t atomic_payload = 0;
  std::uint64_t write_backs = 0;
  std::uint64_t prefetches = 0;
  std::uint64_t drains = 0;
  std::uint64_t copied_lines = 0;  ///< read to make copies anew

  std::uint64_t accesses() const {
    return latency.count() + write_backs + prefetches + drains + copied_lines;
  }
  SegmentSums::Sums segment_sums_ps() const;
  void merge(const MemoryStatistics& other);
};

/// Requests that crossed so many links, there and back.
struct HopStatistics {
  std::uint64_t count = 0;
  Wide latency_sum_ps = 0;
  Time minimum = Time::max();
  Time maximum;

  void add(Time latency) {
    ++count;
    latency_sum_ps += static_cast<std::uint64_t>(latency.ps());
    if (latency < minimum) minimum = latency;
    if (latency > maximum) maximum = latency;
  }
  void merge(const HopStatistics& other);
};

class Collector final : public RequestObserver {
 public:
  /// With a row for each request or not, and in windows of so many for the mix of reads and writes; 0: none.
  explicit Collector(bool keep_requests, std::uint64_t mix_windows = 0)
      : Collector(keep_requests, mix_windows, kBatches) {}

  void measuring_begins(Time) override {}
  void work_ends(Time) override {}
  void completed(const Request& request, Time now) override;
  void line_completed(const Request& line, Time now) override;
  void written_back(NodeId requester, NodeId target, std::uint64_t bytes) override;
  void prefetched(NodeId requester, NodeId target, std::uint64_t bytes) override;
  void drained(NodeId buffer, NodeId target, std::uint64_t bytes) override;
  void copied_from(NodeId source, std::uint64_t bytes) override;
  std::optional<double> relative_error() const override;

  std::unique_ptr<RequestObserver> divide() override;
  void completed_in_order(AccessKind kind, Time latency, std::uint64_t moved, Time now) override;
  void take_rows(std::span<RequestObserver* const> parts) override;
  void take_in(const RequestObserver& part) override;

  RequestStatistics all() const;
  RequestStatistics reads() const { return of_kind(AccessKind::kRead); }
  RequestStatistics writes() const { return of_kind(AccessKind::kWrite); }
  RequestStatistics atomics() const { return of_kind(AccessKind::kAtomic); }
  RequestStatistics flushes() const { return of_kind(AccessKind::kFlush); }
  std::uint64_t write_backs() const { return write_backs_; }
  /// The work of the memory at a node.
  const MemoryStatistics& of_memory(NodeId node) const;
  /// The first request answered without data.
  const std::optional<FirstError>& first_error() const { return first_error_; }
  std::uint64_t failed_write_backs() const { return failed_write_backs_; }
  /// Lines that came to caches ahead of their use.
  std::uint64_t prefetches() const { return prefetches_; }
  /// By the number of links.
  const std::vector<HopStatistics>& by_hops() const { return by_hops_; }
  const MixWindows& mix_windows() const { return mix_windows_; }
  /// Rows since the last call, by the time of completion, requester and id; rows from `before` on stay.
  RequestTable take_requests(Time before = Time::max());

 private:
  static constexpr unsigned kPrecision = 10;    // percentiles of the whole run: to 0.1 %
  static constexpr std::size_t kBatches = 256;  // 8 KiB

  /// The counts of one kind. Segments of requests are kept where these were served, and only others here.
  struct Kind {
    explicit Kind(std::size_t most_batches) : batches(most_batches) {}

    LatencyDistribution latency{kPrecision};
    BatchMeans batches;
    std::uint64_t payload = 0;
    std::uint64_t moved = 0;  // by the requests themselves
    SegmentSums elsewhere;
    LatencyDistribution errors{kPrecision};
  };

  /// The requests of one kind, or all, whose order is known.
  struct InOrder {
    std::uint64_t count = 0;
    Wide latency_sum_ps = 0;
    std::uint64_t moved = 0;
  };

  /// `batches`: 0 for a part, which does not know where batches begin.
  Collector(bool keep_requests, std::uint64_t mix_windows, std::size_t batches);

  void take_rows_of(Collector& part);

  static void count_in_order(InOrder& requests, BatchMeans& batches, Time latency, std::uint64_t moved,
                             Time now);
  std::uint64_t count_so_far() const;
  Kind& kind_of(const Request& request) { return kinds_[static_cast<std::size_t>(request.kind)]; }
  RequestStatistics of_kind(AccessKind kind) const;
  Wide latency_sum_ps() const;
  std::uint64_t moved() const;
  inline MemoryStatistics& count_at_memory(const Request& line, Time latency, std::uint64_t moved);
  MemoryStatistics& memory(NodeId node) {
    if (node.index() >= memory_room_) [[unlikely]]
      make_room_for_memories(node.index() + 1);
    return memories_[node.index()];
  }
  HopStatistics& hops(std::size_t count) {
    if (count >= hops_room_) [[unlikely]]
      make_room_for_hops(count + 1);
    return by_hops_[count];
  }
  // Apart, so that the path of every request saves no registers for them.
  void make_room_for_memories(std::size_t count);
  void make_room_for_hops(std::size_t count);
  void count_error(const Request& request, Time now);
  void keep(const Request& request, Time now);
  bool comes_before(std::size_t a, std::size_t b) const;

  bool keep_requests_;
  std::array<Kind, kAccessKinds> kinds_;
  std::uint64_t count_ = 0;  // of all requests answered with data
  // Requests of parts of a divided run: by kind, and of all. They are in `kinds_` once `take_in` has been
  // called.
  std::array<InOrder, kAccessKinds> kinds_in_order_{};
  InOrder in_order_;
  BatchMeans batches_;                      // of them
  std::vector<MemoryStatistics> memories_;  // by node
  std::vector<HopStatistics> by_hops_;
  // The sizes of these two: a vector divides for it.
  std::size_t memory_room_ = 0;
  std::size_t hops_room_ = 0;
  MixWindows mix_windows_;
  std::optional<FirstError> first_error_;
  std::uint64_t failed_write_backs_ = 0;
  std::uint64_t write_backs_ = 0;
  std::uint64_t prefetches_ = 0;
  RequestTable table_;
};

}  // namespace cxloom
