// The queue of events of a run, or the queues of its parts.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/units.hpp"
#include "kernel/kernel.hpp"
#include "system/model/system.hpp"
#include "system/run/divided_run.hpp"
#include "system/run/thread_division.hpp"

namespace cxloom {

class RunKernels {
 public:
  /// The system of `spec` is divided as is `given`, or if nothing is among `run.threads`; not if `observer`
  /// cannot be. Throws InputError for a spec of which no system can be built. Registry and spec outlive it.
  RunKernels(const Registry& registry, const Spec& spec, RequestObserver& observer,
             const ThreadDivision* given);

  /// The system, with these kernels.
  System build() const;
  /// That of what concerns the whole system: the only one, or the control of the parts.
  Kernel& main() const { return *main_; }
  /// Null: there is one queue.
  DividedRun* divided() const { return divided_.get(); }
  /// The kernels of parts, and the part of each node; empty: there is one queue.
  std::vector<const Kernel*> kernel_of_parts() const;
  std::vector<std::uint32_t> part_of_nodes() const;
  /// Why, if several threads were asked for.
  const std::string& undivided_because() const { return undivided_because_; }

  // As of a kernel.

  Time next_event_time() const {
    return divided_ ? divided_->kernels().next_event_time() : main_->next_event_time();
  }
  bool idle() const { return divided_ ? divided_->kernels().idle() : main_->idle(); }
  std::uint64_t events() const { return divided_ ? divided_->kernels().events() : main_->events(); }
  const EventHandler* failed() const { return divided_ ? divided_->kernels().failed() : main_->failed(); }
  /// A part that has run into so many events at one instant that it gave up; null: none has.
  const Kernel* stuck() const { return divided_ ? divided_->kernels().stuck() : nullptr; }
  void watch(EventWatcher* watcher) { divided_ ? divided_->watch(watcher) : main_->watch(watcher); }
  /// It may run some more events than `most`, if it is divided.
  std::uint64_t run(Time limit, std::uint64_t most, Time stop) {
    return divided_ ? divided_->run(limit, most, stop) : main_->run(limit, most, stop);
  }

 private:
  std::unique_ptr<DividedRun> divide(RequestObserver& observer, const ThreadDivision* given);

  const Registry& registry_;
  const Spec& spec_;
  std::string undivided_because_;
  std::unique_ptr<DividedRun> divided_;
  std::unique_ptr<Kernel> own_;  // none: it is divided
  Kernel* main_;
};

}  // namespace cxloom
