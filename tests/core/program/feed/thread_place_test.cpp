#include "program/feed/thread_place.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include "core/support/system_calls.hpp"

namespace cxloom {
namespace {

using test::call_of;
using test::kGetPid;
using test::kPoll;

constexpr std::uint64_t kReadSoFar = 10;

class ThreadPlaceTest : public testing::Test {
 protected:
  ThreadPlaceTest() { head_.written.store(kReadSoFar); }
  // This very thread runs; there is none of number one in this process.
  void is_running() {
    head_.pid = static_cast<std::uint32_t>(getpid());
    head_.tid.store(static_cast<std::uint32_t>(gettid()));
  }
  void is_gone() {
    head_.pid = static_cast<std::uint32_t>(getpid());
    head_.tid.store(~0U >> 1U);
  }

  FeedRingHead head_;
  ThreadPlace place_;
};

TEST_F(ThreadPlaceTest, WhoIsInNoCallThatMayWaitDoesNotFallAsleep) {
  EXPECT_FALSE(place_.falls_asleep(head_, kReadSoFar));
  place_.call(call_of(kGetPid));
  EXPECT_FALSE(place_.falls_asleep(head_, kReadSoFar));
}

TEST_F(ThreadPlaceTest, OneThatNobodyKnowsFallsAsleepOnce) {
  place_.call(call_of(kPoll));
  EXPECT_TRUE(place_.falls_asleep(head_, kReadSoFar));
  EXPECT_FALSE(place_.falls_asleep(head_, kReadSoFar));
  EXPECT_TRUE(place_.is_asleep(head_, kReadSoFar));
  place_.end();
  place_.call(call_of(kPoll));
  EXPECT_TRUE(place_.falls_asleep(head_, kReadSoFar));
}

TEST_F(ThreadPlaceTest, OneThatRunsWasInterrupted) {
  is_running();
  place_.call(call_of(kPoll));
  EXPECT_FALSE(place_.falls_asleep(head_, kReadSoFar));
  EXPECT_FALSE(place_.is_asleep(head_, kReadSoFar));
}

TEST_F(ThreadPlaceTest, OneThatHasWordsOrWaitsForRoomDoesNotSleep) {
  is_gone();
  place_.call(call_of(kPoll));
  EXPECT_FALSE(place_.falls_asleep(head_, kReadSoFar - 1));  // it has written since
  head_.rests.store(1);
  EXPECT_FALSE(place_.falls_asleep(head_, kReadSoFar));
  head_.rests.store(2);
  EXPECT_TRUE(place_.falls_asleep(head_, kReadSoFar));
}

TEST_F(ThreadPlaceTest, OneThatIsWokenIsAwakeUntilItWaitsAgain) {
  is_gone();
  place_.call(call_of(kPoll));
  place_.turn({2, 5});
  EXPECT_FALSE(place_.falls_asleep(head_, kReadSoFar));
  EXPECT_FALSE(place_.is_asleep(head_, kReadSoFar));
  place_.turn({});
  EXPECT_TRUE(place_.falls_asleep(head_, kReadSoFar));
}

TEST_F(ThreadPlaceTest, OutsideOfCallsItMaySleepWithinTheEmulator) {
  is_gone();
  EXPECT_TRUE(place_.is_asleep(head_, kReadSoFar));
  is_running();
  EXPECT_FALSE(place_.is_asleep(head_, kReadSoFar));
  place_.turn({});  // it is in no call: nothing to wait for again
  EXPECT_FALSE(place_.falls_asleep(head_, kReadSoFar));
}

}  // namespace
}  // namespace cxloom
