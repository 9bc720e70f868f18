#include "interconnect/wire/wire.hpp"

#include <gtest/gtest.h>

#include "base/random.hpp"

namespace cxloom {
namespace {

using namespace literals;

TEST(Wire, CarriesOneAfterTheOther) {
  Wire wire(Rate::per_time(1, 10));  // 10 ps per byte
  const Wire::Use first = wire.carry(64, 100_ps, {}, 0);
  EXPECT_EQ(first.start, 100_ps);
  EXPECT_EQ(first.end, 740_ps);
  const Wire::Use second = wire.carry(16, 200_ps, {}, 0);  // ready while the first is on the wire
  EXPECT_EQ(second.start, 740_ps);
  EXPECT_EQ(second.end, 900_ps);
  EXPECT_EQ(wire.free_at(), 900_ps);
}

TEST(Wire, ATailThatComesLateHoldsIt) {
  Wire wire(Rate::per_time(1, 10));
  EXPECT_EQ(wire.carry(10, 0_ps, 500_ps, 0).end,
            500_ps);  // 100 ps of its own, but the last byte comes at 500
  EXPECT_EQ(wire.carry(10, 0_ps, 0_ps, 0).start, 500_ps);
}

TEST(Wire, TurnsAroundOnlyWhenTheDirectionChanges) {
  Wire wire(Rate::per_time(1, 10), 7_ps);
  EXPECT_EQ(wire.carry(10, 0_ps, {}, 1).start, 0_ps);  // nobody was first: no turn
  EXPECT_EQ(wire.free_for(1), 100_ps);
  EXPECT_EQ(wire.free_for(0), 107_ps);
  EXPECT_EQ(wire.carry(10, 0_ps, {}, 1).start, 100_ps);
  EXPECT_EQ(wire.carry(10, 0_ps, {}, 0).start, 207_ps);
  EXPECT_EQ(wire.carry(10, 310_ps, {}, 1).start, 314_ps);  // ready during the turn
  EXPECT_EQ(wire.carry(10, 1_us, {}, 0).start, 1_us);      // turned long ago
}

TEST(Wire, ARationalRateDoesNotDrift) {
  // 64 bytes in 1062.5 ps: back to back, the k-th ends at floor(k * 1062.5).
  Wire wire(Rate::per_time(128, 2125));
  for (std::int64_t k = 1; k <= 100'001; ++k) {
    ASSERT_EQ(wire.carry(64, 0_ps, {}, 0).end.ps(), k * 2125 / 2);
  }
}

TEST(Wire, AnIdleTimeDropsTheRemainder) {
  Wire wire(Rate::per_time(2, 3));  // 1.5 ps per byte
  EXPECT_EQ(wire.carry(1, 0_ps, {}, 0).end, 1_ps);
  EXPECT_EQ(wire.carry(1, 100_ps, {}, 0).end, 101_ps);  // starts afresh: again 1, not 2
  EXPECT_EQ(wire.carry(1, 0_ps, {}, 0).end, 103_ps);    // back to back: now the half picosecond counts
}

TEST(Wire, NeverOverlapsAndNeverGoesFasterThanItsRate) {
  RandomStream random(1, "wire", "test");
  Wire wire(Rate::per_time(3, 7), 20_ps);
  Time ready;
  Time free;
  unsigned last = 2;
  for (int i = 0; i < 20'000; ++i) {
    ready += Time{static_cast<std::int64_t>(random.below(300))};
    const auto direction = static_cast<unsigned>(random.below(2));
    const std::uint64_t bytes = random.below(200);
    const Wire::Use use = wire.carry(bytes, ready, {}, direction);
    const Time turn = last != 2 && last != direction ? 20_ps : 0_ps;
    ASSERT_EQ(use.start, std::max(ready, free + turn));
    const double exact = static_cast<double>(bytes) * 7.0 / 3.0;
    ASSERT_NEAR(static_cast<double>((use.end - use.start).ps()), exact, 1.0);
    free = use.end;
    last = direction;
  }
}

}  // namespace
}  // namespace cxloom
