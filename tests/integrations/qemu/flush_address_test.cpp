#include "integrations/qemu/flush_address.hpp"

#include <gtest/gtest.h>

#include <array>
#include <utility>
#include <vector>

namespace cxloom::qemu {
namespace {

constexpr RegisterSet kA = 1, kB = 2;

BlockInstruction made(RegisterSet address, RegisterSet result, unsigned bytes = 0, unsigned flags = 0) {
  BlockInstruction instruction;
  instruction.address_reads = address;
  instruction.data_writes = result;
  instruction.operand_bytes = static_cast<std::uint16_t>(bytes);
  instruction.flags = static_cast<std::uint16_t>(flags);
  return instruction;
}

const BlockInstruction kFlushOfA = made(kA, 0, 1, BlockInstruction::kFlushKeeping);
const BlockInstruction kChangeA = made(0, kA);
const BlockInstruction kChangeB = made(0, kB);
const BlockInstruction kMoveA = [] {
  BlockInstruction instruction = made(0, kA);
  instruction.data_reads = kA;
  return instruction;
}();
const BlockInstruction kStore = made(kB, 0, 8);
const BlockInstruction kLoadA = made(kB, kA, 8);

// Before which instruction the address of the flush at `flush` is known, and by how much it has moved then.
constexpr std::size_t kNowhere = 99;
std::pair<std::size_t, std::int64_t> point(const std::vector<BlockInstruction>& block, std::size_t flush,
                                           std::size_t earliest = 0) {
  std::vector<Increment> increments;
  for (const BlockInstruction& each : block) {
    const bool moves = each.data_writes == kMoveA.data_writes && each.data_reads == kA;
    increments.push_back(moves ? Increment{.of = 0, .by = 64} : Increment{});
  }
  const auto found = flush_point(block, increments, flush, {.base = 0, .index = 1, .scale = 2}, earliest);
  return found ? std::pair(found->instruction, found->moved) : std::pair(kNowhere, std::int64_t{0});
}

using Point = std::pair<std::size_t, std::int64_t>;

TEST(FlushAddress, ARegisterIsStoredByItsLastWriteBeforeAnAccessOrTheEnd) {
  EXPECT_EQ(point({kFlushOfA}, 0), Point(0, 0));
  EXPECT_EQ(point({kChangeA, kFlushOfA}, 1), Point(1, 0));
  EXPECT_EQ(point({kFlushOfA, kChangeA}, 0), Point(0, 0));
  EXPECT_EQ(point({kChangeA, kFlushOfA, kChangeA}, 1).first, kNowhere);
  EXPECT_EQ(point({kChangeB, kFlushOfA, kChangeA, kChangeB}, 1), Point(1, 0));
  // With the access between, it is stored.
  EXPECT_EQ(point({kChangeA, kStore, kFlushOfA, kChangeA}, 2), Point(2, 0));
  EXPECT_EQ(point({kChangeA, kFlushOfA, kStore, kChangeA}, 1), Point(1, 0));
  // What is loaded is written behind the access.
  EXPECT_EQ(point({kLoadA, kFlushOfA}, 1), Point(1, 0));
  EXPECT_EQ(point({kLoadA, kFlushOfA, kChangeA}, 1).first, kNowhere);
  EXPECT_EQ(point({kChangeA, kFlushOfA, kLoadA}, 1), Point(1, 0));
  // Flushes are no accesses of the emulator.
  EXPECT_EQ(point({kChangeA, kFlushOfA, kFlushOfA, kChangeA}, 2).first, kNowhere);
}

TEST(FlushAddress, APointerThatMovesOnIsLookedAtBehindThat) {
  EXPECT_EQ(point({kChangeA, kFlushOfA, kMoveA, kChangeB}, 1), Point(3, 64));
  EXPECT_EQ(point({kChangeA, kFlushOfA, kChangeB, kMoveA, kMoveA, kStore}, 1), Point(5, 128));
  EXPECT_EQ(point({kChangeA, kFlushOfA, kMoveA}, 1).first, kNowhere);  // there is nothing behind
  EXPECT_EQ(point({kChangeA, kFlushOfA, kMoveA, kChangeA, kStore}, 1).first, kNowhere);
  // None is known before those before it.
  EXPECT_EQ(point({kFlushOfA, kChangeB, kStore}, 0, 1), Point(1, 0));
  EXPECT_EQ(point({kFlushOfA, kStore, kChangeB}, 0, 2).first, kNowhere);
}

TEST(FlushAddress, IsMadeOfRegisters) {
  std::array<std::uint64_t, 16> registers{};
  registers[3] = 0x1000;
  registers[15] = 5;
  EXPECT_EQ(address_of({.base = 3, .index = 15, .scale = 8, .displacement = -8}, registers.data(), 0),
            0x1020U);
  EXPECT_EQ(address_of({.displacement = 16, .relative = true}, registers.data(), 0x400000), 0x400010U);
  EXPECT_EQ(address_of({.displacement = 64}, registers.data(), 7), 64U);
}

}  // namespace
}  // namespace cxloom::qemu
