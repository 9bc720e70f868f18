#include "program/futex_tracker.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace cxloom {
namespace {

constexpr std::uint64_t kWait = 128, kWake = 129, kCompareRequeue = 132, kWakeOperation = 133,
                        kSharedWait = 0;
constexpr std::uint64_t kShared = 1, kLockPi = 134, kUnlockPi = 135, kWaitBits = 137;
constexpr std::uint64_t kLock = 0x1000, kOther = 0x2000;
constexpr Release kNobody;

// Threads of process 0, unless another is said, call the kernel one after the other.
class FutexTrackerTest : public testing::Test {
 protected:
  Release call(ProgramThread thread, std::uint32_t number, std::array<std::uint64_t, 6> arguments) {
    ++now_;
    order_.calls(thread, 100 + thread.process, {number, now_, arguments});
    return {thread.number, now_};
  }
  Release futex(std::uint32_t thread, std::uint64_t address, std::uint64_t operation, std::uint64_t count = 0,
                std::uint64_t more = 0, std::uint64_t second = 0) {
    return call({thread, 0}, system_call::kFutex, {address, operation, count, more, second, 0});
  }
  Release back(ProgramThread thread, std::int64_t result, std::uint32_t number = system_call::kFutex) {
    ++now_;
    return order_.ends(thread, {number, now_, result, 0, false, {}});
  }
  Release back(std::uint32_t thread, std::int64_t result) { return back({thread, 0}, result); }

