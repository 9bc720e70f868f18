// One number of a summary, by its keys.
#pragma once

#include <string_view>

#include "base/value.hpp"

namespace cxloom {

/// "per_memory.mem0.reads", as `summary.json` nests them; of a list the places from zero. Throws InputError
/// if nothing is there, or no number.
double measure_at(const Value& summary, std::string_view path);

}  // namespace cxloom
