// Means and shares as results have them.
#pragma once

#include "base/value.hpp"

namespace cxloom {

/// The mean of so many samples, or a share of so many; null if there were none, for that is no zero.
inline Value mean_value(double sum, double count) { return count > 0 ? Value(sum / count) : Value(); }

}  // namespace cxloom
