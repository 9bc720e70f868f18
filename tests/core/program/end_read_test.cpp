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

// A thread that reads whether another has ended, and does work of its own before its next call. The other one has so much to tell that it
// takes several turns.
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

// It had written no exit when the word was read: the read showed that it lives.
TEST_F(EndReadTest, ALivingThreadHoldsUpUntilThatIsKnown) {
  read_word_and_work();
  read_all();
  two_.put(enter(1));
  read_all();
  const auto size = static_cast<std::ptrdiff_t>(told_.lines.size());
  EXPECT_EQ(work(0, size), kWork - 1);  // the last one may have accesses yet
  EXPECT_GE(place_of("1/0 B100+1"), kTurns * 2048);
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

// Both live, and neither tells how far the other has come.
TEST_F(EndReadTest, TwoThatAskForEachOtherGoOn) {
  call(one_, system_call::kSetTidAddress, order(), {9000});
  read_all();
  read_word_and_work();
  two_.put(enter(0));
  two_.put(load(0, 9000, 2));
  for (int i = 0; i < kWork; ++i) two_.put(enter(1));
  while (work(0, static_cast<std::ptrdiff_t>(told_.lines.size())) < kWork - 1) feed_->read(told_, 1000);
  feed_->finish(told_);
}

}  // namespace
}  // namespace cxloom
