#include "system/events/binding_actions.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <vector>

#include "coherence/cache/agent.hpp"
#include "coherence/common/coherence_home.hpp"
#include "component/component.hpp"
#include "device/requester/requester.hpp"
#include "device/switch/virtual_switches.hpp"
#include "protocol/address_map.hpp"
#include "system/events/actions.hpp"
#include "system/model/head_bindings.hpp"
#include "system/model/offered_memory.hpp"
#include "system/model/system.hpp"

namespace cxloom {

BindingActions::BindingActions(System& system) : system_(system) {
  if (system.roles().all<VirtualSwitching>().empty()) return;
  for (const Way& way : ways().to_memories) {
    if (!way.there) system_.roles().of<CoherenceHome>(way.from)->leave(way.to);
  }
}

VirtualSwitches& BindingActions::virtual_switches_at(const std::string& name) const {
  return with_path("switch", [&]() -> std::reference_wrapper<VirtualSwitches> {
    VirtualSwitching* const found = system_.roles().of<VirtualSwitching>(system_.component(name).id());
    if (!found) refuse_event("a device without virtual switches", "'" + name + "'", "a switch with vcs");
    return found->virtual_switches();
  });
}

void BindingActions::expect(std::size_t /*number*/, const EventParams& event) {
  const auto expected_at = [&](const std::string& name) -> VirtualSwitches& {
    return expected_.try_emplace(name, virtual_switches_at(name)).first->second;
  };
  if (event.bind) {
    with_path("bind", [&] {
      expected_at(event.bind->switch_name).bind({event.bind->vcs, event.bind->vppb}, *event.bind);
      check_bound_once(system_, system_.component(event.bind->switch_name), *event.bind,
                       [&](const Component& other) { return &expected_at(other.name()); });
    });
  } else {
    with_path("unbind", [&] {
      check_caches(*event.unbind);
      expected_at(event.unbind->switch_name)
          .unbind({event.unbind->vcs, event.unbind->vppb}, event.unbind->surprise);
    });
  }
}

void BindingActions::check_caches(const UnbindParams& unbind) const {
  if (!unbind.surprise || !system_.address_map().has_coherent()) return;
  for (const auto& [component, requester] : system_.roles().all<Requester>()) {
    if (!requester->external_cache()) continue;
    with_path("surprise", [&] {
      refuse_event("nothing coherent is removed by surprise beside a cache that is outside",
                   "'" + component->name() + "'", "surprise: false, or a cache of the simulation");
    });
  }
}

void BindingActions::act(std::size_t /*number*/, const EventParams& event) {
  homes_recall_ = system_.address_map().has_coherent();
  if (event.bind) {
    virtual_switches_at(event.bind->switch_name).bind({event.bind->vcs, event.bind->vppb}, *event.bind);
    return end_recalls();
  }
  const Ways before = ways();
  virtual_switches_at(event.unbind->switch_name)
      .unbind({event.unbind->vcs, event.unbind->vppb}, event.unbind->surprise);
  const Ways after = ways();
  for (const Way& way : lost(before.to_homes, after.to_homes)) {
    if (event.unbind->surprise) {
      cut_off(way);
    } else {
      system_.roles().of<CoherenceHome>(way.to)->recall(way.from);
    }
  }
  if (event.unbind->surprise) return;  // whatever the home asks of the memory is an error
  for (const Way& way : lost(before.to_memories, after.to_memories))
    system_.roles().of<CoherenceHome>(way.from)->leave(way.to);
}

// Neither has what it had: docs/model/failures.md.
void BindingActions::cut_off(const Way& way) const {
  CoherenceHome& home = *system_.roles().of<CoherenceHome>(way.to);
  if (CacheAgent* const cache = system_.roles().of<Requester>(way.from)->losing_cache())
    cache->presumed_dead(way.to, home.answers_sent(way.from));
  home.cut_off(way.from);
}

// A way that has failed comes back, but not to what has been unbound meanwhile.
std::vector<BindingActions::Way> BindingActions::lost(const std::vector<Way>& before,
                                                      const std::vector<Way>& after) {
  std::vector<Way> found;
  for (std::size_t i = 0; i < before.size(); ++i) {
    if ((before[i].there && !after[i].there) || (before[i].bound && !after[i].bound))
      found.push_back(before[i]);
  }
  return found;
}

BindingActions::Ways BindingActions::ways() const {
  Ways found;
  const auto way = [&](NodeId from, NodeId to) {
    return Way{from, to, has_way(system_, from, {"", to, {}}), is_bound_to(system_, from, to)};
  };
  const AddressMap& map = system_.address_map();
  for (const Coherence coherence : {Coherence::kHdmDb, Coherence::kHdmH, Coherence::kHdmD}) {
    for (const NodeId home : map.homes(coherence)) {
      for (const auto& [component, requester] : system_.roles().all<Requester>()) {
        if (component->id() != home) found.to_homes.push_back(way(component->id(), home));
      }
      for (const NodeId memory : map.targets_of(home)) {
        if (memory != home) found.to_memories.push_back(way(home, memory));
      }
    }
  }
  return found;
}

// A cache that reaches a home may have lines of it, and a home gives out lines of memory that it reaches.
void BindingActions::end_recalls() const {
  if (system_.roles().all<VirtualSwitching>().empty()) return;
  const Ways now = ways();
  for (const Way& way : now.to_homes) {
    if (way.there) system_.roles().of<CoherenceHome>(way.to)->end_recall(way.from);
  }
  for (const Way& way : now.to_memories) {
    if (way.there) system_.roles().of<CoherenceHome>(way.from)->rejoin(way.to);
  }
}

}  // namespace cxloom
