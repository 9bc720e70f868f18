// Which flits arrive corrupted beyond correction: at random by the bit error rate, or every so many-th.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/random.hpp"
#include "interconnect/wire/flit_params.hpp"
#include "protocol/flit/format.hpp"

namespace cxloom {

/// Probability that a flit must be sent again. 68B: any wrong bit is seen by the CRC. 256B: the FEC corrects
/// one byte in each of three interleaved groups, so two wrong bytes in one group are too many (PCIe 6.0).
/// Bits fail independently.
double flit_error_probability(FlitMode mode, double bit_error_rate);

class FlitErrors {
 public:
  FlitErrors(const LinkErrorParams& params, FlitMode mode, std::uint64_t seed, std::string_view link);

  bool possible() const { return every_ > 0 || probability_ > 0.0; }
  /// Whether the next new flit is corrupted.
  bool corrupts() {
    if (every_ > 0 && ++flits_ % every_ == 0) return true;
    return corrupts_again();
  }
  /// Whether a flit that is sent again is corrupted again: not by the injector.
  bool corrupts_again() { return probability_ > 0.0 && random_.chance(probability_); }

 private:
  double probability_;
  std::uint64_t every_;
  std::uint64_t flits_ = 0;
  RandomStream random_;
};

}  // namespace cxloom
