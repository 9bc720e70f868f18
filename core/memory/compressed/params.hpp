// The parameters of inline compression before other media.
#pragma once

#include <cstdint>

#include "base/parameters.hpp"
#include "base/units.hpp"

namespace cxloom {

class MemoryEstimate;

struct CompressedParams {
  Bytes block{1024};
  Bytes sector{256};
  Bytes page{4096};
  double ratio = 2.0;
  double spread = 0.0;
  Time compress_time{200'000};
  Time decompress_time{100'000};
  std::uint32_t engines = 4;
  KindSpec backing;

  /// Bytes that a block of so many bytes takes compressed by `ratio`: whole sectors, the block at most.
  std::uint64_t stored(double compressed_by) const;

  /// Bytes that the other media have for a block: what blocks take on average, in whole sectors.
  std::uint64_t place() const;

  static void describe(Schema<CompressedParams>& schema);
  static void estimate(const CompressedParams& params, MemoryEstimate& memory);
};

}  // namespace cxloom
