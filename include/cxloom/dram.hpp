// Policies of DRAM: DramScheduler, DramRowPolicy, DramRefreshPolicy.
#pragma once

#include "cxloom/plugin.hpp"
#include "memory/dram/refresh/policy.hpp"
#include "memory/dram/row_policy/row_policy.hpp"
#include "memory/dram/scheduler/scheduler.hpp"
