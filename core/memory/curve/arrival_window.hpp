// The bandwidth that is offered now, from the accesses that arrived last.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/units.hpp"

namespace cxloom {

/// Over the last n accesses: their bytes / the time in which they came. It is exact for a constant rate,
/// forgets an idle time once n accesses have followed it, and depends on nothing but the arrivals.
class ArrivalWindow {
 public:
  explicit ArrivalWindow(std::size_t accesses) : ring_(accesses) {}

  void add(Time at, std::uint64_t bytes, bool read) {
    now_ = at;
    if (!begun_) {  // the window begins with it
      begun_ = true;
      since_ = at;
      first_read_ = read;
      return;
    }
    if (count_ == ring_.size()) {
      const Arrival& oldest = ring_[next_];
      since_ = oldest.at;
      bytes_ -= oldest.bytes;
      read_bytes_ -= oldest.read ? oldest.bytes : 0;
    } else {
      ++count_;
    }
    ring_[next_] = {at, bytes, read};
    next_ = (next_ + 1) % ring_.size();
    bytes_ += bytes;
    read_bytes_ += read ? bytes : 0;
  }

  /// Share of reads in the bytes.
  double reads() const {
    if (bytes_ == 0) return first_read_ ? 1.0 : 0.0;
    return static_cast<double>(read_bytes_) / static_cast<double>(bytes_);
  }
  /// The offered bandwidth as a fraction of `capacity` (bytes per nanosecond), at most 1. As long as the
  /// window is not full, the accesses that are missing count as the time that they would take: k of n at once
  /// are k/n of the capacity.
  double load(double capacity) const {
    const double filled = static_cast<double>(count_) / static_cast<double>(ring_.size());
    const double time = (now_ - since_).ns() * capacity;
    const auto bytes = static_cast<double>(bytes_);
    return bytes < time * filled ? bytes / time : filled;
  }

 private:
  struct Arrival {
    Time at;
    std::uint64_t bytes = 0;
    bool read = false;
  };

  std::vector<Arrival> ring_;
  std::size_t next_ = 0;
  std::size_t count_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t read_bytes_ = 0;
  Time since_;  // the last arrival before the window
  Time now_;
  bool begun_ = false;
  bool first_read_ = false;
};

}  // namespace cxloom
