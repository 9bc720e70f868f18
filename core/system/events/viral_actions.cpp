#include "system/events/viral_actions.hpp"

#include <functional>

#include "coherence/common/coherence_home.hpp"
#include "component/component.hpp"
#include "component/replica_set.hpp"
#include "device/switch/persist_domain.hpp"
#include "kernel/kernel.hpp"
#include "memory/memory_owner.hpp"
#include "system/model/system.hpp"

namespace cxloom {

MemoryOwner& ViralActions::memory_of(const std::string& device) const {
  return with_path("device", [&]() -> std::reference_wrapper<MemoryOwner> {
    MemoryOwner* const memory = system_.roles().of<MemoryOwner>(system_.component(device).id());
    if (!memory || !memory->may_fail())
      refuse_event("a device that contains no errors by viral", "'" + device + "'", "a memory: kind: memory");
    return *memory;
  });
}

void ViralActions::expect(std::size_t /*number*/, const EventParams& event) {
  if (event.viral) {
    with_path("viral", [&] {
      MemoryOwner& memory = memory_of(event.viral->device);
      if (!viral_.insert(event.viral->device).second) {
        with_path("device", [&] {
          refuse_event("it is viral already", "'" + event.viral->device + "'", "a reset before that");
        });
      }
      memory.expect_failures();
      if (const ReplicaSets* const replicas = system_.system_context().replicas.get())
        replicas->expect_failures();
    });
    return;
  }
  with_path("reset", [&] {
    memory_of(event.reset->device);
    if (viral_.erase(event.reset->device) > 0) return;
    with_path("device", [&] {
      refuse_event("it is not viral", "'" + event.reset->device + "'", "what a viral event has stopped");
    });
  });
}

void ViralActions::act(std::size_t /*number*/, const EventParams& event) {
  homes_hear_ = system_.address_map().has_coherent() || !system_.roles().all<PersistDomain>().empty();
  if (event.viral) {
    memory_of(event.viral->device).begin_viral();
  } else {
    memory_of(event.reset->device).end_viral(event.reset->cleared);
    CoherenceHome* const home =
        system_.roles().of<CoherenceHome>(system_.component(event.reset->device).id());
    if (home && event.reset->cleared) home->contents_cleared();
    for (const auto& [component, buffer] : system_.roles().all<PersistDomain>()) buffer->try_again();
  }
  ReplicaSets* const replicas = system_.system_context().replicas.get();
  if (!replicas) return;
  const NodeId node = system_.component(event.viral ? event.viral->device : event.reset->device).id();
  if (event.viral) replicas->memory_fails(node);
  replicas->set_unusable(node, event.viral.has_value(), kernel_.now());
}

}  // namespace cxloom
