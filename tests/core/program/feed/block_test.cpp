#include "program/feed/block.hpp"

#include <gtest/gtest.h>

#include "core/support/program_capture_test.hpp"

namespace cxloom {
namespace {

using test::add;
using test::instruction;
using test::kA;
using test::kB;
using test::kC;
using test::kStackPointer;

ProgramBlock block_of(std::vector<BlockInstruction> instructions) {
  ProgramBlock block;
  block.address = 0x100;
  block.instructions = std::move(instructions);
  block.complete();
  return block;
}

TEST(ProgramBlockTest, HasItsLastAddressItsMarksAndWhetherItRepeats) {
  const ProgramBlock plain = block_of({add(kA, kB), add(kA, kB), add(kA, kB)});  // of four bytes each
  EXPECT_EQ(plain.last, 0x108U);
  EXPECT_FALSE(plain.marks);
  EXPECT_FALSE(plain.repeats);
  const auto flagged = [](std::uint16_t flag) {
    return instruction(InstructionClass::kString, 0, 0, 0, 0, flag);
  };
  EXPECT_TRUE(block_of({flagged(BlockInstruction::kRepeated), add(kA, kB)}).repeats);
  EXPECT_FALSE(block_of({add(kA, kB), flagged(BlockInstruction::kRepeated)}).repeats);
  for (const std::uint16_t mark :
       {BlockInstruction::kRegionBegin, BlockInstruction::kRegionEnd, BlockInstruction::kRegionEntry})
    EXPECT_TRUE(block_of({add(kA, kB), flagged(mark)}).marks);
}

TEST(ProgramBlockTest, NamesTheRegistersOfInstructionsThatHaveFew) {
  const ProgramBlock block =
      block_of({instruction(InstructionClass::kInteger, kStackPointer, kA | kC, kB, kStackPointer),
                instruction(InstructionClass::kInteger, 0, kA | kB | kC, kA),
                instruction(InstructionClass::kInteger, 0, 0, kA | kB | kC)});
  const FewRegisters& few = block.registers[0];
  EXPECT_TRUE(few.all);
  EXPECT_EQ(few.address_reads, (FewRegisters::Pair{3, FewRegisters::kNothing}));
  EXPECT_EQ(few.data_reads, (FewRegisters::Pair{0, 2}));
  EXPECT_EQ(few.data_writes, (FewRegisters::Pair{1, FewRegisters::kNowhere}));
  EXPECT_EQ(few.pointer_write, 3U);
  EXPECT_FALSE(block.registers[1].all);  // it reads three
  EXPECT_FALSE(block.registers[2].all);  // it writes three
}

TEST(ProgramBlockTest, CountsInstructionsOneBehindTheOtherThatOnlyCompute) {
  const BlockInstruction flush = test::flushing(kA);
  const BlockInstruction push = instruction(InstructionClass::kMove, kStackPointer, kA, 0, kStackPointer);
  const ProgramBlock block = block_of({add(kA, kB), add(kB, kC), flush, add(kA, kB), push, add(kA, kB)});
  std::vector<std::uint16_t> alike;
  for (const FewRegisters& few : block.registers) alike.push_back(few.alike);
  EXPECT_EQ(alike, (std::vector<std::uint16_t>{2, 1, 0, 1, 0, 1}));
  EXPECT_FALSE(block.registers[2].all);
  EXPECT_TRUE(block.registers[4].all);
}

}  // namespace
}  // namespace cxloom
