// Address maps of devices to which no way leads from some of the memory: a server's own memory is in no map
// of its neighbours.
#pragma once

#include <functional>

#include "base/units.hpp"
#include "protocol/message.hpp"

namespace cxloom {

class Component;
class System;

/// Gives `device` a map without the regions of which it `reaches` no target and no home. None of its own if
/// it reaches some of each, or nothing at all: what it lacks then is a mistake, which `check_reachability`
/// finds.
void give_own_map(System& system, const Component& device, const std::function<bool(NodeId)>& reaches);
/// Gives each requester that sends its requests to memory itself the map of what routes lead to.
void give_own_maps(System& system);

}  // namespace cxloom
