// Garbage collection of flash: GcPolicy.
#pragma once

#include "cxloom/plugin.hpp"
#include "memory/flash/gc_policy.hpp"
