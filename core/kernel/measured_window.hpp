// The measured window for counting in it: whether it is open, and how long it was.
#pragma once

#include <cstdint>

#include "base/units.hpp"

namespace cxloom {

class MeasuredWindow {
 public:
  void open(Time at) {
    opened_ = at;
    state_ = State::kOpen;
  }
  void close(Time at) {
    closed_ = at;
    state_ = State::kAfter;
  }

  bool has_opened() const { return state_ != State::kBefore; }
  bool is_open() const { return state_ == State::kOpen; }
  Time opened() const { return opened_; }
  Time closed() const { return closed_; }
  /// Once it is closed; zero if there was none.
  Time length() const { return closed_ - opened_; }
  /// A rate per nanosecond from the `amount` over its length; zero for a window of no length.
  double per_ns(double amount) const { return length() > Time{} ? amount / length().ns() : 0.0; }
  /// The share of its length that `part` is; zero for a window of no length.
  double share(Time part) const { return per_ns(part.ns()); }

 private:
  enum class State : std::uint8_t { kBefore, kOpen, kAfter };

  Time opened_;
  Time closed_;
  State state_ = State::kBefore;
};

}  // namespace cxloom
