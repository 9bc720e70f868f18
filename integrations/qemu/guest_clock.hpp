// The clock of a guest with several processors: while a program runs it goes by their instructions.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace cxloom::qemu {

/// A clock that goes by this computer's, or by itself. It never goes back. What this computer's shows is
/// given to it; all times are in nanoseconds.
class GuestClock {
 public:
  std::int64_t now(std::int64_t computer) {
    if (is_driven()) return latest_.load(std::memory_order_acquire);
    const std::int64_t time = computer + ahead_.load(std::memory_order_acquire);
    std::int64_t latest = latest_.load(std::memory_order_acquire);
    while (latest < time && !latest_.compare_exchange_weak(latest, time, std::memory_order_acq_rel)) {
    }
    return std::max(latest, time);
  }
  /// From now on it stands still, but for `pass`.
  void drive(std::int64_t computer) {
    now(computer);
    driven_.store(true, std::memory_order_release);
  }
  void pass(std::int64_t time) { latest_.fetch_add(time, std::memory_order_acq_rel); }
  /// From now on it goes on with this computer's, from where it is.
  void release(std::int64_t computer) {
    ahead_.store(latest_.load(std::memory_order_acquire) - computer, std::memory_order_release);
    driven_.store(false, std::memory_order_release);
  }
  bool is_driven() const { return driven_.load(std::memory_order_acquire); }

 private:
  std::atomic<std::int64_t> latest_{0};
  std::atomic<std::int64_t> ahead_{0};  // of this computer's
  std::atomic<bool> driven_{false};
};

/// How many processors have something to do; all have in the beginning.
class BusyProcessors {
 public:
  void begin(std::uint32_t processors) { count_.store(processors); }
  void rest() { count_.fetch_sub(1, std::memory_order_acq_rel); }
  void go_on() {
    count_.fetch_add(1, std::memory_order_acq_rel);
    goings_on_.fetch_add(1, std::memory_order_acq_rel);
  }
  std::uint32_t count() const { return count_.load(std::memory_order_acquire); }
  /// How often one of them has gone on.
  std::uint64_t goings_on() const { return goings_on_.load(std::memory_order_acquire); }

 private:
  std::atomic<std::uint32_t> count_{1};
  std::atomic<std::uint64_t> goings_on_{0};
};

}  // namespace cxloom::qemu
