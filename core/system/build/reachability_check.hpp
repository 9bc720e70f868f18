// Whether all requesters reach the devices that they need.
#pragma once

namespace cxloom {

class Component;
class Devices;
class System;
class Topology;

/// Links lead from each device to each other. Before there are routes, whose number is the square of that of
/// the devices. Throws InputError.
void check_connected(const Devices& devices, const Topology& topology);

/// A requester has memory in its address map, and reaches whoever receives its requests for all of it.
bool reaches_its_map(const System& system, const Component& requester);
/// Throws InputError unless each requester with work can reach whoever receives its requests, all over its
/// address map: memories, or the homes that keep them coherent; and each home its memories.
void check_reachability(const System& system);

}  // namespace cxloom
