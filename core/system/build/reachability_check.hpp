// Whether everybody can reach whom they need.
#pragma once

namespace cxloom {

class Devices;
class System;
class Topology;

/// Links lead from each device to each other. Before there are routes, whose number is the square of that of the devices.
/// Throws InputError.
void check_connected(const Devices& devices, const Topology& topology);

/// Whoever has work must be able to reach all memories that have addresses, and the homes that keep them coherent. Throws
/// InputError.
void check_reachability(const System& system);

}  // namespace cxloom
