// Whether all requesters reach the devices that they need.
#pragma once

namespace cxloom {

class Devices;
class System;
class Topology;

/// Links lead from each device to each other. Before there are routes, whose number is the square of that of
/// the devices. Throws InputError.
void check_connected(const Devices& devices, const Topology& topology);

/// Throws InputError unless each requester with work can reach all of its address map, memories and the homes
/// that keep them coherent, and each home its memories.
void check_reachability(const System& system);

}  // namespace cxloom
