// Links that carried nothing while links parallel to them did.
#pragma once

#include <string>
#include <vector>

namespace cxloom {

class System;

/// A sentence for each direction of parallel links of which some were idle in the measured window.
std::vector<std::string> notes_on_idle_links(const System& system);

}  // namespace cxloom
