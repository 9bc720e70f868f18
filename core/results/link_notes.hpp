// What a reader must know of the links of a run beside their measures.
#pragma once

#include <string>
#include <vector>

namespace cxloom {

class System;

/// A sentence for each direction of parallel links of which some were idle in the measured window.
std::vector<std::string> notes_on_idle_links(const System& system);

/// A sentence for each setting of errors that corrupted no flit of the measured window, on no link that has
/// it.
std::vector<std::string> notes_on_unmet_errors(const System& system);

}  // namespace cxloom
