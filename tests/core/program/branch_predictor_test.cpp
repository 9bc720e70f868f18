#include "program/branch_predictor.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "base/random.hpp"

namespace cxloom {
namespace {

constexpr std::uint32_t kEntries = 4096;

/// Wrong predictions of the last `counted` of so many.
int wrong(int all, int counted, const std::function<bool(int)>& right) {
  int count = 0;
  for (int i = 0; i < all; ++i) {
    const bool was_right = right(i);
    if (i >= all - counted && !was_right) ++count;
  }
  return count;
}

TEST(BranchPredictor, ABranchThatAlwaysGoesOneWayIsLearntAtOnce) {
  for (const bool taken : {false, true}) {
    BranchPredictor predictor(kEntries);
    EXPECT_LE(wrong(1000, 1000, [&](int) { return predictor.direction(0x400000, taken); }), 2) << taken;
  }
}

TEST(BranchPredictor, WhatRepeatsWithinTheHistoryIsLearnt) {
  // A loop of so many rounds is left once each time: a counter alone would miss that.
  for (const int rounds : {2, 3, 7, 12, 31, 60}) {
    BranchPredictor predictor(kEntries);
    EXPECT_EQ(wrong(40000, 4000, [&](int i) { return predictor.direction(0x400000, i % rounds != 0); }), 0)
        << rounds;
  }
}

TEST(BranchPredictor, ALoopLongerThanTheHistoryIsLeftByAWrongPrediction) {
  BranchPredictor predictor(kEntries);
  EXPECT_EQ(wrong(100'000, 10'000, [&](int i) { return predictor.direction(0x400000, i % 100 != 0); }), 100);
}

TEST(BranchPredictor, ABranchFollowsAnotherThatTellsItsOutcome) {
  BranchPredictor predictor(kEntries);
  RandomStream random(1, "outcomes", "test");
  EXPECT_LE(wrong(20000, 2000,
                  [&](int) {
                    const bool taken = random.below(2) == 0;
                    predictor.direction(0x400000, taken);
                    return predictor.direction(0x400100, !taken);
                  }),
            20);
}

// Nobody predicts better than by the likelier way; learning from noise costs a little.
TEST(BranchPredictor, OfRandomBranchesTheRareWayIsWrong) {
  for (const std::uint64_t percent : {10U, 30U, 50U}) {
    BranchPredictor predictor(kEntries);
    RandomStream random(2, "outcomes", "test");
    const int count = wrong(200'000, 100'000,
                            [&](int) { return predictor.direction(0x400000, random.below(100) < percent); });
    EXPECT_GE(count, 100'000 * 0.01 * static_cast<double>(percent) * 0.97) << percent;
    EXPECT_LE(count, 100'000 * 0.01 * static_cast<double>(percent) * 1.35) << percent;
  }
}

TEST(BranchPredictor, ATargetGoesByWhatWasBefore) {
  // An interpreter runs a program of ten operations, of which three are the same: its one jump goes where the
  // last ones lead.
  constexpr std::array<std::uint64_t, 10> kProgram = {1, 2, 3, 1, 4, 5, 1, 6, 7, 8};
  BranchPredictor predictor(kEntries);
  EXPECT_EQ(wrong(2000, 1000,
                  [&](int i) {
                    return predictor.target(0x400000,
                                            0x500000 + 64 * kProgram[static_cast<std::size_t>(i) % 10]);
                  }),
            0);
  EXPECT_FALSE(predictor.target(0x400000, 0x600000));
}

TEST(BranchPredictor, ReturnsGoBehindTheirCalls) {
  BranchPredictor predictor(kEntries);
  for (std::uint64_t depth = 0; depth < 32; ++depth) predictor.call(depth);
  for (std::uint64_t depth = 32; depth-- > 0;) EXPECT_TRUE(predictor.returns(depth));
  for (std::uint64_t depth = 0; depth < 33; ++depth)
    predictor.call(depth);  // one more than there is room for
  for (std::uint64_t depth = 33; depth-- > 1;) EXPECT_TRUE(predictor.returns(depth));
  EXPECT_FALSE(predictor.returns(0));
}

TEST(BranchPredictor, KnowsTheCallsThatAreUnderWay) {
  using Callers = std::array<std::uint64_t, 3>;
  BranchPredictor predictor(kEntries);
  Callers callers{};
  predictor.returns(9);  // of a call that nobody saw
  predictor.call(10);
  predictor.call(20);
  predictor.callers(callers);
  EXPECT_EQ(callers, (Callers{20, 10, 0}));
  predictor.returns(20);
  predictor.callers(callers);
  EXPECT_EQ(callers, (Callers{10, 0, 0}));
  for (std::uint64_t depth = 100; depth < 140; ++depth) predictor.call(depth);
  predictor.callers(callers);
  EXPECT_EQ(callers, (Callers{139, 138, 137}));
}

}  // namespace
}  // namespace cxloom
