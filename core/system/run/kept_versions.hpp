// Versions of lines, which a run keeps where somebody wants to know of stale data.
#pragma once

namespace cxloom {

class System;
struct Spec;

/// Keeps from now on those that the outputs of `spec` ask for: of lines of persistent memory (versions), and
/// of those that requesters share without coherence (sharing), which protocols between them read, too. Throws
/// InputError if there is no such memory.
void keep_versions(System& system, const Spec& spec);

}  // namespace cxloom
