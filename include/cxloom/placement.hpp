// Placement of a workload's pages: PagePlacement.
#pragma once

#include "cxloom/plugin.hpp"
#include "workload/placement/page_placement.hpp"
