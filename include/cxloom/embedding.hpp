// A simulation that a program drives itself: EmbeddedSystem.
#pragma once

#include "base/json.hpp"
#include "embed/embedded_system.hpp"
