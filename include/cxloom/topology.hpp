// Topologies: GeneratedTopology.
#pragma once

#include "cxloom/plugin.hpp"
#include "interconnect/topology/generators.hpp"
