// Random streams keyed by (seed, component, purpose): adding a device does not reshuffle the others, and the
// same key gives the same numbers on every machine.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/units.hpp"

namespace cxloom {

/// Mixes 64 bits well (the finaliser of SplitMix64; Steele, Lea and Flood, 2014).
constexpr std::uint64_t mix_bits(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15ULL;
  value = (value ^ (value >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  value = (value ^ (value >> 27U)) * 0x94d049bb133111ebULL;
  return value ^ (value >> 31U);
}

/// A stream of random numbers: xoshiro256** (Blackman and Vigna, 2018).
class RandomStream {
 public:
  RandomStream(std::uint64_t seed, std::string_view component, std::string_view purpose);

  std::uint64_t next() {
    const std::uint64_t result = rotate(state_[1] * 5, 7) * 9;
    const std::uint64_t shifted = state_[1] << 17U;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = rotate(state_[3], 45);
    return result;
  }
  /// Uniform in [0, bound), bound above zero; without modulo bias beyond 2^-64 (multiply-shift).
  std::uint64_t below(std::uint64_t bound) {
    return static_cast<std::uint64_t>((Wide{next()} * bound) >> 64U);
  }
  /// Uniform in [0, 1), 53 bits.
  double uniform() { return static_cast<double>(next() >> 11U) * 0x1.0p-53; }
  /// True with the given probability.
  bool chance(double probability) { return uniform() < probability; }
  /// Exponentially distributed with mean 1.
  double exponential();

 private:
  static constexpr std::uint64_t rotate(std::uint64_t value, unsigned bits) {
    return (value << bits) | (value >> (64U - bits));
  }

  std::uint64_t state_[4];
};

// Logarithm, exponential and power built from +, -, *, / alone, so that their last bit does not depend on the
// C library. Relative error below 1e-14 over the ranges that simulations use.
double natural_log(double value);               ///< value > 0
double exponential_of(double value);            ///< e^value, |value| < 700
double power_of(double base, double exponent);  ///< base > 0

}  // namespace cxloom
