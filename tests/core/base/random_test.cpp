#include "base/random.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/error.hpp"

namespace cxloom {
namespace {

std::vector<std::uint64_t> first(RandomStream stream, int count) {
  std::vector<std::uint64_t> values;
  for (int i = 0; i < count; ++i) values.push_back(stream.next());
  return values;
}

TEST(RandomStream, AStreamDependsOnItsWholeKeyAndOnNothingElse) {
  const auto one = first(RandomStream(1, "host", "addresses"), 8);
  EXPECT_EQ(one, first(RandomStream(1, "host", "addresses"), 8));
  EXPECT_NE(one, first(RandomStream(2, "host", "addresses"), 8));
  EXPECT_NE(one, first(RandomStream(1, "host1", "addresses"), 8));
  EXPECT_NE(one, first(RandomStream(1, "host", "kinds"), 8));
  EXPECT_NE(first(RandomStream(1, "ab", "c"), 8), first(RandomStream(1, "a", "bc"), 8));
}

TEST(RandomStream, UniformHasTheMomentsOfTheUniformDistribution) {
  RandomStream random(1, "moments", "uniform");
  constexpr int kDraws = 1'000'000;
  double sum = 0.0;
  double squares = 0.0;
  for (int i = 0; i < kDraws; ++i) {
    const double x = random.uniform();
    ASSERT_GE(x, 0.0);
    ASSERT_LT(x, 1.0);
    sum += x;
    squares += x * x;
  }
  EXPECT_NEAR(sum / kDraws, 0.5, 5 * std::sqrt(1.0 / 12 / kDraws));
  EXPECT_NEAR(squares / kDraws, 1.0 / 3, 5 * std::sqrt(4.0 / 45 / kDraws));
}

TEST(RandomStream, ExponentialHasMeanAndVarianceOne) {
  RandomStream random(1, "moments", "exponential");
  constexpr int kDraws = 1'000'000;
  double sum = 0.0;
  double squares = 0.0;
  for (int i = 0; i < kDraws; ++i) {
    const double x = random.exponential();
    ASSERT_GE(x, 0.0);
    sum += x;
    squares += x * x;
  }
  EXPECT_NEAR(sum / kDraws, 1.0, 5 * std::sqrt(1.0 / kDraws));
  EXPECT_NEAR(squares / kDraws, 2.0, 5 * std::sqrt(20.0 / kDraws));
}

TEST(RandomStream, BelowIsUniformAndBelow) {
  RandomStream random(1, "below", "test");
  std::vector<int> counts(7, 0);
  for (int i = 0; i < 700'000; ++i) ++counts[random.below(7)];
  for (const int count : counts) EXPECT_NEAR(count, 100'000, 5 * std::sqrt(100'000.0 * 6 / 7));
  for (int i = 0; i < 100; ++i) EXPECT_EQ(random.below(1), 0U);
}

double relative(double got, long double exact) {
  return static_cast<double>(std::fabs((static_cast<long double>(got) - exact) / exact));
}

TEST(OwnMath, LogarithmAgreesWithTheLibraryTo1e14) {
  RandomStream random(4, "math", "log");
  for (int i = 0; i < 200'000; ++i) {
    const double x = random.uniform() * std::ldexp(1.0, static_cast<int>(random.below(120)) - 60);
    if (x == 0.0) continue;
    const long double exact = std::log(static_cast<long double>(x));
    if (std::fabs(exact) < 1e-6L) continue;
    ASSERT_LT(relative(natural_log(x), exact), 1e-14) << x;
  }
  EXPECT_EQ(natural_log(1.0), 0.0);
  EXPECT_LT(relative(natural_log(std::nextafter(1.0, 0.0)),
                     std::log(static_cast<long double>(std::nextafter(1.0, 0.0)))),
            1e-14);
  EXPECT_THROW(natural_log(0.0), InternalError);
  EXPECT_THROW(natural_log(-1.0), InternalError);
}

TEST(OwnMath, ExponentialAgreesWithTheLibrary) {
  RandomStream random(5, "math", "exp");
  for (int i = 0; i < 200'000; ++i) {
    const double x = (random.uniform() - 0.5) * 60.0;
    ASSERT_LT(relative(exponential_of(x), std::exp(static_cast<long double>(x))), 1e-14) << x;
    const double far = (random.uniform() - 0.5) * 1400.0;
    ASSERT_LT(relative(exponential_of(far), std::exp(static_cast<long double>(far))), 2e-13) << far;
  }
  EXPECT_EQ(exponential_of(0.0), 1.0);
}

TEST(OwnMath, PowerAgreesWithTheLibrary) {
  RandomStream random(6, "math", "pow");
  for (int i = 0; i < 200'000; ++i) {  // Zipf: ranks up to 2^24, exponents up to 2
    const double base = 1.0 + random.uniform() * 16'777'216.0;
    const double exponent = (random.uniform() - 0.5) * 4.0;
    ASSERT_LT(relative(power_of(base, exponent),
                       std::pow(static_cast<long double>(base), static_cast<long double>(exponent))),
              2e-14)
        << base << "^" << exponent;
  }
  EXPECT_EQ(power_of(7.0, 0.0), 1.0);
}

TEST(RandomStream, FirstValuesAreTheSameOnEveryMachine) {
  EXPECT_EQ(mix_bits(0), 0xe220a8397b1dcdafULL);  // the published first value of SplitMix64 with seed 0
  EXPECT_EQ(
      first(RandomStream(1, "host", "addresses"), 3),
      (std::vector<std::uint64_t>{0x457566e12b97bf51ULL, 0x73b5ad2948e53199ULL, 0x46c1ff035920889cULL}));
}

}  // namespace
}  // namespace cxloom
