// Plays a system in a queue of events for each of its partitions, in one thread: what a parallel run will do but for the
// threads, and the proof that its results do not depend on how the work is divided.
#pragma once

#include <memory>
#include <vector>

#include "kernel/kernel.hpp"
#include "protocol/request_observer.hpp"
#include "system/partitions.hpp"
#include "system/system.hpp"
#include "system/work_maker.hpp"

namespace cxloom {

/// All requests of the workloads are measured, from time zero on; there is no warm-up, and CXL.io goes on to the end.
class DividedRun {
 public:
  /// One partition makes it a run in a single queue. `window`: at most the partitions' lookahead. Throws InputError.
  DividedRun(const Registry& registry, const Spec& spec, const TraceOpener& open_trace,
             RequestObserver& observer, const Partitions& partitions, Time window);

  /// Plays window by window, each partition to the end of the window before any begins the next, until every request is
  /// answered. Throws SimulationError if nothing more happens before that.
  void run();

  const System& system() const { return system_; }

 private:
  bool finished() const;
  Time next_event_time();

  KernelGroup group_;
  std::vector<std::unique_ptr<Kernel>> kernels_;
  Time window_;
  System system_;
  WorkMaker work_maker_;
};

}  // namespace cxloom
