#include "program/thread_waits.hpp"

#include <gtest/gtest.h>

#include "core/support/system_calls.hpp"

namespace cxloom {
namespace {

using test::call_of;
using test::kGetPid;
using test::kPoll;

constexpr std::uint32_t kOneThread = 1, kOtherThread = 2;

class ThreadWaitsTest : public testing::Test {
 protected:
  void call(std::uint32_t number, std::uint64_t order) {
    waits_.call(call_of(number, order));
    latest_.add(kOneThread, call_of(number, order));
  }
  ThreadWaits::Back back(bool slept, const Release& by = {}) {
    SystemCallEnd end;
    end.slept = slept;
    end.by = by;
    return waits_.end(kOneThread, end, latest_);
  }

  LatestCalls latest_;
  ThreadWaits waits_;
};

TEST(LatestCallsTest, KnowsThatOfAnother) {
  LatestCalls latest;
  EXPECT_EQ(latest.of_another_than(kOneThread), Release{});
  latest.add(kOtherThread, call_of(kPoll, 3));
  latest.add(kOneThread, call_of(kPoll, 4));
  latest.add(kOneThread, call_of(kPoll, 5));
  EXPECT_EQ(latest.of_another_than(kOneThread), (Release{kOtherThread, 3}));
  EXPECT_EQ(latest.of_another_than(kOtherThread), (Release{kOneThread, 5}));
}

TEST_F(ThreadWaitsTest, WhoDidNotSleepWaitedForNobody) {
  latest_.add(kOtherThread, call_of(kPoll, 1));
  call(kPoll, 2);
  const ThreadWaits::Back found = back(false);
  EXPECT_EQ(found.behind.thread, 0U);
  EXPECT_FALSE(found.comes_by);
}

TEST_F(ThreadWaitsTest, WhoSleptUnseenWaitedForTheLatestCallOfAnother) {
  latest_.add(kOtherThread, call_of(kPoll, 1));
  call(kPoll, 2);
  EXPECT_EQ(back(true).behind, (Release{kOtherThread, 1}));
  latest_.add(kOtherThread, call_of(kPoll, 3));
  call(kGetPid, 4);  // nobody waits in this one
  EXPECT_EQ(back(true).behind.thread, 0U);
}

TEST_F(ThreadWaitsTest, WhoIsKnownToBeWaitedForIsSaidOnce) {
  call(kPoll, 2);
  EXPECT_EQ(back(true, {kOtherThread, 3}).behind, (Release{kOtherThread, 3}));
  call(kPoll, 4);
  waits_.turn({kOtherThread, 5});  // this was said when that call was made
  EXPECT_EQ(back(true, {kOtherThread, 5}).behind.thread, 0U);
}

TEST_F(ThreadWaitsTest, WhoWasSeenAsleepGoesOnFromThere) {
  call(kPoll, 2);
  waits_.sleep();
  EXPECT_TRUE(back(true).comes_by);
  call(kPoll, 3);
  waits_.sleep();  // it only seemed to: it goes on behind its own call
  EXPECT_EQ(back(false).behind, (Release{kOneThread, 3}));
}

TEST_F(ThreadWaitsTest, WhoIsWokenAndWaitsAgainIsStillAsleep) {
  call(kPoll, 2);
  waits_.sleep();
  waits_.turn({});
  EXPECT_TRUE(back(true).comes_by);
  latest_.add(kOtherThread, call_of(kPoll, 3));
  call(kPoll, 4);
  waits_.sleep();
  waits_.turn({kOtherThread, 3});
  EXPECT_EQ(back(false).behind.thread, 0U);
}

}  // namespace
}  // namespace cxloom
