// The neighbours of a system's virtual switches at their ports.
#pragma once

namespace cxloom {

struct Spec;
class System;

/// Tells each virtual switch its neighbours. Throws InputError, with its path, where there can be none.
void connect_virtual_switches(const System& system, const Spec& spec);

}  // namespace cxloom
