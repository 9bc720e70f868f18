// What the virtual switches of a system have at their ports.
#pragma once

namespace cxloom {

struct Spec;
class System;

/// Tells each of them its neighbours. Throws InputError where virtual switches cannot be, with the path of what is wrong.
void connect_virtual_switches(const System& system, const Spec& spec);

}  // namespace cxloom
