// Versions of lines, which a run keeps where somebody wants to know of stale data.
#pragma once

namespace cxloom {

class System;

/// Keeps them from now on. Throws InputError if no memory is persistent.
void keep_versions(System& system);

}  // namespace cxloom
