#include "system/events/binding_actions.hpp"

#include <functional>

#include "component/component.hpp"
#include "device/switch/virtual_switches.hpp"
#include "system/events/actions.hpp"
#include "system/model/head_bindings.hpp"
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
      if (system_.address_map().has_coherent())
        refuse_event("a device is unbound beside coherent regions: caches may hold lines of it", {},
                     "regions without coherence, or devices that stay bound");
      expected_at(event.unbind->switch_name)
          .unbind({event.unbind->vcs, event.unbind->vppb}, event.unbind->surprise);
    });
  }
}

void BindingActions::act(std::size_t /*number*/, const EventParams& event) {
  if (event.bind) {
    virtual_switches_at(event.bind->switch_name).bind({event.bind->vcs, event.bind->vppb}, *event.bind);
  } else {
    virtual_switches_at(event.unbind->switch_name)
        .unbind({event.unbind->vcs, event.unbind->vppb}, event.unbind->surprise);
  }
}

}  // namespace cxloom
