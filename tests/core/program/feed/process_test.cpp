#include "program/feed/process.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "core/support/feed_bench.hpp"

namespace cxloom {
namespace {

class FeedProcessTest : public testing::Test {
 protected:
  FeedWriter process(std::uint32_t number, std::uint32_t parent, std::uint32_t inherited = 0) {
    folder_.control().rings.store(number + 1);
    return bench_.write(folder_.control(), {.kind = FeedRingHead::kProcess,
                                            .number = number,
                                            .process = number,
                                            .parent = parent,
                                            .inherited = inherited,
                                            .replaces = number});
  }
  FeedProcess opened() { return {std::move(folder_.open_rings().front()), 0}; }
  // A block of one instruction at that address.
  static void describe(FeedWriter& writer, std::uint32_t number, std::uint64_t address) {
    BlockInstruction instruction;
    instruction.length = 4;
    std::uint64_t words[block_form::kInstructionWords];
    block_form::write(instruction, words);
    writer.put(block_form::head(number, 1));
    writer.put(address);
    for (const std::uint64_t word : words) writer.put(word);
  }

  test::FeedBench bench_;
  FeedDirectory folder_{bench_.path(), {1U << 10U, 1U << 12U}};
};

TEST_F(FeedProcessTest, ABlockIsKnownWhenItIsEntered) {
  FeedWriter writer = process(0, 0);
  FeedProcess code = opened();
  EXPECT_THROW(code.block(0), SimulationError);
  describe(writer, 0, 0x100);
  describe(writer, 1, 0x200);
  EXPECT_EQ(code.block(1).address, 0x200U);
  EXPECT_EQ(code.block(0).address, 0x100U);
  EXPECT_THROW(code.block(2), SimulationError);
}

TEST_F(FeedProcessTest, AForkKnowsWhatItsParentKnewThen) {
  FeedWriter writer = process(0, 0);
  FeedProcess parent = opened();
  describe(writer, 0, 0x100);
  describe(writer, 1, 0x200);
  writer.count_fork();
  EXPECT_FALSE(parent.has_all_forks());
  FeedWriter of_child = process(1, 0, 1);
  FeedProcess child = opened();
  child.inherit(parent);
  EXPECT_TRUE(parent.has_all_forks());
  describe(of_child, 1, 0x300);
  EXPECT_EQ(child.block(0).address, 0x100U);
  EXPECT_EQ(child.block(1).address, 0x300U);
  EXPECT_EQ(parent.block(1).address, 0x200U);
}

TEST_F(FeedProcessTest, AForkThatKnowsMoreThanItsParentIsRefused) {
  process(0, 0);
  FeedProcess parent = opened();
  process(1, 0, 1);
  FeedProcess child = opened();
  EXPECT_THROW(child.inherit(parent), SimulationError);
}

TEST_F(FeedProcessTest, IsOverWhenItIsClosedOrReplaced) {
  FeedWriter writer = process(0, 0);
  FeedProcess code = opened();
  EXPECT_FALSE(code.is_over());
  writer.mark_closed();
  EXPECT_TRUE(code.is_over());
  EXPECT_FALSE(code.is_replaced());
  process(1, 1);
  FeedProcess other = opened();
  other.replace();
  EXPECT_TRUE(other.is_over());
}

}  // namespace
}  // namespace cxloom
