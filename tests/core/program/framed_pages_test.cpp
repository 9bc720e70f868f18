#include "program/framed_pages.hpp"

#include <gtest/gtest.h>

namespace cxloom {
namespace {

constexpr ProgramThread kToucher{1, 0};

class FramedPagesTest : public testing::Test {
 protected:
  std::vector<std::uint64_t> addresses() const {
    std::vector<std::uint64_t> result;
    for (const FramedPage& page : pages_.pages()) result.push_back(page.address);
    return result;
  }
  void touch(std::uint64_t address, std::uint16_t size, std::uint64_t frames,
             const ProgramThread& thread = kToucher) {
    pages_.note(thread, {address, size, 0, true, false}, false, frames, memory_);
  }

  MemoryOrigins memory_;
  FramedPages pages_{false};
};

using Addresses = std::vector<std::uint64_t>;

TEST_F(FramedPagesTest, PagesStandInTheOrderOfTheirFrames) {
  touch(0x5008, 8, 1);
  touch(0x3000, 8, 2);
  touch(0x7FFC, 8, 4);  // both are new
  EXPECT_EQ(addresses(), (Addresses{0x5000, 0x3000, 0x7000, 0x8000}));
}

TEST_F(FramedPagesTest, OfTwoPagesTheOneThatWasTouchedIsNotNew) {
  touch(0x5000, 8, 1);
  touch(0x5FFC, 8, 2);
  EXPECT_EQ(addresses(), (Addresses{0x5000, 0x6000}));
  touch(0x4FFC, 8, 3);
  EXPECT_EQ(addresses(), (Addresses{0x5000, 0x6000, 0x4000}));
}

TEST_F(FramedPagesTest, ProcessesHavePagesOfTheirOwn) {
  touch(0x5000, 8, 1);
  touch(0x5000, 8, 2, {2, 3});
  EXPECT_EQ(addresses(), (Addresses{0x5000, 0x3'0000'0000'5000}));
}

TEST_F(FramedPagesTest, ReadsOfAWalkAreOfPageTables) {
  pages_.note(kToucher, {0x9000, 8, 0, true, false}, true, 1, memory_);
  ASSERT_EQ(pages_.count(), 1U);
  EXPECT_EQ(memory_.origins()[pages_.pages()[0].origin].kind, MemoryOrigin::kPageTables);
}

TEST(FramedHugePagesTest, TwoPagesOfOneFrameAreNotTwo) {
  MemoryOrigins memory;
  FramedPages pages(true);
  constexpr std::uint64_t kHuge = 2U << 20U;
  pages.note(kToucher, {kHuge, 8, 0, true, false}, false, 1, memory);
  // The last page of the first frame, and the first one of the next: only that one is new.
  pages.note(kToucher, {2 * kHuge - 4, 8, 0, true, false}, false, 2, memory);
  ASSERT_EQ(pages.count(), 2U);
  EXPECT_EQ(pages.pages()[1].address, 2 * kHuge);
}

}  // namespace
}  // namespace cxloom
