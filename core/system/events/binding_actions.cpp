#include "system/events/binding_actions.hpp"

#include <algorithm>
#include <functional>
#include <vector>

#include "coherence/cache/agent.hpp"
#include "coherence/home/coherence_home.hpp"
#include "component/component.hpp"
#include "device/requester/requester.hpp"
#include "device/switch/virtual_switches.hpp"
#include "protocol/address_map.hpp"
#include "system/events/actions.hpp"
#include "system/model/head_bindings.hpp"
#include "system/model/offered_memory.hpp"
#include "system/model/system.hpp"

namespace cxloom {

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
      check_homes(*event.unbind);
      expected_at(event.unbind->switch_name)
          .unbind({event.unbind->vcs, event.unbind->vppb}, event.unbind->surprise);
    });
  }
}

// A home that knows who has lines of its memory gives them up with it.
void BindingActions::check_homes(const UnbindParams& unbind) const {
  const AddressMap& map = system_.address_map();
  const bool others = !map.homes(Coherence::kHdmH).empty() || !map.homes(Coherence::kHdmD).empty();
  const std::vector<NodeId> agents = map.homes(Coherence::kHdmDb);
  const auto is_apart = [&](NodeId home) { return map.targets_of(home) != std::vector{home}; };
  if (others || std::ranges::any_of(agents, is_apart))
    refuse_event(
        "a device is unbound beside coherent memory whose home is apart from it, or a device by bias", {},
        "memories that have their agent in them (hdm-db, dcoh), or devices that stay bound");
  if (!unbind.surprise || agents.empty()) return;
  for (const auto& [component, requester] : system_.roles().all<Requester>()) {
    if (!requester->external_cache()) continue;
    with_path("surprise", [&] {
      refuse_event("nothing coherent is removed by surprise beside a cache that is outside",
                   "'" + component->name() + "'", "surprise: false, or a cache of the simulation");
    });
  }
}

void BindingActions::act(std::size_t /*number*/, const EventParams& event) {
  if (event.bind) {
    virtual_switches_at(event.bind->switch_name).bind({event.bind->vcs, event.bind->vppb}, *event.bind);
    return end_recalls();
  }
  const std::vector<Way> ways_before = ways();
  const std::vector<Way> bound_before = bound();
  virtual_switches_at(event.unbind->switch_name)
      .unbind({event.unbind->vcs, event.unbind->vppb}, event.unbind->surprise);
  std::vector<Way> cut = without(ways_before, ways());
  for (const Way& way : without(without(bound_before, bound()), cut)) cut.push_back(way);
  for (const Way& way : cut) {
    if (event.unbind->surprise) {
      cut_off(way);
    } else {
      system_.roles().of<CoherenceHome>(way.home)->recall(way.requester);
    }
  }
}

std::vector<BindingActions::Way> BindingActions::without(std::vector<Way> ways,
                                                         const std::vector<Way>& others) {
  std::erase_if(ways, [&](const Way& way) { return std::ranges::find(others, way) != others.end(); });
  return ways;
}

// Neither has what it had: docs/model/failures.md.
void BindingActions::cut_off(const Way& way) const {
  CoherenceHome& home = *system_.roles().of<CoherenceHome>(way.home);
  if (CacheAgent* const cache = system_.roles().of<Requester>(way.requester)->losing_cache())
    cache->presumed_dead(way.home, home.answers_sent(way.requester));
  home.cut_off(way.requester);
}

std::vector<BindingActions::Way> BindingActions::ways_where(
    const std::function<bool(NodeId requester, NodeId home)>& there) const {
  std::vector<Way> found;
  for (const NodeId home : system_.address_map().homes(Coherence::kHdmDb)) {
    for (const auto& [component, requester] : system_.roles().all<Requester>()) {
      if (there(component->id(), home)) found.push_back({component->id(), home});
    }
  }
  return found;
}

std::vector<BindingActions::Way> BindingActions::ways() const {
  return ways_where([&](NodeId from, NodeId home) { return has_way(system_, from, {"", home, {}}); });
}

// A way that has failed comes back, but not to what has been unbound meanwhile.
std::vector<BindingActions::Way> BindingActions::bound() const {
  return ways_where([&](NodeId from, NodeId home) { return is_bound_to(system_, from, home); });
}

// A cache that reaches a home may have lines of it.
void BindingActions::end_recalls() const {
  for (const Way& way : ways()) system_.roles().of<CoherenceHome>(way.home)->end_recall(way.requester);
}

}  // namespace cxloom
