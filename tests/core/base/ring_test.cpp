#include "base/ring.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <random>

namespace cxloom {
namespace {

TEST(Ring, KeepsTheOrderWhileItGrowsAndWraps) {
  std::mt19937 random(1);
  Ring<int> ring;
  std::deque<int> expected;
  for (int i = 0; i < 10'000; ++i) {
    // Longer and shorter by turns, so that it grows with its front anywhere.
    if (random() % 5 < (i / 500 % 2 == 0 ? 3U : 2U) || expected.empty()) {
      ring.push_back(i);
      expected.push_back(i);
    } else {
      EXPECT_EQ(ring.front(), expected.front());
      ring.pop_front();
      expected.pop_front();
    }
    ASSERT_EQ(ring.size(), expected.size());
    ASSERT_EQ(ring.empty(), expected.empty());
  }
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(ring[i], expected[i]);
}

TEST(Ring, InsertsBehindItsEquals) {
  struct Item {
    int key;
    int number;
  };
  Ring<Item> ring;
  const auto before = [](const Item& a, const Item& b) { return a.key < b.key; };
  std::mt19937 random(2);
  for (int i = 0; i < 200; ++i) ring.insert({static_cast<int>(random() % 10), i}, before);
  for (std::size_t i = 1; i < ring.size(); ++i) {
    EXPECT_LE(ring[i - 1].key, ring[i].key);
    if (ring[i - 1].key == ring[i].key) {
      EXPECT_LT(ring[i - 1].number, ring[i].number);
    }
  }
}

}  // namespace
}  // namespace cxloom
