// Tiering of a workload's pages: TieringPolicy.
#pragma once

#include "cxloom/plugin.hpp"
#include "workload/tiering/tiering_policy.hpp"
