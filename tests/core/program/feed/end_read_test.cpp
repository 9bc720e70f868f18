// What a thread does that has read in memory whether another has ended.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <string>

#include "core/support/program_feed_test.hpp"

namespace cxloom {
namespace {

using test::ProgramFeedTest;
using test::Telling;

// A thread that reads whether another has ended, and does work of its own before its next call. The other one
// has so much to tell that it takes several turns.
class EndReadTest : public ProgramFeedTest {
 protected:
  static constexpr int kWork = 400;
  static constexpr int kTurns = 5;

  EndReadTest() : ProgramFeedTest({.thread_words = 1U << 14U, .process_words = 1U << 12U}) {
    FeedWriter blocks = process();
    describe(blocks, 0, 100, {plain()});
    describe(blocks, 1, 200, {plain()});
    one_ = thread(last_process_);
    const std::uint32_t creator = last_thread_;
    const std::uint64_t made = order();
    call(one_, system_call::kClone, made, {0x20'0000, 0, 0, 8000});
    two_ = thread(last_process_, creator, made);
    back(one_, system_call::kClone, order(), 1000);
    for (int i = 0; i < kTurns * 2048; ++i) two_.put(enter(1));
  }
  void read_word_and_work() {
    one_.put(enter(0));
    one_.put(load(0, 8000, 2));
    for (int i = 0; i < kWork; ++i) one_.put(enter(0));
  }
  // Lines before the one that is looked for.
  std::ptrdiff_t place_of(const std::string& line) const {
    return std::find(told_.lines.begin(), told_.lines.end(), line) - told_.lines.begin();
  }
  // Runs of the first thread through its block, in lines from one place to the other.
  std::ptrdiff_t work(std::ptrdiff_t from, std::ptrdiff_t to) const {
    return std::count(told_.lines.begin() + from, told_.lines.begin() + to, "1/0 B100+1");
  }
  void read_all() {
    while (feed_->read(told_, 1000) != 0) {
    }
  }

  FeedWriter one_;
  FeedWriter two_;
  Telling told_;
};

TEST_F(EndReadTest, WorkBehindTheReadIsToldBehindTheEnd) {
  const std::uint64_t exit = order();
  call(two_, system_call::kExit, exit);
  read_word_and_work();
  call(one_, 1, order());
  read_all();
  const auto size = static_cast<std::ptrdiff_t>(told_.lines.size());
  const std::ptrdiff_t joined = place_of("1/0 joins by 2#" + std::to_string(exit));
  ASSERT_LT(joined, size);
  EXPECT_LT(place_of("1/0 B100+1 r8000:4@0"), joined);
  EXPECT_EQ(work(0, joined), 0);
  EXPECT_EQ(work(joined, size), kWork);
}

// Nothing that the thread wants is there without the other.
TEST_F(EndReadTest, WhoIsWantedWaitsForTheEndAsWell) {
  call(two_, system_call::kExit, order());
  read_word_and_work();
  for (int turn = 0; turn < 2 * kTurns; ++turn) feed_->read(told_, 1, 1);
  EXPECT_EQ(work(0, place_of("1/0 joins by 2#5")), 0);
  EXPECT_EQ(work(0, static_cast<std::ptrdiff_t>(told_.lines.size())), kWork - 1);
}

// A thread that asks again and again works beside the other one meanwhile.
TEST_F(EndReadTest, WhoHasWrittenNoExitHoldsNobodyUp) {
  read_word_and_work();
  read_word_and_work();
  for (int turn = 0; turn < 2; ++turn) feed_->read(told_, 1);
  EXPECT_EQ(work(0, static_cast<std::ptrdiff_t>(told_.lines.size())),
            2 * kWork - 1);  // the last one may have accesses yet
  read_all();
  const std::uint64_t exit = order();
  call(two_, system_call::kExit, exit);
  call(one_, 1, order());
  read_all();
  feed_->finish(told_);
  EXPECT_EQ(place_of("1/0 joins by 2#" + std::to_string(exit)),
            static_cast<std::ptrdiff_t>(told_.lines.size()));
}

// The other one would have made its last call before.
TEST_F(EndReadTest, ACallOfItsOwnThatIsNextShowsThatTheOtherLives) {
  const std::uint64_t next = order();
  call(two_, system_call::kExit, order());
  read_word_and_work();
  call(one_, 1, next);
  read_all();
  EXPECT_LT(place_of("1/0 call 1(0..0)#" + std::to_string(next)), place_of("2/0 call 60(0..0)#6"));
  EXPECT_EQ(place_of("1/0 joins by 2#6"), static_cast<std::ptrdiff_t>(told_.lines.size()));
}

TEST_F(EndReadTest, ACallBehindTheReadHoldsNobodyUp) {
  one_.put(enter(0));
  one_.put(load(0, 8000, 2));
  call(one_, 1, order());
  for (int i = 0; i < kWork; ++i) one_.put(enter(0));
  for (int turn = 0; turn < 2; ++turn) feed_->read(told_, 1);
  EXPECT_EQ(work(0, static_cast<std::ptrdiff_t>(told_.lines.size())), kWork - 1);
}

// Each has ended, and nobody tells what comes before: the number is lost.
TEST_F(EndReadTest, TwoThatAskForEachOtherGoOnBehindALostCall) {
  call(one_, system_call::kSetTidAddress, order(), {9000});
  read_all();
  order();
  read_word_and_work();
  two_.put(enter(0));
  two_.put(load(0, 9000, 2));
  for (int i = 0; i < kWork; ++i) two_.put(enter(1));
  const std::uint64_t first = order();
  call(two_, system_call::kExit, order());
  call(one_, system_call::kExit, first);
  read_all();
  EXPECT_EQ(work(0, static_cast<std::ptrdiff_t>(told_.lines.size())), 0);
  feed_->finish(told_);
  const auto size = static_cast<std::ptrdiff_t>(told_.lines.size());
  EXPECT_EQ(work(0, place_of("1/0 call 60(0..0)#" + std::to_string(first))), kWork);
  EXPECT_LT(place_of("2/0 joins by 1#" + std::to_string(first)), size);
  EXPECT_LT(place_of("2/0 call 60(0..0)#" + std::to_string(first + 1)), size);
}

// The call of the reader comes before the exit of the other one, whatever is lost before both.
TEST_F(EndReadTest, ALostCallLeavesTheOthersInOrder) {
  call(one_, system_call::kSetTidAddress, order(), {9000});
  read_all();
  order();
  const std::uint64_t first = order();
  call(one_, system_call::kExit, order());
  two_.put(enter(0));
  two_.put(load(0, 9000, 2));
  two_.put(enter(1));
  call(two_, 1, first);
  read_all();
  feed_->finish(told_);
  const auto size = static_cast<std::ptrdiff_t>(told_.lines.size());
  const std::ptrdiff_t exit = place_of("1/0 call 60(0..0)#" + std::to_string(first + 1));
  ASSERT_LT(exit, size);
  EXPECT_LT(place_of("2/0 call 1(0..0)#" + std::to_string(first)), exit);
  EXPECT_EQ(place_of("2/0 joins by 1#" + std::to_string(first + 1)), size);
}

struct FullTelling : Telling {
  bool complete() const override { return true; }
};

TEST_F(EndReadTest, WhatWantsNoMoreIsToldNoLostCall) {
  order();
  call(one_, 1, order());
  read_all();
  FullTelling full;
  feed_->finish(full);
  EXPECT_EQ(full.last(), "2/0 ends");
}

}  // namespace
}  // namespace cxloom
