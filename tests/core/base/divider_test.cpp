#include "base/divider.hpp"

#include <gtest/gtest.h>

#include <cstdint>

#include "base/random.hpp"

namespace cxloom {
namespace {

constexpr std::uint64_t kLargest = (std::uint64_t{1} << 63U) - 1;

TEST(Divider, DividesAsTheProcessorDoes) {
  RandomStream random(1, "divider", "test");
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    // Numbers of all lengths, and those around powers of two, where a bit more is needed.
    const std::uint64_t divisor = i < 62 * 3 ? (std::uint64_t{2} << (i / 3)) + i % 3 - 1
                                             : 1 + (random.next() >> (2 + random.below(62)));
    const Divider by(divisor);
    for (const std::uint64_t dividend :
         {std::uint64_t{0}, divisor - 1, divisor, divisor + 1, kLargest, kLargest / divisor * divisor - 1,
          kLargest / divisor * divisor, random.next() >> (1 + random.below(63))}) {
      ASSERT_EQ(by(dividend), dividend / divisor) << dividend << " / " << divisor;
    }
  }
}

}  // namespace
}  // namespace cxloom
