#include "program/program_capture.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "core/support/program_capture_test.hpp"

namespace cxloom {
namespace {

using test::add;
using test::fence;
using test::flushing;
using test::instruction;
using test::kA;
using test::kB;
using test::load;
using test::Numbers;
using test::ProgramCaptureTest;
using test::read;
using test::store;
using test::write;

TEST_F(ProgramCaptureTest, AFenceWaitsForTheFlushesOfItsThread) {
  start({}, 4096);
  run({store(kA, kB), flushing(kB), fence(), fence()}, {write(0, 64), read(1, 64)});
  run({fence()}, {}, {2, 0});
  run({load(kA, kB)}, {read(0, 640)});
  ASSERT_EQ(records().size(), 4U);
  EXPECT_EQ(records_[1].kind, AccessKind::kFlush);
  EXPECT_TRUE(records_[1].brings);
  EXPECT_FALSE(records_[1].keeps);
  EXPECT_EQ(records_[1].instruction_gap, 1U);
  EXPECT_EQ(records_[2].role, AccessRole::kProgress);
  EXPECT_EQ(records_[2].dependence, kAllBefore);
  EXPECT_EQ(records_[2].instruction_gap, 1U);
  EXPECT_EQ(records_[2].thread, 1U);
  EXPECT_EQ(records_[3].dependence, 0U);
  EXPECT_EQ(records_[3].instruction_gap, 2U);
  EXPECT_EQ(filter_->records(), 3U);
  EXPECT_EQ(capture_->flushes(), 1U);
  EXPECT_EQ(capture_->loads(), 1U);
}

TEST_F(ProgramCaptureTest, AnAtomicOperationIsAFenceForFlushesAndALoadFenceIsNot) {
  start();
  run({flushing(kB, BlockInstruction::kFlushKeeping), fence(0),
       instruction(InstructionClass::kInteger, kB, kA, kA, 0, BlockInstruction::kAtomic)},
      {read(0, 64), {640, 8, 2, true, true}});
  ASSERT_EQ(records().size(), 4U);
  EXPECT_TRUE(records_[0].keeps);
  EXPECT_EQ(records_[1].dependence, kAllBefore);
  EXPECT_EQ(records_[1].instruction_gap, 2U);  // before its accesses
  EXPECT_EQ(records_[2].kind, AccessKind::kRead);
}

TEST_F(ProgramCaptureTest, AFlushWaitsForItsAddress) {
  start();
  run({load(kA, kB), add(kA, 0), flushing(kA)}, {read(0, 0), read(2, 4096)});
  EXPECT_EQ(dependences(), (Numbers{0, 1}));
}

TEST_F(ProgramCaptureTest, FlushesAreLeftOutIfNobodyWantsThem) {
  start({.flushes = false}, 4096);
  const std::vector<BlockInstruction> all{store(kA, kB), flushing(kB), fence(), load(kA, kB)};
  run(all, {write(0, 64), read(1, 64), read(3, 64)});
  EXPECT_EQ(records().size(), 1U);  // the line stays
  EXPECT_EQ(capture_->flushes(), 1U);
}

}  // namespace
}  // namespace cxloom
