// The requests that a requester has made and has had answered, of those that its work wants.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "workload/stream/work.hpp"

namespace cxloom {

class RequestCount {
 public:
  void begin(const Work& work) {
    warmup_ = work.warmup;
    measured_ = work.requests;
  }
  void issue() { ++issued_; }
  void complete() { ++completed_; }
  void open_window() {
    counting_ = true;
    issued_before_ = issued_;
    completed_before_ = completed_;
  }

  std::uint64_t issued() const { return issued_; }
  std::uint64_t completed() const { return completed_; }
  std::uint64_t in_flight() const { return issued_ - completed_; }
  bool warm() const { return issued_ >= warmup_; }
  /// The window is open, or was.
  bool counting() const { return counting_; }
  /// Until the window opens: those of the warm-up at least.
  std::uint64_t issued_before_window() const {
    return counting_ ? issued_before_ : std::max(issued_, warmup_);
  }
  /// As many as the work wants are made.
  bool enough() const { return counting_ && measured_ && issued_ - issued_before_ >= *measured_; }
  /// Since the window opened as many have been answered as were made: what is still on its way has the place
  /// of what was on its way then.
  bool even() const { return completed_ - completed_before_ >= issued_ - issued_before_; }

 private:
  std::uint64_t issued_ = 0;
  std::uint64_t completed_ = 0;
  std::uint64_t issued_before_ = 0;  // the window
  std::uint64_t completed_before_ = 0;
  std::uint64_t warmup_ = 0;
  std::optional<std::uint64_t> measured_;
  bool counting_ = false;
};

}  // namespace cxloom
