#include "program/thread_branches.hpp"

#include <gtest/gtest.h>

#include <array>

namespace cxloom {
namespace {

// A block of one instruction of four bytes.
ProgramBlock block_at(std::uint64_t address, InstructionClass kind, RegisterSet reads = 0) {
  BlockInstruction instruction;
  instruction.kind = kind;
  instruction.length = 4;
  instruction.data_reads = reads;
  ProgramBlock block;
  block.address = block.last = address;
  block.instructions = {instruction};
  return block;
}

TEST(ThreadBranchesTest, WhatNeverGoesElsewhereIsNoBranch) {
  ThreadBranches branches(64);
  for (const InstructionClass kind :
       {InstructionClass::kInteger, InstructionClass::kJump, InstructionClass::kCall}) {
    branches.end(block_at(0x100, kind), {}, false);
    EXPECT_FALSE(branches.under_way());
  }
}

TEST(ThreadBranchesTest, AJumpByARegisterOrThroughMemoryIsOne) {
  ThreadBranches branches(64);
  branches.end(block_at(0x100, InstructionClass::kJump, 1), {}, false);
  EXPECT_TRUE(branches.under_way());
  EXPECT_FALSE(branches.go_to(0x500));  // nobody could know
  EXPECT_FALSE(branches.under_way());
  branches.end(block_at(0x200, InstructionClass::kJump), {}, true);
  EXPECT_TRUE(branches.under_way());
}

TEST(ThreadBranchesTest, WhereABranchAlwaysGoesIsLearnt) {
  ThreadBranches branches(64);
  bool right = false;
  for (int i = 0; i < 100; ++i) {
    branches.end(block_at(0x100, InstructionClass::kBranch), {}, false);
    right = branches.go_to(0x80);
  }
  EXPECT_TRUE(right);
  branches.end(block_at(0x100, InstructionClass::kBranch), {}, false);
  EXPECT_FALSE(branches.go_to(0x104));  // to the instruction behind it: it was not taken
}

TEST(ThreadBranchesTest, AReturnGoesBehindItsCall) {
  ThreadBranches branches(64);
  branches.end(block_at(0x100, InstructionClass::kCall), {}, false);
  branches.end(block_at(0x200, InstructionClass::kCall), {}, false);
  std::array<std::uint64_t, 3> callers{};
  branches.callers(callers);
  EXPECT_EQ(callers, (std::array<std::uint64_t, 3>{0x204, 0x104, 0}));
  branches.end(block_at(0x300, InstructionClass::kReturn), {}, true);
  EXPECT_TRUE(branches.go_to(0x204));
  branches.end(block_at(0x210, InstructionClass::kReturn), {}, true);
  EXPECT_FALSE(branches.go_to(0x999));
}

TEST(ThreadBranchesTest, RemembersWhatTheBranchWaitedFor) {
  ThreadBranches branches(64);
  branches.end(block_at(0x100, InstructionClass::kBranch), Dependence(7, 3, 40), false);
  branches.go_to(0x104);
  EXPECT_EQ(branches.needs().producer(), 7U);
  EXPECT_EQ(branches.needs().cycles(), 3U);
  EXPECT_EQ(branches.needs().known, 40U);
}

}  // namespace
}  // namespace cxloom
