// An access cut at the borders of blocks: which parts of which, and when it ends.
#include "memory/media/divided_access.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "core/support/link_bench.hpp"

namespace cxloom {
namespace {

using namespace literals;

struct Client final : MediaClient {
  void media_done(Message& message, Time at) override {
    EXPECT_EQ(message.account->mark(), at);
    done.push_back(at);
  }
  std::vector<Time> done;
};

struct Cut {
  std::uint64_t block;
  std::uint64_t parts;
  bool operator==(const Cut&) const = default;
};

class DividedAccessTest : public testing::Test {
 protected:
  /// The pieces of an access to these bytes, in blocks of 256 bytes and parts of 64.
  std::vector<Cut> cuts(std::uint64_t address, std::uint16_t size) {
    Message& message = messages_.tracked(Opcode::kMemRd, 0_ns);
    message.size = size;
    std::vector<Cut> cuts;
    pieces_.clear();
    accesses_.divide(accesses_.take(message, Address{address}, 10_ns), [&](BlockPiece& piece) {
      cuts.push_back({piece.block, piece.parts});
      pieces_.push_back(&piece);
    });
    return cuts;
  }

  test::Messages messages_;
  DividedAccesses accesses_{Bytes{256}, Bytes{64}};
  std::vector<BlockPiece*> pieces_;
  Client client_;
};

TEST_F(DividedAccessTest, TakesTheBlocksAndPartsThatItTouches) {
  EXPECT_EQ(cuts(0, 64), (std::vector<Cut>{{0, 0b0001}}));
  EXPECT_EQ(cuts(64, 128), (std::vector<Cut>{{0, 0b0110}}));
  EXPECT_EQ(cuts(100, 1), (std::vector<Cut>{{0, 0b0010}}));
  EXPECT_EQ(cuts(63, 2), (std::vector<Cut>{{0, 0b0011}}));
  EXPECT_EQ(cuts(256, 256), (std::vector<Cut>{{1, 0b1111}}));
  EXPECT_EQ(cuts(255, 258), (std::vector<Cut>{{0, 0b1000}, {1, 0b1111}, {2, 0b0001}}));
  EXPECT_EQ(cuts(64, 0), (std::vector<Cut>{{0, 0b0010}}));  // of no bytes: that of its address
}

TEST_F(DividedAccessTest, HasWholeBlocksOfSixtyFourParts) {
  DividedAccesses accesses(Bytes{4096}, Bytes{64});
  Message& message = messages_.tracked(Opcode::kMemRd, 0_ns);
  message.size = 4096;
  accesses.divide(accesses.take(message, Address{8192}, 0_ns), [](BlockPiece& piece) {
    EXPECT_EQ(piece.block, 2U);
    EXPECT_EQ(piece.parts, ~std::uint64_t{0});
  });
}

TEST_F(DividedAccessTest, EndsWithItsLastPiece) {
  ASSERT_EQ(cuts(192, 128).size(), 2U);
  pieces_[1]->start = 30_ns;
  accesses_.finish(*pieces_[1], 50_ns, client_);
  EXPECT_TRUE(client_.done.empty());
  pieces_[0]->start = 70_ns;
  const Account& account = *pieces_[0]->access->message->account;
  accesses_.finish(*pieces_[0], 100_ns, client_);
  EXPECT_EQ(client_.done, std::vector<Time>{100_ns});
  EXPECT_EQ(account.of(Segment::kMediaQueue), 70_ns);
  EXPECT_EQ(account.of(Segment::kMedia), 30_ns);
}

// A page that was being read when the access came: the wait begins no sooner than the access.
TEST_F(DividedAccessTest, WorkThatBeganBeforeItWasReadyIsNoWait) {
  ASSERT_EQ(cuts(0, 64).size(), 1U);
  pieces_[0]->start = 4_ns;
  const Account& account = *pieces_[0]->access->message->account;
  accesses_.finish(*pieces_[0], 25_ns, client_);
  EXPECT_EQ(account.of(Segment::kMediaQueue), 10_ns);  // until it was ready
  EXPECT_EQ(account.of(Segment::kMedia), 15_ns);
}

}  // namespace
}  // namespace cxloom
