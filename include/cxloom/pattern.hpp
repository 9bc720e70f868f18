// Access patterns of a workload: Pattern.
#pragma once

#include "cxloom/plugin.hpp"
#include "workload/pattern/pattern.hpp"
