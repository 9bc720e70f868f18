#include "system/build/system_notes.hpp"

#include <algorithm>

#include "device/requester/requester.hpp"
#include "device/switch/virtual_switches.hpp"
#include "interconnect/link/end.hpp"
#include "interconnect/routing/routing.hpp"
#include "memory/media/media.hpp"
#include "memory/memory_owner.hpp"
#include "system/model/system.hpp"

namespace cxloom {

namespace {

void note_unused_media(const System& system, std::vector<std::string>& notes) {
  for (const auto& [component, owner] : system.roles().all<MemoryOwner>()) {
    const Media* media = owner->media();
    const auto held = media ? media->capacity() : std::nullopt;
    if (!held || *held <= owner->memory_capacity()) continue;
    notes.push_back(component->name() + " uses " + to_text(owner->memory_capacity()) + " of the " +
                    to_text(*held) + " that its media hold");
  }
}

void note_unused_virtual_channels(const System& system, std::vector<std::string>& notes) {
  const bool wanted = std::ranges::any_of(
      system.links(), [](const System::LinkView& link) { return link.params->virtual_channels > 1; });
  if (!wanted || !system.router().plan().turns.empty()) return;
  notes.emplace_back(
      "virtual_channels have no effect: only switches with input queues (queueing: voq or fifo) "
      "on links with credits use them");
}

void note_hosts_outside_virtual_switches(const System& system, std::vector<std::string>& notes) {
  for (const auto& [component, switching] : system.roles().all<VirtualSwitching>()) {
    for (const Topology::Hop& hop : system.topology().hops(component->id().index())) {
      const Requester* const requester = system.roles().of<Requester>(NodeId{hop.to});
      if (!requester || !requester->has_work() || switching->virtual_switches().owned(hop.port)) continue;
      notes.push_back(system.components()[hop.to]->name() + " is upstream of no virtual switch of " +
                      component->name() + ": its requests over it are answered with errors");
    }
  }
}

// The rate stays what it is.
void note_throttles_without_loads(const System& system, std::vector<std::string>& notes) {
  for (const auto& [component, memory] : system.roles().all<MemoryOwner>()) {
    if (memory->reports_load()) return;
  }
  for (const auto& [component, requester] : system.roles().all<Requester>()) {
    if (!requester->traits().throttles) continue;
    notes.push_back(component->name() +
                    " has a throttle, and no memory reports its load (qos): its rate never changes");
  }
}

}  // namespace

std::vector<std::string> notes_on(const System& system) {
  std::vector<std::string> notes;
  note_unused_media(system, notes);
  note_unused_virtual_channels(system, notes);
  note_hosts_outside_virtual_switches(system, notes);
  note_throttles_without_loads(system, notes);
  return notes;
}

}  // namespace cxloom
