#include "kernel/pool.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace cxloom {
namespace {

struct Thing {
  Thing* next = nullptr;
  int value = 7;
};

TEST(Pool, GivesFreshDistinctObjectsThatStayWhereTheyAre) {
  Pool<Thing> pool;
  std::vector<Thing*> taken;
  std::set<Thing*> distinct;
  for (int i = 0; i < 1000; ++i) {  // several slabs
    Thing& thing = pool.take();
    EXPECT_EQ(thing.value, 7);
    thing.value = i;
    taken.push_back(&thing);
    distinct.insert(&thing);
  }
  EXPECT_EQ(distinct.size(), 1000U);
  EXPECT_EQ(pool.live(), 1000U);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(taken[static_cast<std::size_t>(i)]->value, i);
}

TEST(Pool, UsesAgainWhatWasGivenBackAsIfNew) {
  Pool<Thing> pool;
  std::set<Thing*> seen;
  for (int i = 0; i < 5000; ++i) {
    Thing& thing = pool.take();
    EXPECT_EQ(thing.value, 7);
    EXPECT_EQ(thing.next, nullptr);
    thing.value = -1;
    seen.insert(&thing);
    pool.give_back(thing);
    EXPECT_EQ(pool.live(), 0U);
  }
  EXPECT_EQ(seen.size(), 1U);
}

}  // namespace
}  // namespace cxloom
