#include "program/pace.hpp"

#include <gtest/gtest.h>

namespace cxloom {
namespace {

/// Runs instructions that all read `reads`, write `writes` and take so long; gives the cycle at which the last is dispatched.
std::uint64_t run(Pace& pace, int count, RegisterSet reads, RegisterSet writes, std::uint64_t latency) {
  for (int i = 0; i < count; ++i) {
    pace.dispatch();
    const std::uint64_t done = pace.known(reads) + latency;
    pace.set(writes, done);
    pace.retire(done);
  }
  return pace.now();
}

TEST(Pace, IndependentInstructionsAreDispatchedSoManyACycle) {
  for (const std::uint32_t width : {1U, 4U, 6U}) {
    Pace pace({.width = width, .window = 512});
    EXPECT_EQ(run(pace, 600, 0, 1, 1), (600 - 1) / width) << width;
  }
}

TEST(Pace, AChainTakesItsLatenciesOnceTheWindowIsFull) {
  // Instruction k is executed from cycle 4 k on, retires at 4 (k + 1), and lets in the one a window behind it.
  Pace pace({.width = 4, .window = 16});
  EXPECT_EQ(run(pace, 16, 1, 1, 4), 3U);
  EXPECT_EQ(run(pace, 1, 1, 1, 4), 4U);
  EXPECT_EQ(run(pace, 100, 1, 1, 4), 4U * 101);
}

TEST(Pace, ALongInstructionHoldsTheWindowUp) {
  Pace pace({.width = 4, .window = 64});
  run(pace, 1, 0, 2, 100);  // done in cycle 100
  EXPECT_EQ(run(pace, 63, 0, 1, 1), 15U);
  EXPECT_EQ(run(pace, 1, 0, 1, 1), 100U);
  EXPECT_EQ(run(pace, 3, 0, 1, 1), 100U);
  EXPECT_EQ(run(pace, 1, 0, 1, 1), 101U);
}

}  // namespace
}  // namespace cxloom
