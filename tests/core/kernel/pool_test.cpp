#include "kernel/pool.hpp"

#include <gtest/gtest.h>

#include <cstdint>
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

struct Indexed {
  Indexed* next = nullptr;
  std::uint32_t index = 0;
  int value = 7;
};

TEST(Pool, AnObjectKeepsItsIndexThroughAllItsLives) {
  Pool<Indexed> pool;
  std::vector<Indexed*> taken;
  for (int i = 0; i < 1000; ++i) taken.push_back(&pool.take());
  for (std::uint32_t i = 0; i < 1000; ++i) {
    EXPECT_EQ(taken[i]->index, i);
    EXPECT_EQ(&pool.at(i), taken[i]);
    taken[i]->value = -1;
  }
  for (Indexed* each : taken) pool.give_back(*each);
  std::set<std::uint32_t> indices;
  for (int i = 0; i < 1000; ++i) {
    Indexed& again = pool.take();
    EXPECT_EQ(again.value, 7);
    EXPECT_EQ(&pool.at(again.index), &again);
    indices.insert(again.index);
  }
  EXPECT_EQ(indices.size(), 1000U);
  EXPECT_EQ(*indices.rbegin(), 999U);
}

}  // namespace
}  // namespace cxloom
