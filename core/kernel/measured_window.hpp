// The measured window for counting in it: whether it is open, how long it was, and what opens and closes with
// it.
#pragma once

#include <cstdint>
#include <vector>

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

/// All that is opened and closed with the measured window of a simulation: `open(at)` and `close(at)`.
class MeasuredParts {
 public:
  /// They live as long as the simulation, stay where they are, and come once each, before it is opened: who
  /// comes later would count nothing. Throws InternalError for one that does.
  template <class... Parts>
  void add(Parts&... parts) {
    (add({&parts, &pass<Parts>}), ...);
  }
  /// Throws InternalError if a part was added twice.
  void open(Time at);
  void close(Time at) const;

 private:
  struct Part {
    void* part;
    void (*pass)(void* part, bool opens, Time at);
  };

  template <class Kind>
  static void pass(void* part, bool opens, Time at) {
    auto& own = *static_cast<Kind*>(part);
    opens ? own.open(at) : own.close(at);
  }
  void add(const Part& part);
  bool come_once_each() const;
  void pass_all(bool opens, Time at) const;

  std::vector<Part> parts_;
  bool opened_ = false;
};

class Kernel;

/// The parts of the simulation of this kernel.
MeasuredParts& measured_parts(Kernel& kernel);

}  // namespace cxloom
