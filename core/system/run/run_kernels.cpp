#include "system/run/run_kernels.hpp"

#include <algorithm>
#include <utility>

#include "kernel/thread_team.hpp"
#include "system/build/system_builder.hpp"
#include "system/spec/spec.hpp"

namespace cxloom {

RunKernels::RunKernels(const Registry& registry, const Spec& spec, RequestObserver& observer,
                       const ThreadDivision* given)
    : registry_(registry),
      spec_(spec),
      divided_(divide(observer, given)),
      own_(divided_ ? nullptr : std::make_unique<Kernel>()),
      main_(divided_ ? &divided_->kernels().control() : own_.get()) {}

std::unique_ptr<DividedRun> RunKernels::divide(RequestObserver& observer, const ThreadDivision* given) {
  const std::uint32_t asked = spec_.run.threads.count;
  if (!given && asked == 1) return nullptr;
  const std::uint32_t threads = asked == 0 ? std::min(available_processors(), ThreadCount::kMost) : asked;
  ThreadDivision division;
  if (given) division = *given;
  else if (threads == 1) division.reason = "this process may use one processor";
  else if (!observer.divide()) division.reason = "nobody takes results of parts";
  else division = divide_system(registry_, spec_, threads);
  if (division.divides()) return std::make_unique<DividedRun>(std::move(division));
  undivided_because_ = division.reason;
  return nullptr;
}

std::vector<const Kernel*> RunKernels::kernel_of_parts() const {
  return divided_ ? divided_->kernel_of_parts() : std::vector<const Kernel*>{};
}

std::vector<std::uint32_t> RunKernels::part_of_nodes() const {
  return divided_ ? divided_->division().part_of : std::vector<std::uint32_t>{};
}

System RunKernels::build() const {
  return divided_ ? build_system(divided_->kernel_of_nodes(), registry_, spec_)
                  : build_system(*own_, registry_, spec_);
}

}  // namespace cxloom
