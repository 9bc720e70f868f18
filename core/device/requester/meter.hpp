// What a requester's requests did in the window: how many, how long they took, the bytes they moved, how many
// were in flight, and what its fences cost.
#pragma once

#include <cstdint>
#include <vector>

#include "base/measure.hpp"
#include "base/units.hpp"
#include "kernel/batch_means.hpp"
#include "kernel/distribution.hpp"
#include "kernel/windowed.hpp"
#include "protocol/request.hpp"

namespace cxloom {

class Kernel;

struct MeterCounts {
  std::uint64_t payload = 0;  ///< bytes
  std::uint64_t fences = 0;
  std::uint64_t poisoned = 0;
  Time fence_wait;
};

class RequesterMeter {
 public:
  explicit RequesterMeter(Kernel& kernel);

  void issued(Time now) { in_flight_.change(now, +1); }
  /// Inline, as every answer comes through it: the call and the registers that it saves are ten instructions.
  [[gnu::always_inline]] void completed(const Request& request, Time now) {
    in_flight_.change(now, -1);
    if (!in_window_.is_open()) return;
    if (request.failed) [[unlikely]] {
      counts_->poisoned += request.message.poisoned ? 1 : 0;
      return in_window_->errors.add(now - request.created());
    }
    in_window_->latency.add(now - request.created());
    if (in_window_->latency.count() == in_window_->batches.next()) [[unlikely]]
      in_window_->batches.close(in_window_->latency.sum_ps(), counts_->payload, now);
    counts_->payload += request.moved();
  }
  /// Bytes that a line of an access, a write-back or a prefetch has moved.
  void moved(std::uint64_t bytes) { counts_->payload += bytes; }
  /// An access behind a fence was issued, and nothing but the fence had held it up so long.
  void passed_fence(Time waited);

  /// The latencies of requests answered with data.
  const LatencyDistribution& latency() const { return in_window_->latency; }
  /// The latencies of requests answered without data.
  const LatencyDistribution& errors() const { return in_window_->errors; }
  const BatchMeans& batches() const { return in_window_->batches; }
  void report(MeasureSink& sink) const;
  static std::vector<MeasureInfo> measures();

 private:
  static constexpr std::size_t kBatches = 64;  // 2 KiB

  struct Entries {
    LatencyDistribution latency;
    BatchMeans batches{kBatches};  // of the latencies
    LatencyDistribution errors;
  };

  EntriesInWindow<Entries> in_window_;
  LevelMonitor in_flight_;
  Windowed<MeterCounts> counts_;
  bool fenced_ = false;  // some access so far was behind a fence
};

}  // namespace cxloom
