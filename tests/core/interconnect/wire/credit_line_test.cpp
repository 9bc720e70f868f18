#include "interconnect/wire/credit_line.hpp"

#include <gtest/gtest.h>

#include <set>

#include "base/random.hpp"
#include "core/support/probe.hpp"
#include "kernel/kernel.hpp"

namespace cxloom {
namespace {

using namespace literals;

struct CreditedUser {
  explicit CreditedUser(std::uint32_t credits) : line(user, 10_ns, ClassVc{3}, credits) {}

  Kernel kernel;
  test::Probe probe{kernel, "user"};
  CreditUser user{kernel, probe, kernel.new_source()};
  CreditLine line;
};

TEST(CreditLine, CreditsArriveInTheOrderOfTimeWheneverTheyWereGiven) {
  // Beside a sorted set. A third of them is given for earlier than the one before.
  constexpr std::uint32_t kCredits = 37;
  RandomStream random(5, "credit_line", "gifts");
  CreditedUser given(kCredits);
  std::multiset<Time> coming;
  Time at;
  for (int step = 0; step < 100'000; ++step) {
    if (coming.size() < kCredits && random.chance(0.5)) {
      at += Time{static_cast<std::int64_t>(random.below(100))};
      const Time leaves = random.chance(0.33) ? at - Time{static_cast<std::int64_t>(random.below(50))} : at;
      given.line.give(leaves);
      coming.insert(leaves + 10_ns);
    } else if (!coming.empty()) {
      const Time first = *coming.begin();
      EXPECT_FALSE(given.line.arrived(first - 1_ps));
      ASSERT_TRUE(given.line.arrived(first));
      ASSERT_EQ(given.line.take(), first) << step;
      coming.erase(coming.begin());
    } else {
      EXPECT_FALSE(given.line.arrived(Time::max()));
    }
  }
}

TEST(CreditLine, HasRoomForAllCreditsAndNoMore) {
  for (const std::uint32_t credits : {1U, 2U, 3U, 64U}) {
    CreditedUser given(credits);
    for (std::uint32_t i = 0; i < credits; ++i) given.line.give(Time{});
    EXPECT_THROW(given.line.give(Time{}), InternalError) << credits;
  }
}

TEST(CreditLine, WakesWhoWaitsWithTheFirstThatArrives) {
  // It waits when one is under way for 30 ns; one that is given later is there at 20 ns.
  CreditedUser given(4);
  given.line.give(20_ns);
  given.line.await();
  given.line.give(10_ns);
  given.line.give(40_ns);
  given.kernel.run(Time::max(), ~std::uint64_t{0});
  ASSERT_FALSE(given.probe.wakes.empty());
  EXPECT_EQ(given.probe.wakes.front().time, 20_ns);
  EXPECT_EQ(given.probe.wakes.front().kind, 3);
}

}  // namespace
}  // namespace cxloom
