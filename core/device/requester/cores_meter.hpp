// The time of the threads of a requester's cores in the window, and the critical path to its end.
#pragma once

#include <vector>

#include "base/measure.hpp"
#include "device/requester/core_time.hpp"
#include "device/requester/critical_path.hpp"
#include "kernel/distribution.hpp"

namespace cxloom {

struct CoresInWindow;

class CoresMeter {
 public:
  /// The path to each of the threads, which goes on as they do.
  CriticalPath& path() { return path_; }
  /// `times`: of the threads up to now. `from_start`: no access has been made, and what was before counts.
  void open_window(Time at, bool from_start, std::vector<CoreTime> times);
  void close_window(Time at, std::vector<CoreTime> times);
  /// So many more fill buffers are taken.
  void fill_buffers(Time now, std::int32_t more) { fill_buffers_.change(now, more); }
  /// `cores` has the threads; which times they had is put in.
  void report(CoresInWindow cores, MeasureSink& sink) const;

 private:
  CriticalPath path_;
  LevelMonitor fill_buffers_;     // of all cores
  bool whole_ = false;            // the window began with the first access
  std::vector<CoreTime> opened_;  // of threads
  std::vector<CoreTime> closed_;
  PathUpTo longest_;  // of a window that is whole: the path to its end
};

}  // namespace cxloom