  FutexTracker order_;
  std::uint64_t now_ = 0;
};

TEST_F(FutexTrackerTest, AWakeLetsTheFirstOnesThatWaitGoOn) {
  for (std::uint32_t thread = 2; thread <= 4; ++thread) futex(thread, kLock, thread == 3 ? kWaitBits : kWait);
  futex(5, kOther, kWait);
  const Release first = futex(1, kLock, kWake, 2);
  EXPECT_EQ(back(1, 2), kNobody);
  const Release second = futex(6, kLock, kWake, 100);
  back(6, 1);
  EXPECT_EQ(back(4, 0), second);
  EXPECT_EQ(back(3, 0), first);
  EXPECT_EQ(back(2, 0), first);
  EXPECT_EQ(back(5, 0), kNobody);  // it went on for another reason
}

TEST_F(FutexTrackerTest, WhoWasNotWokenWaitedForNobody) {
  futex(2, kLock, kWait);
  futex(1, kLock, kWake, 1);
  EXPECT_EQ(back(2, -110), kNobody);  // its time was over
  back(1, 0);
}

// The value had changed before: the thread that changed it wakes earlier waiters, too.
TEST_F(FutexTrackerTest, WhoCameTooLateToWaitGoesOnBehindTheLatestWake) {
  futex(2, kOther, kWait);
  EXPECT_EQ(back(2, -11), kNobody);
  futex(1, kLock, kWake, 1);
  back(1, 0);
  const Release latest = futex(3, kLock, kWake, 1);
  back(3, 0);
  futex(2, kLock, kWake, 1);  // its own
  back(2, 0);
  futex(2, kOther, kWait);
  EXPECT_EQ(back(2, -11), kNobody);
  futex(2, kLock, kWait);
  EXPECT_EQ(back(2, -11), latest);
}

// The kernel had looked for waiters before this one came, though the call was not back yet.
TEST_F(FutexTrackerTest, TheResultOfAWakePutsRightWhomItWoke) {
  futex(1, kLock, kWake, 1);
  futex(2, kLock, kWait);
  back(1, 0);
  const Release later = futex(3, kLock, kWake, 1);
  EXPECT_EQ(back(2, 0), later);
  back(3, 1);
  // Or it had not looked yet.
  const Release slow = futex(1, kLock, kWake, 1);
  futex(2, kLock, kWait);
  EXPECT_EQ(back(2, 0), slow);
  EXPECT_EQ(back(1, 1), kNobody);
  // Or another one, whose call had begun, was the one that did.
  futex(1, kLock, kWake, 1);
  futex(2, kLock, kWait);
  const Release other = futex(3, kLock, kWake, 1);
  back(1, 0);
  EXPECT_EQ(back(2, 0), other);
}

TEST_F(FutexTrackerTest, ARequeuedThreadWaitsForTheOtherFutex) {
  for (std::uint32_t thread = 2; thread <= 4; ++thread) futex(thread, kLock, kWait);
  const Release first = futex(1, kLock, kCompareRequeue, 1, 1, kOther);
  back(1, 2);
  const Release second = futex(1, kOther, kWake, 100);
  back(1, 1);
  EXPECT_EQ(back(2, 0), first);
  EXPECT_EQ(back(3, 0), second);
  const Release third = futex(1, kLock, kWake, 1);
  EXPECT_EQ(back(4, 0), third);
}

TEST_F(FutexTrackerTest, AnOperationWakesThoseOfTwoFutexes) {
  futex(2, kLock, kWait);
  futex(3, kOther, kWait);
  const Release both = futex(1, kLock, kWakeOperation, 1, 1, kOther);
  EXPECT_EQ(back(2, 0), both);
  EXPECT_EQ(back(3, 0), both);
}

TEST_F(FutexTrackerTest, ALockIsHandedOver) {
  futex(2, kLock, kLockPi);
  futex(3, kLock, kLockPi);
  const Release first = futex(1, kLock, kUnlockPi);
  back(1, 0);  // which is no number of threads
  EXPECT_EQ(back(2, 0), first);
  const Release second = futex(2, kLock, kUnlockPi);
  EXPECT_EQ(back(3, 0), second);
}

TEST_F(FutexTrackerTest, ProcessesShareFutexesThatAreNotPrivate) {
  call({2, 1}, system_call::kFutex, {kLock, kWait, 0, 0, 0, 0});
  futex(1, kLock, kWake, 1);
  back(1, 0);
  EXPECT_EQ(back({2, 1}, 0), kNobody);
  call({2, 1}, system_call::kFutex, {kLock, kSharedWait, 0, 0, 0, 0});
  const Release shared = futex(1, kLock, kShared, 1);
  EXPECT_EQ(back({2, 1}, 0), shared);
}

// pthread_join waits for the word that the kernel clears.
TEST_F(FutexTrackerTest, AThreadThatIsJoinedLetsTheOtherGoOn) {
  for (const bool waits_before : {true, false}) {
    const Release made = call({1, 0}, system_call::kClone, {0x20'0000, 0, 0, kLock});
    const ProgramThread child{2, 0};
    order_.begins(child, made);
    if (waits_before) futex(1, kLock, kSharedWait);
    const Release end = call(child, system_call::kExit, {});
    if (!waits_before) futex(1, kLock, kSharedWait);
    EXPECT_EQ(back(1, waits_before ? 0 : -11), end);
    order_.gone(child);
    EXPECT_TRUE(order_.may_join(kLock));
    EXPECT_EQ(order_.joins({1, 1}, kLock), kNobody);  // another process
    EXPECT_EQ(order_.joins({1, 0}, kLock + 4), kNobody);
    EXPECT_EQ(order_.joins({1, 0}, kLock), end);
    EXPECT_EQ(order_.joins({1, 0}, kLock), kNobody);  // it was told
    EXPECT_FALSE(order_.may_join(kLock));
  }
}

TEST_F(FutexTrackerTest, WhoseEndAReadWouldShowIsKnownWhileItLives) {
  const ProgramThread child{2, 0};
  order_.begins(child, call({1, 0}, system_call::kClone, {0x20'0000, 0, 0, kLock}));
  call({1, 0}, system_call::kSetTidAddress, {kOther});
  EXPECT_TRUE(order_.may_join(kLock));
  EXPECT_EQ(order_.living_at({1, 0}, kLock), 2U);
  EXPECT_EQ(order_.living_at({3, 1}, kLock), 0U);  // another process
  EXPECT_EQ(order_.living_at(child, kLock), 0U);   // its own
  EXPECT_EQ(order_.living_at(child, kOther), 1U);
  EXPECT_EQ(order_.living_at({1, 0}, kLock + 4), 0U);
  EXPECT_EQ(order_.joins({1, 0}, kLock), kNobody);
  const Release end = call(child, system_call::kExit, {});
  EXPECT_EQ(order_.living_at({1, 0}, kLock), 0U);
  EXPECT_EQ(order_.joins({1, 0}, kLock), end);
  // One that is gone without a call will show nothing any more.
  order_.gone({1, 0});
  EXPECT_EQ(order_.living_at(child, kOther), 0U);
  EXPECT_FALSE(order_.may_join(kOther));
}

TEST_F(FutexTrackerTest, AStackThatIsUsedAgainTellsNoEnd) {
  const ProgramThread child{2, 0};
  const Release made = call({1, 0}, system_call::kClone, {0x20'0000, 0, 0, kLock});
  order_.begins(child, made);
  call(child, system_call::kExit, {});
  const Release again = call({1, 0}, system_call::kClone, {0x20'0000, 0, 0, kLock});
  order_.begins({3, 0}, again);
  EXPECT_EQ(order_.joins({1, 0}, kLock), kNobody);
  futex(1, kLock, kSharedWait);
  const Release end = call({3, 0}, system_call::kExit, {});
  EXPECT_EQ(back(1, 0), end);
}

TEST_F(FutexTrackerTest, WhoHasEndedIsNotWoken) {
  futex(2, kLock, kWait);
  order_.gone({2, 0});
  futex(3, kLock, kWait);
  const Release wake = futex(1, kLock, kWake, 1);
  EXPECT_EQ(back(3, 0), wake);
}

TEST_F(FutexTrackerTest, AParentWaitsForItsChild) {
  call({1, 0}, system_call::kWait4, {});
  const Release exit = call({2, 1}, system_call::kExitGroup, {});
  EXPECT_EQ(back({1, 0}, 101, system_call::kWait4), exit);
  call({1, 0}, system_call::kWait4, {});
  EXPECT_EQ(back({1, 0}, 102, system_call::kWait4), kNobody);
}

// The woken thread is known with the call that wakes, before the waiter is back.
TEST_F(FutexTrackerTest, ATurnIsToldWithTheCallThatGivesIt) {
  futex(2, kLock, kWait);
  futex(3, kLock, kWait);
  EXPECT_FALSE(order_.has_resumptions());
  const Release wake = futex(1, kLock, kWake, 1);
  std::vector<FutexTracker::Resumption> turns = order_.take_resumptions();
  ASSERT_EQ(turns.size(), 1U);
  EXPECT_EQ(turns[0].thread.number, 2U);
  EXPECT_EQ(turns[0].by, wake);
  EXPECT_FALSE(order_.has_resumptions());
  // It turns out that the kernel had the other one first.
  EXPECT_EQ(back(3, 0), wake);
  turns = order_.take_resumptions();
  ASSERT_EQ(turns.size(), 1U);
  EXPECT_EQ(turns[0].thread.number, 2U);
  EXPECT_EQ(turns[0].by, kNobody);
  back(1, 1);
  EXPECT_FALSE(order_.has_resumptions());
}

TEST(SystemCall, SomeMayWait) {
  EXPECT_TRUE(system_call::may_wait({.number = 0}));    // read
  EXPECT_TRUE(system_call::may_wait({.number = 271}));  // ppoll
  EXPECT_TRUE(system_call::may_wait({.number = system_call::kExit}));
  EXPECT_FALSE(system_call::may_wait({.number = 9}));  // mmap
  EXPECT_FALSE(system_call::may_wait({.number = system_call::kClone}));
  for (const std::uint64_t operation : {kWait, kSharedWait, kLockPi, kWaitBits})
    EXPECT_TRUE(system_call::may_wait({.number = system_call::kFutex, .arguments = {kLock, operation}}));
  for (const std::uint64_t operation : {kWake, kCompareRequeue, kWakeOperation, kUnlockPi})
    EXPECT_FALSE(system_call::may_wait({.number = system_call::kFutex, .arguments = {kLock, operation}}));
}

}  // namespace
}  // namespace cxloom
