#include "memory/dram/queue/arrivals.hpp"

namespace cxloom {

DramArrival DramArrivals::pop_waiting(bool write, Clock now) {
  Ring<DramArrival>& coming = coming_[write];
  DramBacklog& backlog = backlogs_[write];
  for (; !coming.empty() && coming.front().ready <= now; coming.pop_front()) backlog.push(coming.front());
  const DramArrival arrival = backlog.pop();
  ready_[write] = coming.empty() ? kNeverClock : coming.front().ready;
  waits(write, !backlog.empty());
  if (!write && arrival.rest == kForwarding) --forwardable_;
  return arrival;
}

}  // namespace cxloom
