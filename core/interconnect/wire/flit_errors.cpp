#include "interconnect/wire/flit_errors.hpp"

namespace cxloom {
namespace {

/// 1 - (1 - p)^n without losing small p.
double any_of(double probability, unsigned count) {
  double none_fails = 0.0;
  for (unsigned i = 0; i < count; ++i) none_fails += probability * (1.0 - none_fails);
  return none_fails;
}

/// Two or more of n.
double two_of(double probability, unsigned count) {
  double one = 0.0;
  double two = 0.0;
  for (unsigned i = 0; i < count; ++i) {
    const double zero = 1.0 - one - two;
    two += one * probability;
    one += (zero - one) * probability;
  }
  return two;
}

}  // namespace

double flit_error_probability(FlitMode mode, double bit_error_rate) {
  if (mode == FlitMode::k68B) return any_of(bit_error_rate, 68 * 8);
  const double byte = any_of(bit_error_rate, 8);  // 256 = 86 + 85 + 85 bytes
  const double longest = two_of(byte, 86);
  return longest + (1.0 - longest) * any_of(two_of(byte, 85), 2);
}

FlitErrors::FlitErrors(const LinkErrorParams& params, FlitMode mode, std::uint64_t seed,
                       std::string_view link)
    : probability_(flit_error_probability(mode, params.bit_error_rate)),
      every_(params.every.value_or(0)),
      random_(seed, link, "flit errors") {}

}  // namespace cxloom
