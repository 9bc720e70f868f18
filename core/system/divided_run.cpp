#include "system/divided_run.hpp"

#include <algorithm>
#include <utility>

#include "component/component.hpp"
#include "device/sequencer.hpp"
#include "interconnect/link_end.hpp"
#include "kernel/kernel.hpp"
#include "system/registry.hpp"
#include "system/standstill.hpp"

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
      system_(by_node(kernels_, partitions), registry, spec),
      work_maker_(registry, spec, system_.address_map(), open_trace) {
  ensure(window > Time{} && (!partitions.lookahead || window <= *partitions.lookahead),
         "a window in which partitions act on each other");
  for (const Spec::Workload& workload : spec.workloads) {
    auto* requester = system_.roles().requesters.of(system_.component(workload.device).id());
    if (requester) requester->assign(work_maker_.make(workload), *this);
  }
  system_.check_reachability();
  move_window(Time{});
  for (const auto& each : system_.components()) each->start();
}

DividedRun::~DividedRun() = default;

bool DividedRun::finished() const {
  return std::ranges::all_of(system_.roles().requesters, [](const auto& each) {
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

std::uint64_t DividedRun::events() const {
  std::uint64_t events = 0;
  for (const auto& kernel : kernels_) events += kernel->events();
  return events;
}

// Windows lie on a grid, so that the last one is the same however the system is divided.
Time DividedRun::play_window() {
  const Time end{(next_event_time().ps() / grid_.ps() + 1) * grid_.ps()};
  for (const auto& kernel : kernels_) kernel->run(end - Time{1}, ~std::uint64_t{0});
  return end;
}

void DividedRun::run() {
  while (!finished()) {
    if (idle()) fail("deadlock: nothing is left to happen, and requests wait for an answer");
    now_ = play_window();
    move_window(now_);
    look_for_livelock();
  }
  if (window_ == Window::kBefore) open_window(now_);  // an empty one: nothing was measured
  if (window_ == Window::kOpen) close_window(now_);
}

// Until all are warm the others may go on for ever: it is warm-up requests that bring the window nearer.
bool DividedRun::warming_up() const { return window_ == Window::kBefore && !spec_.run.warmup_time; }

bool DividedRun::somebody_waits() const {
  return std::ranges::any_of(system_.roles().requesters, [&](const auto& each) {
    return each.role->outstanding() > 0 && !(warming_up() && each.role->warm());
  });
}

void DividedRun::note_progress(const Request& answered) {
  progress_ |= !warming_up() || answered.id < spec_.run.warmup;
}

void DividedRun::look_for_livelock() {
  if (std::exchange(progress_, false)) events_at_progress_ = events();
  if (events() - events_at_progress_ < spec_.run.livelock_events) return;
  if (idle() || !somebody_waits()) {
    events_at_progress_ = events();
    return;
  }
  const std::string problem = "no request has completed in " + counted(spec_.run.livelock_events, "event");
  // CXL.io goes on whatever happens, also beside a deadlock.
  const bool io = !system_.roles().io_initiators.empty();
  for (const auto& [component, initiator] : system_.roles().io_initiators) initiator->cease();
  while (io && !idle() && events() - events_at_progress_ < 2 * spec_.run.livelock_events)
    now_ = play_window();
  if (io && idle()) fail("deadlock: " + problem + ", those of CXL.io aside");
  fail("livelock: " + problem);
}

void DividedRun::move_window(Time now) {
  const auto& requesters = system_.roles().requesters;
  const auto has_work = [](const auto& each) { return each.role->has_work(); };
  if (window_ == Window::kBefore) {
    const bool due = spec_.run.warmup_time ? now >= *spec_.run.warmup_time
                                           : std::ranges::all_of(requesters, [&](const auto& each) {
                                               return !has_work(each) || each.role->warm();
                                             });
    if (due) open_window(now);
  } else if (window_ == Window::kOpen && std::ranges::any_of(requesters, [&](const auto& each) {
               return has_work(each) && each.role->out_of_work();
             })) {
    close_window(now);
  }
}

void DividedRun::open_window(Time now) {
  window_ = Window::kOpen;
  opened_ = now;
  for (const auto& each : system_.components()) each->open_window(now);
  for (const auto& end : system_.link_ends()) end->open_window(now);
}

void DividedRun::close_window(Time now) {
  window_ = Window::kAfter;
  closed_ = now;
  for (const auto& each : system_.components()) each->close_window(now);
  for (const auto& end : system_.link_ends()) end->close_window(now);
}

void DividedRun::fail(const std::string& problem) {
  Kernel all;  // what is waited for in one partition may be held in another
  for (const auto& kernel : kernels_) {
    for (const WaitedFor& waited : kernel->wait_lists()) all.register_wait_list(waited);
  }
  throw SimulationError(describe_standstill(problem, now_, events(), system_, all));
}

void DividedRun::completed(const Request& request, Time now) {
  note_progress(request);
  if (window_ == Window::kOpen) observer_.completed(request, now);
}

void DividedRun::line_completed(const Request& line, Time now) {
  note_progress(line);
  if (window_ == Window::kOpen) observer_.line_completed(line, now);
}

void DividedRun::written_back(NodeId requester, NodeId target, std::uint64_t bytes) {
  if (window_ == Window::kOpen) observer_.written_back(requester, target, bytes);
}

}  // namespace cxloom
