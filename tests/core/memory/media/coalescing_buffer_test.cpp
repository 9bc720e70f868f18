// A write buffer: what merges, what is held back, what waits for room, and what goes to the media when.
#include "memory/media/coalescing_buffer.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "core/support/probe.hpp"

namespace cxloom {
namespace {

using namespace literals;

struct Entry {
  Entry* next = nullptr;
  Entry* previous = nullptr;
  std::uint64_t block = 0;
  std::uint64_t parts = 0;
  bool held = false;
};

/// Writes down what its buffer tells it. Blocks have four parts.
class Owner {
 public:
  Owner(std::uint32_t room, std::uint32_t hold)
      : buffer(*this, kernel_, device_, "the write buffer", {room, hold, 0b1111}, waiting) {}

  void write(std::uint64_t block, std::uint64_t parts) {
    BlockPiece& piece = *pieces_.emplace_back(std::make_unique<BlockPiece>());
    piece.block = block;
    piece.parts = parts;
    buffer.write(piece);
  }
  /// The media take the block that was drained first, and have written it.
  void write_first() {
    Entry& entry = *sent_.front();
    sent_.erase(sent_.begin());
    buffer.begin(entry);
    written.push_back(entry.parts);
    buffer.written();
  }

  Entry& new_entry(std::uint64_t /*block*/) { return *entries_.emplace_back(std::make_unique<Entry>()); }
  void buffered(BlockPiece& piece, Entry& entry, bool merged) {
    EXPECT_EQ(piece.block, entry.block);
    in.push_back(piece.block);
    merges += merged ? 1U : 0U;
  }
  void drain(Entry& entry) {
    EXPECT_FALSE(entry.held);
    drained.push_back(entry.block);
    sent_.push_back(&entry);
  }

 private:
  Kernel kernel_;
  test::Probe device_{kernel_, "mem"};
  std::vector<std::unique_ptr<BlockPiece>> pieces_;
  std::vector<std::unique_ptr<Entry>> entries_;
  std::vector<Entry*> sent_;

 public:
  using Blocks = std::vector<std::uint64_t>;
  Blocks in;       // of each piece
  Blocks drained;  // of each entry
  Blocks written;  // the parts of each entry
  unsigned merges = 0;
  LevelMonitor waiting;
  CoalescingBuffer<Owner, Entry> buffer;
};

TEST(CoalescingBuffer, SendsABlockAtOnceIfItHoldsNoneBack) {
  Owner owner(2, 0);
  owner.write(5, 0b0001);
  EXPECT_EQ(owner.drained, Owner::Blocks{5});
  EXPECT_EQ(owner.buffer.occupied().level(), 1);
  EXPECT_FALSE(owner.buffer.empty());
  owner.write_first();
  EXPECT_TRUE(owner.buffer.empty());
}

TEST(CoalescingBuffer, GathersThePartsOfABlockThatIsHeldBack) {
  Owner owner(4, 2);
  owner.write(5, 0b0001);
  owner.write(5, 0b0100);
  EXPECT_EQ(owner.merges, 1U);
  EXPECT_EQ(owner.buffer.parts_of(5), 0b0101U);
  EXPECT_EQ(owner.buffer.parts_of(6), 0U);
  EXPECT_TRUE(owner.drained.empty());
  EXPECT_EQ(owner.buffer.occupied().level(), 1);  // of one block
}

TEST(CoalescingBuffer, SendsABlockThatIsWhole) {
  Owner owner(4, 2);
  owner.write(5, 0b0011);
  owner.write(5, 0b1100);
  EXPECT_EQ(owner.drained, Owner::Blocks{5});
  owner.write(6, 0b1111);
  EXPECT_EQ(owner.drained, (Owner::Blocks{5, 6}));
}

TEST(CoalescingBuffer, SendsTheOldestOfTooManyThatAreHeldBack) {
  Owner owner(8, 2);
  for (const std::uint64_t block : {1U, 2U, 3U, 4U}) owner.write(block, 0b0001);
  EXPECT_EQ(owner.drained, (Owner::Blocks{1, 2}));
}

TEST(CoalescingBuffer, TakesPartsUntilTheMediaBegin) {
  Owner owner(4, 0);
  owner.write(5, 0b0001);
  owner.write(5, 0b0010);  // sent, and not begun
  EXPECT_EQ(owner.merges, 1U);
  owner.write_first();
  EXPECT_EQ(owner.written, Owner::Blocks{0b0011});
  owner.write(5, 0b0100);
  EXPECT_EQ(owner.merges, 1U);
  EXPECT_EQ(owner.drained, (Owner::Blocks{5, 5}));
}

TEST(CoalescingBuffer, LetsWritesWaitForRoomInTheirOrder) {
  Owner owner(1, 0);
  owner.write(1, 0b0001);
  owner.write(2, 0b0001);
  owner.write(3, 0b0001);
  EXPECT_TRUE(owner.buffer.keeps_waiting());
  EXPECT_EQ(owner.waiting.level(), 2);
  EXPECT_EQ(owner.in, Owner::Blocks{1});
  owner.write_first();
  EXPECT_EQ(owner.in, (Owner::Blocks{1, 2}));
  EXPECT_EQ(owner.waiting.level(), 1);
  owner.write_first();
  EXPECT_EQ(owner.in, (Owner::Blocks{1, 2, 3}));
  EXPECT_FALSE(owner.buffer.keeps_waiting());
}

TEST(CoalescingBuffer, AWriteThatMergesPassesThoseThatWait) {
  Owner owner(1, 0);
  owner.write(1, 0b0001);
  owner.write(2, 0b0001);
  owner.write(1, 0b0010);
  EXPECT_EQ(owner.in, (Owner::Blocks{1, 1}));
}

TEST(CoalescingBuffer, AWriteThatWaitsKeepsItsPlaceBehindOneOfItsBlock) {
  Owner owner(1, 0);
  owner.write(1, 0b0001);
  owner.write(2, 0b0001);
  owner.write(2, 0b0010);
  EXPECT_EQ(owner.waiting.level(), 2);
  owner.write_first();
  EXPECT_EQ(owner.in, (Owner::Blocks{1, 2}));
  owner.write(2, 0b0100);  // merges at once, before the one that waits
  EXPECT_EQ(owner.in, (Owner::Blocks{1, 2, 2}));
  owner.write_first();
  EXPECT_EQ(owner.in, (Owner::Blocks{1, 2, 2, 2}));
  EXPECT_EQ(owner.written, (Owner::Blocks{0b0001, 0b0101}));
  EXPECT_EQ(owner.buffer.occupied().level(), 1);
}

TEST(CoalescingBuffer, WithoutALimitNoneWaits) {
  Owner owner(0, 0);
  for (std::uint64_t block = 0; block < 100; ++block) owner.write(block, 0b0001);
  EXPECT_EQ(owner.in.size(), 100U);
  EXPECT_FALSE(owner.buffer.keeps_waiting());
}

}  // namespace
}  // namespace cxloom
