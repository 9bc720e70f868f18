#include "device/requester/cores_meter.hpp"

#include <algorithm>
#include <utility>

#include "device/requester/core_report.hpp"

namespace cxloom {

void CoresMeter::Reading::add(const Core& thread) {
  times.push_back(thread.time());
  waits.resize(std::max(waits.size(), thread.waits().size()));
  for (std::size_t i = 0; i < thread.waits().size(); ++i) waits[i] += thread.waits()[i];
}

void CoresMeter::open_window(Time at, bool from_start, Reading reading) {
  fill_buffers_.open(at);
  whole_ = from_start;
  if (!from_start) opened_ = std::move(reading);
}

void CoresMeter::close_window(Time at, Reading reading) {
  fill_buffers_.close(at);
  closed_ = std::move(reading);
  const std::vector<CoreTime>& times = closed_.times;
  if (!whole_ || times.empty()) return;
  const auto longest = std::ranges::max_element(times, {}, &CoreTime::total);
  longest_ = path_.up_to(static_cast<std::uint32_t>(longest - times.begin()), *longest);
}

void CoresMeter::report(CoresInWindow cores, MeasureSink& sink) const {
  const std::vector<CoreTime>& times = closed_.times;
  cores.threads.resize(times.size());  // others have come since
  const bool several = whole_ && times.size() > 1;
  const std::vector<Time> on_path = several ? path_.stays(longest_) : std::vector<Time>{};
  for (std::size_t i = 0; i < times.size(); ++i) {
    ThreadInWindow& thread = cores.threads[i];
    thread.time = times[i];
    if (i < opened_.times.size()) thread.time -= opened_.times[i];
    if (i < on_path.size()) thread.on_path = on_path[i];
  }
  cores.waits = closed_.waits;
  for (std::size_t i = 0; i < opened_.waits.size(); ++i) cores.waits[i] -= opened_.waits[i];
  if (several) cores.path = longest_.time;
  if (cores.has_fill_buffers) cores.fill_buffers = fill_buffers_.mean();
  report_cores(cores, sink);
}

}  // namespace cxloom
