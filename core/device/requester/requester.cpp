#include "device/requester/requester.hpp"

#include "device/requester/params.hpp"

namespace cxloom {

Requester::Traits Requester::Traits::of(const RequesterParams& params) {
  return {
      .has_cores = params.core.has_value(),
      .core_clock = params.core ? params.core->clock.rate : Rate{},
      .queue = params.queue,
      .process_time = params.process_time,
      .times_instructions = params.instruction_time > Time{},
      .stores_in_cache = params.cache && params.cache->write_allocate && params.atomics == AtomicsAt::kCache,
      .throttles = params.throttle.has_value(),
      .sets_completion_timeout = params.completion_timeout.has_value(),
      .completion_timeout = params.completion_timeout.value_or(kCompletionTimeout)};
}

}  // namespace cxloom
