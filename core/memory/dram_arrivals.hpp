// Bursts that are in no queue yet: in the future, or waiting outside for room. Reads and writes apart, each in their order.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/ring.hpp"
#include "memory/dram_queue.hpp"
#include "memory/dram_timers.hpp"

namespace cxloom {

class DramArrivals {
 public:
  struct Arrival {
    DramBurst burst;
    Clock ready;
    std::uint64_t order;
    Clock rest;  ///< it takes at least so long from then on
  };
  /// Clocks to answer a read from the write queue.
  static constexpr Clock kForwarding = 1;

  bool empty(bool write) const { return arrivals_[write].empty(); }
  const Arrival& front(bool write) const { return arrivals_[write].front(); }
  void push(const DramBurst& burst, Clock ready, Clock rest) {
    arrivals_[burst.write].push_back({burst, ready, order_++, rest});
    if (!burst.write && rest == kForwarding) ++forwardable_;
  }
  Arrival pop(bool write) {
    const Arrival arrival = arrivals_[write].front();
    arrivals_[write].pop_front();
    if (!write && arrival.rest == kForwarding) --forwardable_;
    return arrival;
  }

  /// No read here is done before this clock, if none is admitted before `room` and one that is not forwarded takes `hit`.
  Clock read_bound(Clock room, Clock hit) const {
    const Ring<Arrival>& reads = arrivals_[0];
    const std::size_t few = std::min<std::size_t>(reads.size(), 4);
    Clock bound = kNeverClock;
    for (std::size_t i = 0; i < few; ++i)
      bound = std::min(bound, std::max(room, reads[i].ready) + reads[i].rest);
    if (few == reads.size()) return bound;
    return std::min(bound, std::max(room, reads[few].ready) + (forwardable_ != 0 ? kForwarding : hit));
  }

 private:
  std::array<Ring<Arrival>, 2> arrivals_;
  std::uint32_t forwardable_ = 0;  ///< reads that a write may answer
  std::uint64_t order_ = 0;
};

}  // namespace cxloom
