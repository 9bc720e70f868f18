// Links whose errors are so rare that none was met, and which so look as if errors cost nothing.
#pragma once

#include <string>
#include <vector>

namespace cxloom {

class System;

/// A sentence for each setting of errors that corrupted no flit of the measured window, on no link that has
/// it.
std::vector<std::string> notes_on_unmet_errors(const System& system);

}  // namespace cxloom
