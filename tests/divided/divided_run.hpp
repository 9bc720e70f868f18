// Plays a system in a queue of events for each of its partitions, in one thread: what a parallel run will do
// but for the threads, and the proof that its results do not depend on how the work is divided.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernel/measured_window.hpp"
#include "protocol/request_observer.hpp"
#include "system/model/partitions.hpp"
#include "system/model/system.hpp"
#include "system/run/livelock_watch.hpp"
#include "system/work/workload_builder.hpp"

namespace cxloom {

class Kernel;
struct KernelGroup;

/// Its measured window lies on the grid of the windows in which partitions are played, the only times at
/// which one may look at all of them: it opens at the first of these at which every requester is warm (or
/// `run.warmup_time` has passed), and closes at the first at which one has run out of work. CXL.io goes on to
/// the end.
class DividedRun final : private RequestObserver {
 public:
  /// One partition makes it a run in a single queue. `window`: at most the partitions' lookahead. `spec`,
  /// `registry` and `observer` outlive it. Throws InputError.
  DividedRun(const Registry& registry, const Spec& spec, const TraceOpener& open_trace,
             RequestObserver& observer, const Partitions& partitions, Time window);
  ~DividedRun() override;

  /// Plays window by window, each partition to the end of the window before any begins the next, until every
  /// request is answered. Throws SimulationError, with the diagnosis of a Simulation, if nothing more happens
  /// before that.
  void run();

  const System& system() const { return system_; }
  Time window_start() const { return window_.opened(); }
  Time window_end() const { return window_.closed(); }

 private:
  bool finished() const;
  bool idle() const;
  Time next_event_time();
  Time window_behind(Time at) const;
  void play_window();
  void play_until(Time end);
  void look_for_livelock();
  void move_window(Time now);
  void open_window(Time now);
  void close_window(Time now);
  [[noreturn]] void fail(const std::string& problem) const;

  void measuring_begins(Time /*now*/) override {}
  void work_ends(Time /*now*/) override {}
  void completed(const Request& request, Time now) override;
  void line_completed(const Request& line, Time now) override;
  void written_back(NodeId requester, NodeId target, std::uint64_t bytes) override;
  void prefetched(NodeId requester, NodeId target, std::uint64_t bytes) override;
  void drained(NodeId buffer, NodeId target, std::uint64_t bytes) override;

  const Spec& spec_;
  RequestObserver& observer_;
  std::unique_ptr<KernelGroup> group_;
  std::vector<std::unique_ptr<Kernel>> kernels_;
  Time grid_;
  System system_;
  WorkloadBuilder work_maker_;
  MeasuredWindow window_;
  Time now_;  // where all partitions are
  LivelockWatch livelock_watch_;
};

}  // namespace cxloom
