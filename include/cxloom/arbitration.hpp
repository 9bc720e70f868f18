// Arbitration among the inputs of a switch: Arbiter.
#pragma once

#include "cxloom/plugin.hpp"
#include "interconnect/arbitration/arbitration.hpp"
