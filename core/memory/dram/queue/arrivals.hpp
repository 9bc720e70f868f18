// Bursts that are in no queue yet: in the future, or waiting outside for room. Reads and writes apart.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/ring.hpp"
#include "memory/dram/device/config.hpp"
#include "memory/dram/device/timers.hpp"
#include "memory/dram/queue/backlog.hpp"

namespace cxloom {

class DramArrivals {
 public:
  /// Clocks to answer a read from the write queue.
  static constexpr Clock kForwarding = 1;

  /// `in_order`: bursts are admitted in the order of their arrival, whatever their bank.
  DramArrivals(const DramConfig& config, bool in_order)
      : backlogs_{DramBacklog(config.read_queue), DramBacklog(config.write_queue)}, in_order_(in_order) {}

  bool empty(bool write) const { return ready_[write] == kNeverClock; }
  /// When the next is ready, of some that are or will be; kNeverClock: none is on its way.
  Clock ready(bool write) const { return ready_[write]; }
  /// Whether the next write came before the next read. What waits has come before what has not been looked
  /// at.
  bool write_first() const { return order(true) < order(false); }

  void push(const DramBurst& burst, Clock ready, Clock rest) {
    coming_[burst.write].push_back({burst, ready, order_++, rest});
    ready_[burst.write] = std::min(ready_[burst.write], ready);
    if (!burst.write && rest == kForwarding) ++forwardable_;
  }
  /// The place in the order of arrival of one that came another way.
  std::uint64_t next_order() { return order_++; }
  /// Takes the arrival to admit at `now`. `several`: others than its requester may have some here.
  DramArrival pop(bool write, Clock now, bool several) {
    const bool waited = ready_[write] < now && !in_order_;  // there was no room before
    if (waited && (several || !backlogs_[write].empty())) return pop_waiting(write, now);
    Ring<DramArrival>& coming = coming_[write];
    const DramArrival arrival = coming.front();
    coming.pop_front();
    ready_[write] = coming.empty() ? kNeverClock : coming.front().ready;
    if (waited) waits(write, ready_[write] <= now);
    if (!write && arrival.rest == kForwarding) --forwardable_;
    return arrival;
  }
  /// It came into the queue.
  void queued(const DramBurst& burst) { backlogs_[burst.write].entered(burst.requester); }
  /// It is through without a place there: a write that waits answers it, or takes it in.
  void needs_no_place(const DramBurst& burst) { backlogs_[burst.write].needs_no_place(burst.requester); }
  /// It left the queue.
  void left(const DramBurst& burst) { backlogs_[burst.write].left(burst.requester); }

  /// A read here takes at least so long from when it is admitted, if one that is not forwarded takes `hit`.
  Clock least(Clock hit) const { return forwardable_ != 0 ? kForwarding : hit; }
  /// No read here is done before this clock, if none is admitted before `room` and one that is not forwarded
  /// takes `hit`.
  Clock read_bound(Clock room, Clock hit) const {
    const Clock least = this->least(hit);
    if (waits_[0]) return room + least;
    const Ring<DramArrival>& reads = coming_[0];
    const std::size_t few = std::min<std::size_t>(reads.size(), 4);
    Clock bound = kNeverClock;
    for (std::size_t i = 0; i < few; ++i)
      bound = std::min(bound, std::max(room, reads[i].ready) + reads[i].rest);
    return few == reads.size() ? bound : std::min(bound, std::max(room, reads[few].ready) + least);
  }

 private:
  void waits(bool write, bool some) {
    waits_[write] = some;
    if (some) ready_[write] = 0;
  }
  std::uint64_t order(bool write) const {
    return waits_[write] || coming_[write].empty() ? 0 : coming_[write].front().order;
  }
  DramArrival pop_waiting(bool write, Clock now);

  std::array<Clock, 2> ready_{kNeverClock, kNeverClock};  ///< of the next; of one that waits 0
  std::array<bool, 2> waits_{};                           ///< some do, as they did when one was taken last
  std::array<Ring<DramArrival>, 2> coming_;               ///< in the order of arrival, some of them ready
  std::array<DramBacklog, 2> backlogs_;
  const bool in_order_;
  std::uint32_t forwardable_ = 0;  ///< reads that a write may answer
  std::uint64_t order_ = 0;
};

}  // namespace cxloom
