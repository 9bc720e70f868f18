// Whether the links of a system carry what keeps its caches coherent.
#pragma once

namespace cxloom {

class System;

/// Throws InputError for a link between a cache and the home of coherent lines that cannot carry
/// back-invalidate snoops, or loses messages.
void check_coherence(const System& system);

}  // namespace cxloom
