// Why a run cannot go on: what each component is doing, and who waits for whom.
#pragma once

#include <string>

#include "base/units.hpp"

namespace cxloom {

class Kernel;
class System;

/// The problem with what there is to say of it, line by line; the wait lists are those of `kernel`.
std::string describe_standstill(const std::string& problem, Time now, const System& system,
                                const Kernel& kernel);

}  // namespace cxloom
