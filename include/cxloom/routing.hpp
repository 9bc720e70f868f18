// Routing among equally short ways: RoutingStrategy.
#pragma once

#include "cxloom/plugin.hpp"
#include "interconnect/routing/strategy.hpp"
