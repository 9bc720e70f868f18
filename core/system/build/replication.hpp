// Gives those who replicate regions what they need for it, and refuses what cannot be beside.
#pragma once

namespace cxloom {

class System;
struct Spec;

/// Every host, or the switch, of a replicated region takes its requests from now on. Throws InputError for
/// what replication does not know.
void begin_replication(System& system, const Spec& spec);

}  // namespace cxloom
