#include "system/run/run_kernels.hpp"

#include <utility>

#include "base/processors.hpp"
#include "system/build/system_builder.hpp"
#include "system/spec/spec.hpp"

namespace cxloom {

RunKernels::RunKernels(const Registry& registry, const Spec& spec, const ThreadDivision* given)
    : registry_(registry),
      spec_(spec),
      divided_(divide(given)),
      own_(divided_ ? nullptr : std::make_unique<Kernel>()),
      main_(divided_ ? &divided_->kernels().control() : own_.get()) {}

std::unique_ptr<DividedRun> RunKernels::divide(const ThreadDivision* given) {
  const std::uint32_t wanted = spec_.run.threads.count;
  if (!given && wanted == 1) return nullptr;
  ThreadDivision division =
      given ? *given : divide_system(registry_, spec_, wanted == 0 ? available_processors() : wanted);
  if (division.divides()) return std::make_unique<DividedRun>(std::move(division));
  undivided_because_ = division.reason;
  return nullptr;
}

System RunKernels::build() const {
  return divided_ ? build_system(divided_->kernel_of_nodes(), registry_, spec_)
                  : build_system(*own_, registry_, spec_);
}

}  // namespace cxloom
