// A memory with several heads hangs on several switches. A logical device of it is bound to a vPPB of one of
// them.
#pragma once

#include <functional>

#include "device/switch/virtual_switches.hpp"

namespace cxloom {

class Component;
class System;

/// The virtual switches of a switch, as they are or as they will be at some time; null if they are not to be
/// looked at.
using VirtualSwitchesOf = std::function<const VirtualSwitches*(const Component&)>;

/// Throws InputError for the key `ld`, or `to`, if a logical device of what is bound at `where` is bound at
/// another switch.
void check_bound_once(const System& system, const Component& where, const BoundParams& bound,
                      const VirtualSwitchesOf& others);

/// Checks all that is bound from the beginning; the error has its path.
void check_bound_once(const System& system);

}  // namespace cxloom
