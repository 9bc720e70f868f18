// The time of the threads of a requester's cores in the window, and the critical path to its end.
#pragma once

#include <vector>

#include "base/measure.hpp"
#include "base/units.hpp"
#include "device/requester/core.hpp"
#include "device/requester/core_time.hpp"
#include "device/requester/critical_path.hpp"
#include "kernel/distribution.hpp"
#include "kernel/windowed.hpp"

namespace cxloom {

struct CoresInWindow;

class CoresMeter {
 public:
  /// The path to each of the threads, which goes on as they do.
  CriticalPath& path() { return path_; }
  /// The threads up to now.
  struct Reading {
    std::vector<CoreTime> times;
    std::vector<Time> waits;  ///< of all, by the process of what they waited for

    void add(const Core& thread);
  };
  /// `from_start`: no access has been made, and what was before counts.
  void open_window(Time at, bool from_start, const Reading& reading);
  void close_window(Time at, const Reading& reading);
  /// So many more fill buffers are taken.
  void fill_buffers(Time now, std::int32_t more) { fill_buffers_.change(now, more); }
  /// `cores` has the threads; which times they had is put in.
  void report(CoresInWindow cores, MeasureSink& sink) const;

 private:
  CriticalPath path_;
  LevelMonitor fill_buffers_;  // of all cores
  bool whole_ = false;         // the window began with the first access
  std::vector<CountsInWindow<CoreTime>> threads_;
  std::vector<CountsInWindow<Time>> waits_;  // by process
  PathUpTo longest_;                         // of a window that is whole: the path to its end
};

}  // namespace cxloom
