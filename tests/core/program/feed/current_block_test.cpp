#include "program/feed/current_block.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace cxloom {
namespace {

// Instructions of four bytes with operands of so many.
ProgramBlock block_of(std::uint64_t address, const std::vector<std::uint16_t>& operands,
                      bool repeats = false) {
  ProgramBlock block;
  block.address = address;
  block.last = address + 4 * (operands.size() - 1);
  block.repeats = repeats;
  for (const std::uint16_t bytes : operands) {
    BlockInstruction instruction;
    instruction.length = 4;
    instruction.operand_bytes = bytes;
    block.instructions.push_back(instruction);
  }
  return block;
}

std::uint64_t load_by(std::uint32_t instruction, std::uint64_t address) {
  return feed::access(feed::access_of(instruction), address, 3, 1);
}
std::uint64_t store_by(std::uint32_t instruction, std::uint64_t address) {
  return feed::access(feed::access_of(instruction), address, 3, 2);
}

TEST(CurrentBlockTest, CollectsAccessesUntilItIsLeft) {
  const ProgramBlock block = block_of(0x100, {8, 8});
  CurrentBlock entered;
  EXPECT_EQ(entered.block(), nullptr);
  entered.enter(block, nullptr);
  EXPECT_TRUE(entered.access(load_by(0, 0x5000)));
  EXPECT_TRUE(entered.access(store_by(1, 0x6000)));
  ASSERT_EQ(entered.accesses().size(), 2U);
  EXPECT_EQ(entered.accesses()[1].address, 0x6000U);
  EXPECT_EQ(entered.accesses()[1].instruction, 1U);
  EXPECT_TRUE(entered.accesses()[1].writes);
  EXPECT_FALSE(entered.accesses()[1].reads);
  entered.leave();
  EXPECT_EQ(entered.block(), nullptr);
  EXPECT_TRUE(entered.accesses().empty());
}

TEST(CurrentBlockTest, PiecesAreJoinedUpToTheOperand) {
  const ProgramBlock block = block_of(0x100, {16, 8});
  CurrentBlock entered;
  entered.enter(block, nullptr);
  entered.access(load_by(0, 0x5000));
  entered.access(load_by(0, 0x5008));
  ASSERT_EQ(entered.accesses().size(), 1U);
  EXPECT_EQ(entered.accesses()[0].size, 16U);
  entered.access(load_by(0, 0x5010));   // more than the operand has
  entered.access(store_by(0, 0x5018));  // another direction
  entered.access(store_by(1, 0x5020));  // another instruction
  EXPECT_EQ(entered.accesses().size(), 4U);
}

TEST(CurrentBlockTest, WhatIsOfNoInstructionIsDropped) {
  const ProgramBlock block = block_of(0x100, {8, 8});
  CurrentBlock entered;
  EXPECT_FALSE(entered.access(load_by(0, 0x5000)));  // in no block
  entered.enter(block, nullptr);
  EXPECT_FALSE(entered.access(load_by(2, 0x5000)));  // behind its end
  EXPECT_TRUE(entered.access(load_by(1, 0x5000)));
  EXPECT_FALSE(entered.access(load_by(0, 0x5000)));  // it is past that one
  EXPECT_EQ(entered.accesses().size(), 1U);
}

TEST(CurrentBlockTest, WhatCannotBeIsRefused) {
  const ProgramBlock block = block_of(0x100, {8});
  CurrentBlock entered;
  EXPECT_THROW(entered.access(feed::access(feed::access_of(0), 0x5000, 3, 0)), SimulationError);
  for (std::size_t i = 0; i < CurrentBlock::kMostAccesses; ++i) entered.access(load_by(0, 0x5000));
  EXPECT_THROW(entered.access(load_by(0, 0x5000)), SimulationError);  // strays without end
  CurrentBlock other;
  other.enter(block, nullptr);
  for (std::size_t i = 0; i < CurrentBlock::kMostAccesses; ++i) other.access(load_by(0, 0x5000));
  EXPECT_THROW(other.access(load_by(0, 0x5000)), SimulationError);
}

TEST(CurrentBlockTest, ARepeatedInstructionGoesOnWithItself) {
  const ProgramBlock first = block_of(0x100, {8, 8});        // its last instruction is at 0x104
  const ProgramBlock again = block_of(0x104, {8, 8}, true);  // begins with that one
  const ProgramBlock plain = block_of(0x104, {8, 8}, false);
  CurrentBlock entered;
  entered.enter(again, &first);
  EXPECT_TRUE(entered.is_continued());
  entered.enter(again, &again);  // whose last one is at 0x108
  EXPECT_FALSE(entered.is_continued());
  entered.enter(plain, &first);
  EXPECT_FALSE(entered.is_continued());
  entered.enter(again, nullptr);
  EXPECT_FALSE(entered.is_continued());
}

// An instruction is left for a block of its own, which begins with it.
TEST(CurrentBlockTest, WhatWasDoneOfABlockThatIsLeftIsKept) {
  const ProgramBlock block = block_of(0x100, {8, 8, 8});
  CurrentBlock entered;
  entered.enter(block, nullptr);
  entered.access(load_by(0, 0x5000));
  ASSERT_TRUE(entered.leave_before(block_of(0x108, {8})));
  EXPECT_EQ(entered.block()->instructions.size(), 2U);
  EXPECT_EQ(entered.block()->address, 0x100U);
  EXPECT_EQ(entered.block()->last, 0x104U);
  EXPECT_EQ(entered.accesses().size(), 1U);
  // It may be left before an earlier one yet, as when that is done again for another reason.
  ASSERT_TRUE(entered.leave_before(block_of(0x104, {8})));
  EXPECT_EQ(entered.block()->instructions.size(), 1U);
  EXPECT_EQ(entered.block()->last, 0x100U);
}

TEST(CurrentBlockTest, OfABlockThatIsLeftBeforeItsFirstInstructionNothingIsKept) {
  const ProgramBlock block = block_of(0x100, {8, 8}, true);
  const ProgramBlock alone = block_of(0x100, {8}, true);
  CurrentBlock entered;
  entered.enter(block, &alone);
  EXPECT_TRUE(entered.is_continued());
  EXPECT_FALSE(entered.leave_before(alone));
  entered.replace(alone);
  EXPECT_EQ(entered.block(), &alone);
  EXPECT_TRUE(entered.is_continued());  // as it was
  EXPECT_TRUE(entered.access(load_by(0, 0x5000)));
}

TEST(CurrentBlockTest, ABlockThatIsLeftForAnotherPlaceIsWhole) {
  const ProgramBlock block = block_of(0x100, {8, 8});
  CurrentBlock entered;
  entered.enter(block, nullptr);
  EXPECT_TRUE(entered.leave_before(block_of(0x900, {8})));
  EXPECT_EQ(entered.block()->instructions.size(), 2U);
}

}  // namespace
}  // namespace cxloom
