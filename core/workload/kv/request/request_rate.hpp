// How often something begins, also less than once a second: "0.1/s", "6/min".
#pragma once

#include <compare>
#include <limits>
#include <string>
#include <string_view>

#include "base/value.hpp"

namespace cxloom {

/// A rate that times are drawn from, for which a real number is exact enough.
struct RequestRate {
  static constexpr std::string_view kSchemaType = "request rate";

  double per_second = std::numeric_limits<double>::infinity();  ///< without limit: all at once

  auto operator<=>(const RequestRate&) const = default;
};

/// Throws InputError for what is no rate from 1e-6 to 1e12 a second with its unit: /s, k/s, M/s, G/s, /min or
/// /h, or the word unlimited.
void read_value(const Value& value, RequestRate& out);
/// In /s.
std::string to_text(const RequestRate& rate);

}  // namespace cxloom
