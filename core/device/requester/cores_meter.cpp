#include "device/requester/cores_meter.hpp"

#include <algorithm>
#include <utility>

#include "device/requester/core_report.hpp"

namespace cxloom {

void CoresMeter::open_window(Time at, bool from_start, std::vector<CoreTime> times) {
  fill_buffers_.open(at);
  whole_ = from_start;
  if (!from_start) opened_ = std::move(times);
}

void CoresMeter::close_window(Time at, std::vector<CoreTime> times) {
  fill_buffers_.close(at);
  closed_ = std::move(times);
  if (!whole_ || closed_.empty()) return;
  const auto longest = std::ranges::max_element(closed_, {}, &CoreTime::total);
  longest_ = path_.up_to(static_cast<std::uint32_t>(longest - closed_.begin()), *longest);
}

void CoresMeter::report(CoresInWindow cores, MeasureSink& sink) const {
  cores.threads.resize(closed_.size());  // others have come since
  const bool several = whole_ && closed_.size() > 1;
  const std::vector<Time> on_path = several ? path_.stays(longest_) : std::vector<Time>{};
  for (std::size_t i = 0; i < closed_.size(); ++i) {
    ThreadInWindow& thread = cores.threads[i];
    thread.time = closed_[i];
    if (i < opened_.size()) thread.time -= opened_[i];
    if (i < on_path.size()) thread.on_path = on_path[i];
  }
  if (several) cores.path = longest_.time;
  if (cores.has_fill_buffers) cores.fill_buffers = fill_buffers_.mean();
  report_cores(cores, sink);
}

}  // namespace cxloom
