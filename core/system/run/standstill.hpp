// Why a run cannot go on: what waits for ever, the state of each component, and the waits between them.
#pragma once

#include <string>

#include "base/units.hpp"

namespace cxloom {

class Kernel;
class System;
class TaskPlayer;

/// Nothing is left to happen: the problem if something waits for ever, empty if all has ended. `tasks`: null:
/// there are none.
std::string deadlock_in(System& system, const TaskPlayer* tasks);
/// The problem with all there is to say of it, line by line; the wait lists are `kernel`'s.
std::string describe_standstill(const std::string& problem, Time now, const System& system,
                                const Kernel& kernel);

}  // namespace cxloom
