#include "system/events/extent_actions.hpp"

#include <functional>

#include "component/component.hpp"
#include "device/memory/dynamic_capacity.hpp"
#include "kernel/kernel.hpp"
#include "system/events/actions.hpp"
#include "system/model/system.hpp"

namespace cxloom {

DynamicCapacity& ExtentActions::capacity_of(const std::string& name) const {
  return with_path("device", [&]() -> std::reference_wrapper<DynamicCapacity> {
    DynamicMemory* const found = system_.roles().of<DynamicMemory>(system_.component(name).id());
    if (!found)
      refuse_event("a device without dynamic capacity", "'" + name + "'", "a memory with dynamic_capacity");
    return found->dynamic_capacity();
  });
}

void ExtentActions::expect(std::size_t /*number*/, const EventParams& event) {
  const ExtentEventParams& extent = event.add_extent ? *event.add_extent : *event.release_extent;
  with_path(event.add_extent ? "add_extent" : "release_extent", [&] {
    DynamicCapacity& expected =
        expected_.try_emplace(extent.device, capacity_of(extent.device)).first->second;
    if (event.add_extent) {
      expected.add(extent, event.at);
    } else {
      expected.release(extent, event.at);
    }
  });
}

void ExtentActions::act(std::size_t /*number*/, const EventParams& event) {
  if (event.add_extent) {
    capacity_of(event.add_extent->device).add(*event.add_extent, kernel_.now());
  } else {
    capacity_of(event.release_extent->device).release(*event.release_extent, kernel_.now());
  }
}

}  // namespace cxloom
