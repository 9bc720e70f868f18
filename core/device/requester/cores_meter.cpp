#include "device/requester/cores_meter.hpp"

#include <algorithm>
#include <cstddef>

#include "device/requester/core_report.hpp"

namespace cxloom {

void CoresMeter::Reading::add(const Core& thread) {
  times.push_back(thread.time());
  waits.resize(std::max(waits.size(), thread.waits().size()));
  for (std::size_t i = 0; i < thread.waits().size(); ++i) waits[i] += thread.waits()[i];
}

namespace {

/// A count that does not open, or comes later, has in the window what it has had from the beginning.
template <class Counts>
void open_each(std::vector<CountsInWindow<Counts>>& windows, Time at, bool from_start,
               const std::vector<Counts>& all) {
  windows.assign(all.size(), {});
  for (std::size_t i = 0; !from_start && i < all.size(); ++i) windows[i].open(at, all[i]);
}

template <class Counts>
void close_each(std::vector<CountsInWindow<Counts>>& windows, Time at, const std::vector<Counts>& all) {
  windows.resize(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) windows[i].close(at, all[i]);
}

}  // namespace

void CoresMeter::open_window(Time at, bool from_start, const Reading& reading) {
  fill_buffers_.open(at);
  whole_ = from_start;
  open_each(threads_, at, from_start, reading.times);
  open_each(waits_, at, from_start, reading.waits);
}

void CoresMeter::close_window(Time at, const Reading& reading) {
  fill_buffers_.close(at);
  const std::vector<CoreTime>& times = reading.times;
  close_each(threads_, at, times);
  close_each(waits_, at, reading.waits);
  if (!whole_ || times.empty()) return;
  const auto longest = std::ranges::max_element(times, {}, &CoreTime::total);
  longest_ = path_.up_to(static_cast<std::uint32_t>(longest - times.begin()), *longest);
}

void CoresMeter::report(CoresInWindow cores, MeasureSink& sink) const {
  cores.threads.resize(threads_.size());  // others have come since
  const bool several = whole_ && threads_.size() > 1;
  const std::vector<Time> on_path = several ? path_.stays(longest_) : std::vector<Time>{};
  for (std::size_t i = 0; i < threads_.size(); ++i) {
    ThreadInWindow& thread = cores.threads[i];
    thread.time = threads_[i].closed_window();
    if (i < on_path.size()) thread.on_path = on_path[i];
  }
  for (const auto& each : waits_) cores.waits.push_back(each.closed_window());
  if (several) cores.path = longest_.time;
  if (cores.has_fill_buffers) cores.fill_buffers = fill_buffers_.mean();
  report_cores(cores, sink);
}

}  // namespace cxloom
