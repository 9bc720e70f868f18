// The parameters of the rate of a device's requests.
#pragma once

#include "base/parameters.hpp"
#include "base/units.hpp"

namespace cxloom {

struct ThrottleParams {
  Bandwidth rate;
  Time window{1'000'000};
  double normal_delta = 1.0 / 16;
  double severe_delta = 1.0 / 4;
  double least = 1.0 / 16;

  static void describe(Schema<ThrottleParams>& schema);
};

}  // namespace cxloom
