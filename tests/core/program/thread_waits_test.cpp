#include "program/thread_waits.hpp"

#include <gtest/gtest.h>

namespace cxloom {
namespace {

constexpr std::uint32_t kPoll = 7, kGetPid = 39;
constexpr std::uint32_t kOne = 1, kOther = 2;

SystemCall call_of(std::uint32_t number, std::uint64_t order) {
  SystemCall call;
  call.number = number;
  call.order = order;
  return call;
}

class ThreadWaitsTest : public testing::Test {
 protected:
  void call(std::uint32_t number, std::uint64_t order) {
    waits_.call(call_of(number, order));
    latest_.add(kOne, call_of(number, order));
  }
  ThreadWaits::Back back(bool slept, const Release& by = {}) {
    SystemCallEnd end;
    end.slept = slept;
    end.by = by;
    return waits_.end(kOne, end, latest_);
  }

  LatestCalls latest_;
  ThreadWaits waits_;
};

TEST(LatestCallsTest, KnowsThatOfAnother) {
  LatestCalls latest;
  EXPECT_EQ(latest.of_another_than(kOne), Release{});
  latest.add(kOther, call_of(kPoll, 3));
  latest.add(kOne, call_of(kPoll, 4));
  latest.add(kOne, call_of(kPoll, 5));
  EXPECT_EQ(latest.of_another_than(kOne), (Release{kOther, 3}));
  EXPECT_EQ(latest.of_another_than(kOther), (Release{kOne, 5}));
}

TEST_F(ThreadWaitsTest, WhoDidNotSleepWaitedForNobody) {
  latest_.add(kOther, call_of(kPoll, 1));
  call(kPoll, 2);
  const ThreadWaits::Back found = back(false);
  EXPECT_EQ(found.behind.thread, 0U);
  EXPECT_FALSE(found.comes_by);
}

TEST_F(ThreadWaitsTest, WhoSleptUnseenWaitedForTheLatestCallOfAnother) {
  latest_.add(kOther, call_of(kPoll, 1));
  call(kPoll, 2);
  EXPECT_EQ(back(true).behind, (Release{kOther, 1}));
  latest_.add(kOther, call_of(kPoll, 3));
  call(kGetPid, 4);  // nobody waits in this one
  EXPECT_EQ(back(true).behind.thread, 0U);
}

TEST_F(ThreadWaitsTest, WhoIsKnownToBeWaitedForIsSaidOnce) {
  call(kPoll, 2);
  EXPECT_EQ(back(true, {kOther, 3}).behind, (Release{kOther, 3}));
  call(kPoll, 4);
  waits_.turn({kOther, 5});  // this was said when that call was made
  EXPECT_EQ(back(true, {kOther, 5}).behind.thread, 0U);
}

TEST_F(ThreadWaitsTest, WhoWasSeenAsleepGoesOnFromThere) {
  call(kPoll, 2);
  waits_.sleep();
  EXPECT_TRUE(back(true).comes_by);
  call(kPoll, 3);
  waits_.sleep();  // it only seemed to: it goes on behind its own call
  EXPECT_EQ(back(false).behind, (Release{kOne, 3}));
}

TEST_F(ThreadWaitsTest, WhoIsWokenAndWaitsAgainIsStillAsleep) {
  call(kPoll, 2);
  waits_.sleep();
  waits_.turn({});
  EXPECT_TRUE(back(true).comes_by);
  latest_.add(kOther, call_of(kPoll, 3));
  call(kPoll, 4);
  waits_.sleep();
  waits_.turn({kOther, 3});
  EXPECT_EQ(back(false).behind.thread, 0U);
}

}  // namespace
}  // namespace cxloom
