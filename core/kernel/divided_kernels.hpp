// The kernels of a system that is divided into parts: window by window, side by side in threads or one event
// after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <vector>

#include "base/units.hpp"
#include "kernel/kernel.hpp"
#include "kernel/kernel_group.hpp"
#include "kernel/thread_team.hpp"

namespace cxloom {

/// Kernel 0 is the control, in which only acts what concerns all parts at a known time; the parts' follow.
///
/// What one part does has no effect in another before the `lookahead` has passed. So parts may run side by
/// side up to the end of a window of that length; what they send each other lies behind it.
class DividedKernels {
 public:
  /// The parts are played by so many `threads`, each of which has some of them. Throws InternalError without
  /// a part, or without a lookahead.
  DividedKernels(std::size_t parts, std::size_t threads, Time lookahead,
                 std::uint64_t counted_together = Kernel::kCountedTogether);
  DividedKernels(const DividedKernels&) = delete;
  DividedKernels& operator=(const DividedKernels&) = delete;

  std::size_t parts() const { return kernels_.size() - 1; }
  Kernel& control() { return *kernels_.front(); }
  const Kernel& control() const { return *kernels_.front(); }
  Kernel& part(std::size_t index) { return *kernels_[index + 1]; }
  const Kernel& part(std::size_t index) const { return *kernels_[index + 1]; }
  Time lookahead() const { return lookahead_; }

  /// Up to there everything has happened: the last event of a merged window, or the end of a window side by
  /// side.
  Time now() const { return now_; }
  /// Nothing happens before then.
  void move_to(Time now);
  /// Time::max(): nothing is pending.
  Time next_event_time();
  /// No event is pending that would bring the simulation forward.
  bool idle();
  std::uint64_t events() const;
  /// The events of a part.
  std::uint64_t events_of(std::size_t part) const { return kernels_[part + 1]->events(); }
  /// CPU time of the threads beside the one that calls, once they have been at work.
  double helpers_cpu_seconds() { return team_.cpu_seconds(); }
  const EventHandler* failed() const;

  /// Everything before `end` happens, which is no later than next_event_time() + lookahead(): parts of
  /// different threads at the same time. The control must have no event before `end`. The first thread that
  /// has nothing left to do calls `meanwhile`, while others may be at work. What a handler throws is thrown:
  /// of several that of the earliest instant.
  void run_side_by_side(Time end, const std::function<void()>& meanwhile = {});
  /// Plays all parts in one thread, in the order of a single kernel. Stops behind `max_events`, and when
  /// nothing is left that would bring the simulation forward. Returns whether everything before `end` has
  /// happened.
  bool run_merged(Time end, std::uint64_t max_events);

  /// Part that has run into so many events at one instant that it gave up, in the last window; null: none.
  const Kernel* stuck() const { return stuck_; }
  void watch(EventWatcher* watcher);

 private:
  /// As LivelockWatch::kMostAtOnce.
  static constexpr std::uint64_t kMostAtOnce = std::uint64_t{1} << 26U;

  void run_part(std::size_t index, Time end);
  void run_parts_of(std::size_t thread, Time end);
  bool all_idle() const;
  void take_what_came_between();
  void turn_pages();
  void take_in(std::size_t index);
  void take_in_all();
  bool settle_all();
  Kernel* next_kernel(Time at);
  Time top_time();

  KernelGroup group_;
  std::vector<std::unique_ptr<Kernel>> kernels_;
  std::vector<std::exception_ptr> thrown_;  // by part
  std::size_t threads_;
  Time lookahead_;
  Time now_;
  const Kernel* stuck_ = nullptr;
  bool sent_ = false;  // there may be something on the pages that were turned
  ThreadTeam team_;
};

}  // namespace cxloom
