#include "base/random.hpp"

#include <bit>

#include "base/error.hpp"

namespace cxloom {

namespace {

constexpr double kLn2 = 0.69314718055994530942;

// FNV-1a over the text, then mixed: a key that differs in one letter starts an unrelated stream.
std::uint64_t hash_text(std::uint64_t hash, std::string_view text) {
  for (const char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3ULL;
  }
  return mix_bits(hash + text.size());
}

}  // namespace

RandomStream::RandomStream(std::uint64_t seed, std::string_view component, std::string_view purpose)
    : state_{} {
  std::uint64_t key = hash_text(hash_text(mix_bits(seed), component), purpose);
  for (std::uint64_t& word : state_) {
    key = mix_bits(key);
    word = key;
  }
  state_[0] |= 1U;  // xoshiro must not start from zero
}

double RandomStream::exponential() { return -natural_log(1.0 - uniform()); }

double natural_log(double value) {
  ensure(value > 0.0, "the logarithm of a number that is not positive");
  // value = m * 2^e with m in [sqrt(1/2), sqrt(2)); ln m = 2 artanh((m - 1) / (m + 1)).
  const auto bits = std::bit_cast<std::uint64_t>(value);
  auto exponent = static_cast<std::int64_t>((bits >> 52U) & 0x7ffU) - 1023;
  double mantissa = std::bit_cast<double>((bits & 0x000fffffffffffffULL) | 0x3ff0000000000000ULL);
  if (mantissa > 1.41421356237309504880) {
    mantissa *= 0.5;
    ++exponent;
  }
  const double ratio = (mantissa - 1.0) / (mantissa + 1.0);
  const double square = ratio * ratio;
  double sum = 0.0;
  for (int k = 23; k >= 1; k -= 2) sum = sum * square + 1.0 / static_cast<double>(k);
  return static_cast<double>(exponent) * kLn2 + 2.0 * ratio * sum;
}

double exponential_of(double value) {
  // e^value = 2^n * e^r with |r| <= ln 2 / 2.
  const double scaled = value / kLn2;
  const auto n = static_cast<std::int64_t>(scaled < 0.0 ? scaled - 0.5 : scaled + 0.5);
  const double rest = value - static_cast<double>(n) * kLn2;
  double sum = 1.0;
  for (int k = 16; k >= 1; --k) sum = 1.0 + sum * rest / static_cast<double>(k);
  return sum * std::bit_cast<double>(static_cast<std::uint64_t>(n + 1023) << 52U);
}

double power_of(double base, double exponent) { return exponential_of(exponent * natural_log(base)); }

}  // namespace cxloom
