#include "device/kinds/memory.hpp"

#include <algorithm>

#include "component/component_time.hpp"
#include "component/failures.hpp"

namespace cxloom {

void MemoryParams::describe_logical_rules(Schema<MemoryParams>& schema) {
  schema.rule(
      "logical devices wait for the places of queue: leave out read_buffer and write_buffer",
      [](const MemoryParams& params) { return params.logical_devices.empty() || !params.apart(); },
      "logical_devices");
  schema.rule(
      "a logical device belongs to one host: leave out dcoh",
      [](const MemoryParams& params) { return params.logical_devices.empty() || !params.dcoh; },
      "logical_devices");
  schema.rule(
      "a coherency agent answers for the memory and reports no load: leave out dcoh",
      [](const MemoryParams& params) { return !params.qos || !params.dcoh; }, "qos");
  schema.rule(
      "allocated_bandwidth shares the places of the controller: it needs a queue",
      [](const MemoryParams& params) {
        return params.queue || std::ranges::all_of(params.logical_devices, [](const auto& each) {
                 return each.allocated_bandwidth == 1;
               });
      },
      "logical_devices");
}

// What is in it is lost, and what comes while it is down.
void Memory::routes_changed(bool failed) {
  if (failed && !failed_) memory_.failed();
  if (!failed && failed_) memory_.work_again();
  failed_ = failed;
}

void Memory::take_back(Message& message) {
  if (failed_) {
    system_context().failures->lose(message, now());
  } else {
    Endpoint::take_back(message);
  }
}

void Memory::lose(Message& message) {
  release(message, now());
  system_context().failures->lose(message, now());
}

}  // namespace cxloom
