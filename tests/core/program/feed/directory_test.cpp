#include "program/feed/directory.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>

#include "base/error.hpp"
#include "core/support/feed_bench.hpp"

namespace cxloom {
namespace {

class FeedDirectoryTest : public testing::Test {
 protected:
  FeedWriter process(std::uint32_t number) {
    return bench_.write(folder_.control(), {.kind = FeedRingHead::kProcess,
                                            .number = number,
                                            .process = number,
                                            .parent = number,
                                            .replaces = number});
  }
  FeedWriter thread(std::uint32_t number, std::uint32_t process) {
    return bench_.write(folder_.control(), {.number = number, .process = process, .creator = number});
  }
  std::vector<std::uint32_t> opened() {
    std::vector<std::uint32_t> numbers;
    for (const FeedDirectory::Ring& ring : folder_.open_rings()) numbers.push_back(ring.number);
    return numbers;
  }

  test::FeedBench bench_;
  FeedDirectory folder_{bench_.path(), {1U << 10U, 1U << 12U}};
};

using Numbers = std::vector<std::uint32_t>;

TEST_F(FeedDirectoryTest, OpensEachRingThatWasAnnouncedOnce) {
  EXPECT_TRUE(folder_.has_all());
  folder_.control().rings.store(2);
  EXPECT_FALSE(folder_.has_all());
  process(0);
  thread(1, 0);
  EXPECT_EQ(opened(), (Numbers{0, 1}));
  EXPECT_TRUE(folder_.has_all());
  EXPECT_EQ(opened(), Numbers{});
  EXPECT_FALSE(std::filesystem::exists(bench_.path() + "/1"));  // nobody needs its name
}

TEST_F(FeedDirectoryTest, AThreadComesBehindItsProcess) {
  folder_.control().rings.store(2);
  thread(1, 0);
  EXPECT_EQ(opened(), Numbers{});
  EXPECT_FALSE(folder_.has_all());
  process(0);
  EXPECT_EQ(opened(), (Numbers{0, 1}));
}

TEST_F(FeedDirectoryTest, ARingOfAnotherSizeIsRefused) {
  folder_.control().rings.store(1);
  folder_.control().process_words *= 2;
  process(0);
  EXPECT_THROW(folder_.open_rings(), SimulationError);
}

TEST_F(FeedDirectoryTest, WhatAWriterCouldNotDoIsSaid) {
  EXPECT_EQ(folder_.failure(), "");
  std::strcpy(folder_.control().failure, "no room");
  EXPECT_EQ(folder_.failure(), "");  // it is not all written yet
  folder_.control().failed.store(1);
  EXPECT_EQ(folder_.failure(), "no room");
}

TEST_F(FeedDirectoryTest, AFolderHasOneReader) {
  EXPECT_THROW(FeedDirectory(bench_.path(), {}), InputError);
  EXPECT_THROW(FeedDirectory(bench_.path() + "/none", {}), InputError);
}

}  // namespace
}  // namespace cxloom
