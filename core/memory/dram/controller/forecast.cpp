#include "memory/dram/controller/forecast.hpp"

#include <algorithm>

namespace cxloom {

[[gnu::hot]] Clock DramForecast::done_waiting(Clock now, Clock under_way) const {
  Clock bound = under_way;
  if (under_way > now + the_.arrivals.least(hit_)) bound = std::min(bound, reads_waiting(now, under_way));
  if (!the_.config.posted_writes || !the_.arrivals.empty(true)) bound = std::min(bound, write_done(now));
  return std::min(bound, kNeverClock);  // clocks after never are no later
}

[[gnu::hot]] Clock DramForecast::reads_waiting(Clock now, Clock under_way) const {
  Clock bound = kNeverClock;
  const Clock command = read_command(now);
  if (under_way == kNeverClock && the_.queue.count(false) != 0)  // otherwise it comes after that
    bound = command + hit_;
  if (!the_.arrivals.empty(false)) {
    const bool room = the_.queue.count(false) < the_.config.read_queue;
    bound = std::min(bound, the_.arrivals.read_bound(room ? now : command, hit_));
  }
  return bound;
}

[[gnu::hot]] Clock DramForecast::write_done(Clock now) const {
  const Clock ready = std::max(now, the_.arrivals.ready(true));
  if (!the_.config.posted_writes) {
    return the_.queue.count(true) != 0 ? next_command(now) + write_
           : the_.arrivals.empty(true) ? kNeverClock
                                       : ready + write_;
  }
  if (the_.write_places.room()) return ready;
  const Clock free = the_.write_places.next_free();
  return std::max(ready, free == kNeverClock ? next_command(now) + write_ : free);
}

// Where the scheduler picks nothing, that changes when it is due, with a refresh, which closes rows, and with
// what arrives.
Clock DramForecast::next_command(Clock now) const {
  const bool waits = holds_back_ && the_.refresher.draining() == 0 && !the_.candidates.any(false) &&
                     !the_.candidates.any(true);
  return waits ? std::max(now, std::min(the_.scheduler.due(), the_.refresher.due())) : now;
}

// No read command goes out before this clock.
[[gnu::hot]] Clock DramForecast::read_command(Clock now) const {
  const DramTiming& timing = the_.config.device.timing;
  if (the_.refresher.draining() != 0) return now;
  if (holds_back_) return next_command(now);  // it may change its mind after each
  if (the_.direction.writing()) {             // but for rows that were opened for a read
    const std::uint32_t writes = the_.direction.writes_before_reads(the_.queue.count(true));
    Clock bound = now + ((std::max(writes, 1U) - 1) >> several_at_once_) * timing.tCCD_S;
    for (const std::uint32_t bank : the_.unused.banks(false))
      bound = std::min(bound, the_.candidates.of(bank, false, now).at);
    return bound;
  }
  Clock bound = kNeverClock;
  if (!within_banks_) {  // it may change its mind when it is due, and for writes that go
    bound = the_.scheduler.due();
    for (const std::uint32_t bank : the_.unused.banks(true))
      bound = std::min(bound, the_.candidates.of(bank, true, now).at);
  }
  return the_.candidates.first_with_rest(false, now, bound, [&](DramStep step) { return rest(step); });
}

}  // namespace cxloom
