// Devices that others name: targets of I/O engines, hosts of logical devices and of extents, what virtual
// switches are linked to.
#pragma once

#include <string>

#include "base/units.hpp"

namespace cxloom {

class Devices;
class Roles;
struct Spec;
class System;
struct SystemContext;

/// Throws InputError if there is no such device, or it makes no requests.
NodeId find_requester(const std::string& name, const Devices& devices, const Roles& roles);

/// Each of these throws InputError with the path of the error.
void aim_io_initiators(const Devices& devices, const Roles& roles);
void give_logical_devices(const Devices& devices, const Roles& roles);
/// `context` has its regions: they say which memory is coherent.
void begin_extents(const SystemContext& context);

/// Tells each virtual switch its neighbours. Throws InputError, with its path, where there can be none.
void connect_virtual_switches(const System& system, const Spec& spec);

}  // namespace cxloom
