#include "program/core_pipeline.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace cxloom {
namespace {

/// Runs instructions that take so long, each of which needs the one before if they are a chain; gives the
/// cycle at which the last is dispatched.
std::uint64_t run(CorePipeline& pace, int count, bool chain, std::uint64_t latency) {
  static std::uint64_t known;
  if (!chain) known = 0;
  for (int i = 0; i < count; ++i) {
    pace.dispatch();
    const std::uint64_t done = std::max(pace.now(), chain ? known : 0) + latency;
    known = done;
    pace.retire(done);
  }
  return pace.now();
}

TEST(CorePipeline, IndependentInstructionsAreDispatchedSoManyACycle) {
  for (const std::uint32_t width : {1U, 4U, 6U}) {
    CorePipeline pace({.width = width, .window = 512});
    EXPECT_EQ(run(pace, 600, false, 1), (600 - 1) / width) << width;
  }
}

TEST(CorePipeline, AChainTakesItsLatenciesOnceTheWindowIsFull) {
  // Instruction k is executed from cycle 4 k on, retires at 4 (k + 1), and lets in the one a window behind
  // it.
  CorePipeline pace({.width = 4, .window = 16});
  run(pace, 0, false, 0);
  EXPECT_EQ(run(pace, 16, true, 4), 3U);
  EXPECT_EQ(run(pace, 1, true, 4), 4U);
  EXPECT_EQ(run(pace, 100, true, 4), 4U * 101);
}

TEST(CorePipeline, ALongInstructionHoldsTheWindowUp) {
  CorePipeline pace({.width = 4, .window = 64});
  run(pace, 1, false, 100);  // done in cycle 100
  EXPECT_EQ(run(pace, 63, false, 1), 15U);
  EXPECT_EQ(run(pace, 1, false, 1), 100U);
  EXPECT_EQ(run(pace, 3, false, 1), 100U);
  EXPECT_EQ(run(pace, 1, false, 1), 101U);
}

TEST(CorePipeline, NothingIsDispatchedBeforeItsTime) {
  CorePipeline pace({.width = 4, .window = 64});
  run(pace, 1, false, 1);
  pace.wait_until(20);
  EXPECT_EQ(run(pace, 4, false, 1), 20U);
  EXPECT_EQ(run(pace, 1, false, 1), 21U);
  pace.wait_until(7);
  EXPECT_EQ(run(pace, 3, false, 1), 21U);
}

TEST(CorePipeline, ItsFrontGoesOnAsItDoesItself) {
  CorePipeline one({.width = 3, .window = 16});
  CorePipeline other({.width = 3, .window = 16});
  const auto latency = [](std::uint64_t i) { return i * i % 7 * (i % 5 == 0 ? 9 : 1); };
  for (std::uint64_t i = 0; i < 200;) {
    CorePipeline::Front front(other);
    for (const std::uint64_t end = i + 1 + i % 9; i < end; ++i) {
      one.dispatch();
      front.dispatch();
      EXPECT_EQ(front.now(), one.now());
      one.retire(one.now() + latency(i));
      front.retire(front.now() + latency(i));
    }
    front.put_back();
    EXPECT_EQ(other.now(), one.now());
  }
  EXPECT_GT(one.now(), 200U);
}

TEST(CorePipeline, ALoadTakesWhatItsLevelTakes) {
  const CorePipeline pace({.load_cycles = {5, 15}});
  EXPECT_EQ(pace.load_cycles(0), 5U);
  EXPECT_EQ(pace.load_cycles(1), 15U);
  EXPECT_EQ(pace.load_cycles(2), 5U);  // in none: the memory's part is not the core's
}

}  // namespace
}  // namespace cxloom
