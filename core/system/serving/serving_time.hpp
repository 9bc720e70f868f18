// Lengths of simulated time from seconds, which a serving run may make as long as its numbers are small.
#pragma once

#include <cmath>
#include <string>

#include "base/error.hpp"
#include "base/units.hpp"
#include "base/value.hpp"

namespace cxloom {

/// No instant of a run is later, and no length is longer (46 days): the sum of two fits.
inline constexpr Time kLongestServing{4'000'000'000'000'000'000};

inline double seconds_of(Time time) { return static_cast<double>(time.ps()) * 1e-12; }

/// In whole picoseconds; what is longer than the longest is as long as that.
inline Time capped_time(double seconds) {
  const double ps = std::ceil(seconds * 1e12);
  return ps < static_cast<double>(kLongestServing.ps()) ? Time{static_cast<std::int64_t>(ps)}
                                                        : kLongestServing;
}

/// To the nearest picosecond. Throws InputError at a key for what is longer than the longest.
inline Time checked_time(double seconds, const char* what, const std::string& key) {
  const double ps = seconds * 1e12;
  if (!(ps < static_cast<double>(kLongestServing.ps())))
    throw InputError({what, Value(seconds).described() + "s", "at most " + to_text(kLongestServing), {}},
                     key);
  return Time{std::llround(ps)};
}

}  // namespace cxloom
