// The measures of the cores of a requester.
#include <algorithm>

#include "device/requester/core_cluster.hpp"
#include "device/requester/core_report.hpp"

namespace cxloom {

std::vector<CoreTime> CoreCluster::times() const {
  std::vector<CoreTime> times;
  for (const auto& thread : threads_) times.push_back(thread->core.time());
  return times;
}

void CoreCluster::open_window(bool from_start) {
  whole_ = from_start;
  if (!from_start) opened_ = times();
}

void CoreCluster::close_window() {
  closed_ = times();
  if (!whole_ || closed_.empty()) return;
  const auto longest = std::ranges::max_element(closed_, {}, &CoreTime::total);
  longest_ = path_.up_to(static_cast<std::uint32_t>(longest - closed_.begin()), *longest);
}

std::vector<MeasureInfo> CoreCluster::measures() { return core_measures(); }

void CoreCluster::report(MeasureSink& sink) const {
  CoresInWindow cores{.clock = params_.clock, .has_tlb = params_.tlb.has_value()};
  const bool several = whole_ && closed_.size() > 1;
  const std::vector<Time> on_path = several ? path_.stays(longest_) : std::vector<Time>{};
  for (std::size_t i = 0; i < closed_.size(); ++i) {
    ThreadInWindow thread{.number = threads_[i]->number, .begun = threads_[i]->begun, .time = closed_[i]};
    if (i < opened_.size()) thread.time -= opened_[i];
    if (i < on_path.size()) thread.on_path = on_path[i];
    cores.threads.push_back(thread);
  }
  if (several) cores.path = longest_.time;
  report_cores(cores, sink);
}

}  // namespace cxloom
