#include "divided/divided_run.hpp"
#include "kernel/kernel_group.hpp"
#include "system/build/system_builder.hpp"

#include <algorithm>

#include "component/component.hpp"
#include "device/requester/requester.hpp"
#include "device/switch/persist_buffer.hpp"
#include "device/switch/persist_domain.hpp"
#include "interconnect/link/end.hpp"
#include "kernel/kernel.hpp"
#include "system/kinds/registry.hpp"
#include "system/run/standstill.hpp"

namespace cxloom {

namespace {

using Kernels = std::vector<std::unique_ptr<Kernel>>;

Kernels make_kernels(KernelGroup& group, std::uint32_t count) {
  Kernels kernels;
  for (std::uint32_t i = 0; i < count; ++i) {
    kernels.push_back(std::make_unique<Kernel>(group));
    kernels.back()->stay_awake(true);  // what goes on in the background goes on while others are at work
  }
  return kernels;
}

std::vector<Kernel*> by_node(const Kernels& kernels, const Partitions& partitions) {
  std::vector<Kernel*> nodes;
  for (const std::uint32_t partition : partitions.of_node) nodes.push_back(kernels[partition].get());
  return nodes;
}

}  // namespace

DividedRun::DividedRun(const Registry& registry, const Spec& spec, const TraceOpener& open_trace,
                       RequestObserver& observer, const Partitions& partitions, Time window)
    : spec_(spec),
      observer_(observer),
      group_(std::make_unique<KernelGroup>()),
      kernels_(make_kernels(*group_, partitions.count)),
      grid_(window),
      system_(build_system(by_node(kernels_, partitions), registry, spec)),
      work_maker_(registry, spec, system_, open_trace),
      livelock_watch_(system_, spec.run) {
  ensure(window > Time{} && (!partitions.lookahead || window <= *partitions.lookahead),
         "a window in which partitions act on each other");
  if (!spec.events.empty()) {
    throw InputError(
        {"a divided run plays no events: they change what its parts share", {}, "one queue of events", {}},
        "events");
  }
  for (const Spec::Workload& workload : spec.workloads) {
    auto* requester = system_.roles().of<Requester>(system_.component(workload.device).id());
    if (requester) requester->assign(work_maker_.make(workload), *this);
  }
  for (const auto& [component, buffer] : system_.roles().all<PersistDomain>())
    buffer->report_drains_to(*this);
  check_whole(system_, spec_);
  move_window(Time{});
  for (const auto& each : system_.components()) each->start();
}

DividedRun::~DividedRun() = default;

bool DividedRun::finished() const {
  return std::ranges::all_of(system_.roles().all<Requester>(), [](const auto& each) {
    return !each.role->has_work() || each.role->finished();
  });
}

// Messages under way between partitions are events of the one to which they go.
bool DividedRun::idle() const {
  return std::ranges::all_of(kernels_, [](const auto& kernel) { return kernel->idle(); });
}

Time DividedRun::next_event_time() {
  Time next = Time::max();
  for (const auto& kernel : kernels_) next = std::min(next, kernel->next_event_time());
  return next;
}

// Windows lie on a grid, so that the last one is the same however the system is divided.
Time DividedRun::window_behind(Time at) const { return Time{(at.ps() / grid_.ps() + 1) * grid_.ps()}; }

void DividedRun::play_until(Time end) {
  for (const auto& kernel : kernels_) {
    while (kernel->run(end - Time{1}, LivelockWatch::kMostAtOnce) == LivelockWatch::kMostAtOnce) {
      const std::string why = livelock_watch_.look_at_instant(*kernel, LivelockWatch::kMostAtOnce);
      if (why.empty()) continue;
      now_ = kernel->now();
      fail("livelock: " + why);
    }
  }
  now_ = end;
}

// In parts where a look at what all have done comes between.
void DividedRun::play_window() {
  const Time end = window_behind(next_event_time());
  do {
    play_until(idle() ? end : std::min(end, livelock_watch_.next_look()));
    look_for_livelock();
  } while (now_ < end);
}

void DividedRun::run() {
  while (!finished()) {
    if (idle()) fail("deadlock: nothing is left to happen, and requests wait for an answer");
    play_window();
    move_window(now_);
  }
  if (!window_.has_opened()) open_window(now_);  // an empty one: nothing was measured
  if (window_.is_open()) close_window(now_);
}

void DividedRun::look_for_livelock() {
  if (idle() || next_event_time() < livelock_watch_.next_look()) return;
  const std::string why = livelock_watch_.look(next_event_time());
  if (why.empty()) return;
  const std::string problem = livelock_watch_.verdict(why, [&] {
    while (!idle() && next_event_time() < livelock_watch_.next_look())
      play_until(std::min(window_behind(next_event_time()), livelock_watch_.next_look()));
    return idle() ? Time::max() : next_event_time();
  });
  now_ = livelock_watch_.next_look();
  fail(problem);
}

void DividedRun::move_window(Time now) {
  const auto& requesters = system_.roles().all<Requester>();
  const auto has_work = [](const auto& each) { return each.role->has_work(); };
  if (!window_.has_opened()) {
    const bool due = spec_.run.warmup_time ? now >= *spec_.run.warmup_time
                                           : std::ranges::all_of(requesters, [&](const auto& each) {
                                               return !has_work(each) || each.role->warm();
                                             });
    if (due) open_window(now);
  } else if (window_.is_open() && std::ranges::any_of(requesters, [&](const auto& each) {
               return has_work(each) && each.role->out_of_work();
             })) {
    close_window(now);
  }
}

void DividedRun::open_window(Time now) {
  for (const auto& [component, requester] : system_.roles().all<Requester>()) requester->count_from_now();
  window_.open(now);
  for (const auto& each : system_.components()) each->open_window(now);
  for (const auto& end : system_.link_ends()) end->open_window(now);
  kernels_.front()->open_window(now);
}

void DividedRun::close_window(Time now) {
  window_.close(now);
  for (const auto& each : system_.components()) each->close_window(now);
  for (const auto& end : system_.link_ends()) end->close_window(now);
  kernels_.front()->close_window(now);
}

void DividedRun::fail(const std::string& problem) const {
  throw SimulationError(describe_standstill(problem, now_, system_, *kernels_.front()));
}

void DividedRun::completed(const Request& request, Time now) {
  livelock_watch_.answered(request);
  if (window_.is_open()) observer_.completed(request, now);
}

void DividedRun::line_completed(const Request& line, Time now) {
  livelock_watch_.answered(line);
  if (window_.is_open()) observer_.line_completed(line, now);
}

void DividedRun::prefetched(NodeId requester, NodeId target, std::uint64_t bytes) {
  if (window_.is_open()) observer_.prefetched(requester, target, bytes);
}

void DividedRun::drained(NodeId buffer, NodeId target, std::uint64_t bytes) {
  if (window_.is_open()) observer_.drained(buffer, target, bytes);
}

void DividedRun::written_back(NodeId requester, NodeId target, std::uint64_t bytes) {
  if (window_.is_open()) observer_.written_back(requester, target, bytes);
}

}  // namespace cxloom
