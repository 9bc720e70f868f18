// Victim policies of a cache: VictimPolicy.
#pragma once

#include "cxloom/plugin.hpp"
#include "tags/tag_array.hpp"
#include "tags/victim_policy.hpp"
