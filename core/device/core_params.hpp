// The parameters of the cores of a requester.
#pragma once

#include <cstdint>

#include "base/parameters.hpp"
#include "base/units.hpp"

namespace cxloom {

struct CoreParams {
  Frequency clock{Rate::per_time(4, 1'000)};
  std::uint32_t width = 6;
  double cycles_per_instruction = 0.25;
  std::uint32_t window = 512;
  std::uint32_t mshrs = 48;
  std::uint32_t store_buffer = 112;

  static void describe(Schema<CoreParams>& schema);
};

}  // namespace cxloom
