// The unused parts of a system, for people: parts that stay idle, settings without effect.
#pragma once

#include <string>
#include <vector>

namespace cxloom {

class System;

/// A sentence each. Its devices have their work already.
std::vector<std::string> notes_on(const System& system);

}  // namespace cxloom
