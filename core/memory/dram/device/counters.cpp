#include "memory/dram/device/counters.hpp"

namespace cxloom {

namespace {

// The members that add up.
template <class Action>
void for_each_sum(DramCounters& a, const DramCounters& b, Action action) {
  action(a.reads, b.reads);
  action(a.writes, b.writes);
  action(a.hits, b.hits);
  action(a.misses, b.misses);
  action(a.conflicts, b.conflicts);
  action(a.forwarded, b.forwarded);
  action(a.merged, b.merged);
  action(a.activates, b.activates);
  action(a.refreshes, b.refreshes);
  action(a.open, b.open);
  action(a.asleep_closed, b.asleep_closed);
  action(a.asleep_open, b.asleep_open);
  action(a.read_queue.integral, b.read_queue.integral);
  action(a.write_queue.integral, b.write_queue.integral);
}

}  // namespace

DramCounters DramCounters::since(const DramCounters& before) const {
  DramCounters result = *this;
  for_each_sum(result, before, [](auto& mine, const auto& other) { mine -= other; });
  return result;
}

DramCounters& DramCounters::operator+=(const DramCounters& other) {
  for_each_sum(*this, other, [](auto& mine, const auto& others) { mine += others; });
  read_queue.largest = std::max(read_queue.largest, other.read_queue.largest);
  write_queue.largest = std::max(write_queue.largest, other.write_queue.largest);
  return *this;
}

}  // namespace cxloom
