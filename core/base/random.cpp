#include "base/random.hpp"

#include <array>
#include <bit>
#include <cstddef>

#include "base/error.hpp"

namespace cxloom {

namespace {

constexpr double kLn2 = 0.69314718055994530942;

// The coefficients of e^x are 1 / k!, those of artanh(x) / x, in powers of the square of x, 1 / (2 k + 1).
constexpr std::array<double, 17> kExponential = [] {
  std::array<double, 17> terms{1.0};
  double factorial = 1.0;
  for (std::size_t k = 1; k < terms.size(); ++k) terms[k] = 1.0 / (factorial *= static_cast<double>(k));
  return terms;
}();
constexpr std::array<double, 12> kArtanh = [] {
  std::array<double, 12> terms{};
  for (std::size_t k = 0; k < terms.size(); ++k) terms[k] = 1.0 / static_cast<double>(2 * k + 1);
  return terms;
}();

// The even and the odd powers by themselves: of one chain of products each would wait for the one before it.
template <std::size_t kTerms>
double polynomial(const std::array<double, kTerms>& terms, double x) {
  const double square = x * x;
  std::array<double, 2> sums{};
  for (std::size_t k = kTerms + kTerms % 2; k-- > 0;)
    sums[k % 2] = sums[k % 2] * square + (k < kTerms ? terms[k] : 0.0);
  return sums[0] + x * sums[1];
}

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
  return static_cast<double>(exponent) * kLn2 + 2.0 * ratio * polynomial(kArtanh, ratio * ratio);
}

double exponential_of(double value) {
  // e^value = 2^n * e^r with |r| <= ln 2 / 2.
  const double scaled = value / kLn2;
  const auto n = static_cast<std::int64_t>(scaled < 0.0 ? scaled - 0.5 : scaled + 0.5);
  const double rest = value - static_cast<double>(n) * kLn2;
  return polynomial(kExponential, rest) * std::bit_cast<double>(static_cast<std::uint64_t>(n + 1023) << 52U);
}

double power_of(double base, double exponent) { return exponential_of(exponent * natural_log(base)); }

}  // namespace cxloom
