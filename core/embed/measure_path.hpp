// One number of a summary, by its keys.
#pragma once

#include <string_view>

#include "base/value.hpp"

namespace cxloom {

/// "per_memory.mem0.reads", as `summary.json` nests them; of a list the places from zero. NaN where it
/// says nothing, of a mean of nothing say. Throws InputError if there is no such key, or no number.
double measure_at(const Value& summary, std::string_view path);

}  // namespace cxloom
