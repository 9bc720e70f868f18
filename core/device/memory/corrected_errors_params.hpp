// The parameters of errors that a memory corrects.
#pragma once

#include <cstdint>
#include <vector>

#include "base/parameters.hpp"
#include "base/units.hpp"

namespace cxloom {

/// A part of a memory in which errors occur.
struct FaultyPartParams {
  Address base;
  Bytes size{8192};
  Time every;

  static void describe(Schema<FaultyPartParams>& schema);
};

/// When errors of a part occur.
enum class ErrorTimes : std::uint8_t {
  kRandom,  ///< independently: times between them are exponential
  kEven,    ///< at a fixed distance
};

struct CorrectedErrorsParams {
  std::vector<FaultyPartParams> parts;
  std::uint32_t threshold = 10;
  ErrorTimes times = ErrorTimes::kRandom;
  Bytes buffer{kLineBytes};

  static void describe(Schema<CorrectedErrorsParams>& schema);
};

}  // namespace cxloom
