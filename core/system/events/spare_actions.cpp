#include "system/events/spare_actions.hpp"

#include <functional>

#include "component/component.hpp"
#include "system/model/system.hpp"

namespace cxloom {

MemoryOwner& SpareActions::memory_of(const SpareParams& spare) const {
  return with_path("device", [&]() -> std::reference_wrapper<MemoryOwner> {
    MemoryOwner* const memory = system_.roles().of<MemoryOwner>(system_.component(spare.device).id());
    if (!memory || memory->spares() == 0)
      refuse_event("a device without spare parts", "'" + spare.device + "'", "a memory with spares");
    return *memory;
  });
}

void SpareActions::expect(std::size_t /*number*/, const EventParams& event) {
  with_path("spare", [&] {
    const SpareParams& spare = *event.spare;
    MemoryOwner& memory = memory_of(spare);
    memory.expect_spares();
    if (++used_[spare.device] > memory.spares()) {
      with_path("device", [&] {
        refuse_event("no spare part of '" + spare.device + "' is left", counted(used_[spare.device], "event"),
                     "at most " + std::to_string(memory.spares()) + ", its spares");
      });
    }
    const std::uint64_t end = memory.memory_capacity().count();
    if (spare.base.value() < end && spare.size.count() <= end - spare.base.value()) return;
    with_path("base", [&] {
      refuse_event("a part that reaches beyond the memory", to_text(spare.base) + " + " + to_text(spare.size),
                   "addresses of its own, below " + to_text(memory.memory_capacity()));
    });
  });
}

void SpareActions::act(std::size_t /*number*/, const EventParams& event) {
  const SpareParams& spare = *event.spare;
  memory_of(spare).spare({spare.base, spare.size.count(), spare.buffer.count() / kLineBytes});
}

}  // namespace cxloom
