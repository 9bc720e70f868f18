// Bursts of one requester that wait for room: they come in the same order whether others might have some,
// too, or not.

#include "memory/dram/queue/arrivals.hpp"

#include <gtest/gtest.h>

#include "base/random.hpp"

namespace cxloom {
namespace {

DramConfig small() {
  DramConfig config;
  config.read_queue = 8;
  config.write_queue = 8;
  return config;
}

class Arrivals : public ::testing::Test {
 protected:
  void arrive(bool write, Clock ready) {
    DramBurst burst;
    burst.access = ++count;
    burst.requester = NodeId{3};
    burst.write = write;
    for (DramArrivals* arrivals : {&alone, &among}) arrivals->push(burst, ready, 48);
  }
  void expect_equal(Clock now) const {
    for (const bool write : {false, true}) {
      ASSERT_EQ(alone.empty(write), among.empty(write));
      ASSERT_EQ(alone.ready(write), among.ready(write));
    }
    ASSERT_EQ(alone.write_first(), among.write_first());
    ASSERT_EQ(alone.read_bound(now, 48), among.read_bound(now, 48));
  }

  DramArrivals alone{small(), false};
  DramArrivals among{small(), false};
  std::uint32_t count = 0;
};

TEST_F(Arrivals, OfOneRequesterLeaveInTheOrderInWhichTheyCame) {
  RandomStream random(1, "arrivals", "test");
  Clock ready = 1;
  std::array<std::uint32_t, 2> last{};
  std::uint64_t waited = 0;
  for (Clock now = 1; now < 20'000; ++now) {
    for (; ready <= now + 3; ready += static_cast<Clock>(random.below(4)))
      arrive(random.below(3) == 0, ready);
    const bool write = random.below(2) == 0;
    if (random.below(3) == 0 || alone.ready(write) > now) continue;  // there is no room, or none has come
    if (alone.ready(write) < now) ++waited;
    const DramArrival first = alone.pop(write, now, false);
    const DramArrival same = among.pop(write, now, random.below(2) == 0);
    ASSERT_EQ(first.burst.access, same.burst.access);
    ASSERT_GT(first.burst.access, last[write]);
    last[write] = first.burst.access;
    expect_equal(now);
  }
  EXPECT_GT(waited, 1'000U);
}

}  // namespace
}  // namespace cxloom
