// The requests that a requester has made and has had answered, of those that its work wants.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "workload/work.hpp"

namespace cxloom {

class RequestCount {
 public:
  void begin(const Work& work) {
    warmup_ = work.warmup;
    measured_ = work.requests;
    find_end();
  }
  void issue() { ++issued_; }
  /// It makes no more: what it has made is its warm-up, so that nobody waits for it.
  void end_warmup() { warmup_ = std::min(warmup_, issued_); }
  void complete() { ++completed_; }
  /// The warm-up is over: those that the work wants are the next.
  void begin_counting() {
    counting_ = true;
    issued_before_ = issued_;
    find_end();
  }
  /// The windows that open from now on are parts of the one that is open: the last one ends with the work as
  /// that would have.
  void divide_window() { divided_ = true; }
  /// A measured window opens; which of them it is does not matter to the work.
  void open_window() {
    if (divided_) return;
    issued_at_window_ = issued_;
    completed_at_window_ = completed_;
  }

  std::uint64_t issued() const { return issued_; }
  std::uint64_t completed() const { return completed_; }
  std::uint64_t in_flight() const { return issued_ - completed_; }
  bool warm() const { return issued_ >= warmup_; }
  /// The warm-up is over.
  bool counting() const { return counting_; }
  /// Before the requests that the work wants. Until these begin: those of the warm-up at least.
  std::uint64_t issued_before_window() const {
    return counting_ ? issued_before_ : std::max(issued_, warmup_);
  }
  /// As many as the work wants are made.
  bool enough() const { return issued_ >= enough_at_; }
  /// Since the window opened as many have been answered as were made: what is still on its way has the place
  /// of what was on its way then.
  bool even() const { return completed_ - completed_at_window_ >= issued_ - issued_at_window_; }

 private:
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};

  void find_end() {
    const bool ends = counting_ && measured_ && *measured_ < kNever - issued_before_;
    enough_at_ = ends ? issued_before_ + *measured_ : kNever;
  }

  std::uint64_t issued_ = 0;
  std::uint64_t enough_at_ = kNever;
  std::uint64_t completed_ = 0;
  std::uint64_t issued_before_ = 0;     // the warm-up was over
  std::uint64_t issued_at_window_ = 0;  // when it opened, the last time
  std::uint64_t completed_at_window_ = 0;
  std::uint64_t warmup_ = 0;
  std::optional<std::uint64_t> measured_;
  bool counting_ = false;
  bool divided_ = false;
};

}  // namespace cxloom
