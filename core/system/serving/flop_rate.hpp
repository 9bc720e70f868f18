// A rate of floating-point operations, written with its unit: "312TFLOP/s".
#pragma once

#include <compare>
#include <string>
#include <string_view>

#include "base/value.hpp"

namespace cxloom {

/// Operations a second; a multiplication and an addition are two.
struct FlopRate {
  static constexpr std::string_view kSchemaType = "flop rate";

  double per_second = 0;

  auto operator<=>(const FlopRate&) const = default;
};

/// Throws InputError for what is no positive rate with its unit: FLOP/s with k, M, G, T or P before it.
void read_value(const Value& value, FlopRate& out);
std::string to_text(const FlopRate& rate);

}  // namespace cxloom
