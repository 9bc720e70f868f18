// The parameters of inline ECC before other media.
#pragma once

#include <cstdint>

#include "base/memory_estimate.hpp"
#include "base/parameters.hpp"
#include "base/units.hpp"

namespace cxloom {

struct InlineEccParams {
  std::uint32_t data_lines = 8;
  Bytes cache{16'384};
  std::uint32_t ways = 8;
  KindSpec backing;

  static void describe(Schema<InlineEccParams>& schema);
  static void estimate(const InlineEccParams& params, MemoryEstimate& memory);
};

}  // namespace cxloom
