// Which objects of a graph of tasks crossed which links.
#pragma once

#include "base/value.hpp"

namespace cxloom {

class System;
class TaskPlayer;

/// By direction of a link and by object, bytes of tasks that have ended.
Value use_of_links(const System& system, const TaskPlayer& player);

}  // namespace cxloom
