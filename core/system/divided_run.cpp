#include "system/divided_run.hpp"

#include <algorithm>

#include "device/sequencer.hpp"
#include "interconnect/link_end.hpp"
#include "system/registry.hpp"

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
    : kernels_(make_kernels(group_, partitions.count)),
      window_(window),
      system_(by_node(kernels_, partitions), registry, spec),
      work_maker_(registry, spec, system_.address_map(), open_trace) {
  ensure(window > Time{} && (!partitions.lookahead || window <= *partitions.lookahead),
         "a window in which partitions act on each other");
  for (const Spec::Workload& workload : spec.workloads) {
    auto* requester = system_.roles().requesters.of(system_.component(workload.device).id());
    if (requester) requester->assign(work_maker_.make(workload), observer);
  }
  system_.check_reachability();
  for (const auto& each : system_.components()) each->open_window(Time{});
  for (const auto& end : system_.link_ends()) end->open_window(Time{});
  for (const auto& each : system_.components()) each->start();
}

bool DividedRun::finished() const {
  return std::ranges::all_of(system_.roles().requesters, [](const auto& each) {
    return !each.role->has_work() || each.role->finished();
  });
}

Time DividedRun::next_event_time() {
  Time next = Time::max();
  for (const auto& kernel : kernels_) next = std::min(next, kernel->next_event_time());
  return next;
}

void DividedRun::run() {
  Time end;
  while (!finished()) {
    const Time next = next_event_time();
    if (next == Time::max()) throw SimulationError("deadlock: requests wait for an answer");
    // Windows lie on a grid, so that the last one is the same however the system is divided.
    end = Time{(next.ps() / window_.ps() + 1) * window_.ps() - 1};
    for (const auto& kernel : kernels_) kernel->run(end, ~std::uint64_t{0});
  }
  for (const auto& each : system_.components()) each->close_window(end);
  for (const auto& link_end : system_.link_ends()) link_end->close_window(end);
}

}  // namespace cxloom
