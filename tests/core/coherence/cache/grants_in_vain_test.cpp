// Which grants are in vain, by the numbers of answers, which wrap.
#include "coherence/cache/grants_in_vain.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace cxloom {
namespace {

constexpr std::uint32_t kQuarter = 1U << 30U;
constexpr NodeId kHome{3};

bool in_vain(GrantsInVain& grants, std::uint32_t number, NodeId home = kHome) {
  CacheTransaction transaction;
  transaction.home = home;
  transaction.grant = number;
  return grants.has(transaction);
}

TEST(GrantsInVain, WhatTheHomeSentBeforeItTookTheLinesBack) {
  GrantsInVain grants;
  EXPECT_FALSE(in_vain(grants, 1));
  grants.add(kHome, 7);
  EXPECT_TRUE(in_vain(grants, 6));
  EXPECT_TRUE(in_vain(grants, 7));
  EXPECT_FALSE(in_vain(grants, 8));
  EXPECT_TRUE(in_vain(grants, 7));  // it was overtaken
  EXPECT_FALSE(in_vain(grants, 7, NodeId{2}));
  EXPECT_FALSE(in_vain(grants, 7, NodeId{4}));
}

TEST(GrantsInVain, HoldsWhereNumbersWrap) {
  GrantsInVain grants;
  grants.add(kHome, ~std::uint32_t{0});
  EXPECT_TRUE(in_vain(grants, ~std::uint32_t{0} - 1));
  EXPECT_FALSE(in_vain(grants, 2));
}

// Half of all numbers later a grant would be before the one that was taken back.
TEST(GrantsInVain, IsOverLongBeforeTheNumbersComeAgain) {
  GrantsInVain grants;
  grants.add(kHome, 7);
  for (std::uint32_t round = 1; round <= 8; ++round) {
    EXPECT_FALSE(in_vain(grants, 8 + round * kQuarter)) << round;
  }
  grants.add(kHome, 9);
  EXPECT_TRUE(in_vain(grants, 9));
}

TEST(GrantsInVain, WhatASnoopHasTakenThatWasAnsweredFirst) {
  GrantsInVain grants;
  CacheTransaction transaction;
  transaction.home = kHome;
  transaction.grant = 5;
  transaction.snooped_first = true;
  transaction.snooped = 5;
  EXPECT_TRUE(grants.has(transaction));
  transaction.snooped = 4;
  EXPECT_FALSE(grants.has(transaction));
}

}  // namespace
}  // namespace cxloom
