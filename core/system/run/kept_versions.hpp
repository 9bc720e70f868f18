// Versions of lines, which a run keeps where somebody wants to know of stale data.
#pragma once

#include <vector>

namespace cxloom {

class Kernel;
class System;
struct Spec;

/// Keeps from now on those that the outputs of `spec` ask for: of lines of persistent memory (versions), and
/// of those that requesters share without coherence (sharing), which protocols between them read, too.
/// `parts`: the kernels of the parts of a divided system; empty: there is one. Throws InputError if there is
/// no such memory.
void keep_versions(System& system, const Spec& spec, const std::vector<const Kernel*>& parts);

}  // namespace cxloom
