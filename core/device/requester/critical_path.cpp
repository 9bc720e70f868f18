#include "device/requester/critical_path.hpp"

#include "base/error.hpp"

namespace cxloom {

PathUpTo CriticalPath::up_to(std::uint32_t thread, const CoreTime& own) const {
  if (thread >= threads_.size() || threads_[thread].stay == kNone) return {own, thread, kNone};
  const Thread& found = threads_[thread];
  PathUpTo path{own, thread, found.stay};
  path.time -= found.from;
  path.time += found.before;
  return path;
}

void CriticalPath::goes_on(std::uint32_t thread, const CoreTime& own, const PathUpTo& by) {
  ensure(by.time.total <= own.total, "a thread that went on before it was let");
  if (thread >= threads_.size()) threads_.resize(thread + 1);
  Thread& found = threads_[thread];
  found.before = by.time;
  found.before.idle += own.total - by.time.total;
  found.before.total = own.total;
  found.from = own;
  found.stay = static_cast<std::uint32_t>(stays_.size());
  stays_.push_back({by.time.total, by.thread, by.stay});
}

std::vector<Time> CriticalPath::stays(const PathUpTo& path) const {
  std::vector<Time> result;
  Time until = path.time.total;
  const auto add = [&](std::uint32_t thread, Time from) {
    if (thread >= result.size()) result.resize(thread + 1);
    result[thread] += until - from;
    until = from;
  };
  std::uint32_t thread = path.thread;
  for (std::uint32_t stay = path.stay; stay != kNone; stay = stays_[stay].before) {
    add(thread, stays_[stay].from);
    thread = stays_[stay].by;
  }
  add(thread, Time{});
  return result;
}

}  // namespace cxloom
