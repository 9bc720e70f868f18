#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "core/support/program_feed_test.hpp"

namespace cxloom {
namespace {

using test::Telling;

// What the processors of a machine tell, read in turns.
class MachineFeedTest : public test::ProgramFeedTest {
 protected:
  MachineFeedTest() : ProgramFeedTest({1U << 14U, 1U << 12U}), code_(machine()) {
    describe(code_, 0, 100, {plain()});
  }
  // Up to eight bytes of a name.
  static std::uint64_t word(std::string_view text) {
    std::uint64_t found = 0;
    std::memcpy(&found, text.data(), text.size());
    return found;
  }
  static void enter_often(FeedWriter& writer, int times) {
    for (int i = 0; i < times; ++i) writer.put(enter(0));
  }

  FeedWriter code_;
};

TEST_F(MachineFeedTest, AProcessorThatRestsWaitsForWhoInterruptsIt) {
  FeedWriter one = thread(last_process_);
  FeedWriter two = thread(last_process_);
  call(two, system_call::kFutex, order(), {16, system_call::kFutexPrivate, 1});
  call(one, system_call::kFutex, order(), {16, system_call::kFutexWake | system_call::kFutexPrivate, 1});
  back(one, system_call::kFutex, order(), 1);
  back(two, system_call::kFutex, order(), 0, true);
  call(two, system_call::kFutex, order(), {16, system_call::kFutexPrivate, 1});
  back(two, system_call::kFutex, order(), -110, true);  // by a timer
  Telling told;
  feed_->read(told, 1000);
  EXPECT_NE(std::ranges::find(told.lines, "2/0 end 202=0#6 slept by 1#4"), told.lines.end());
  EXPECT_EQ(told.last(), "2/0 end 202=-110#8 slept");
}

// One that waits for a lock goes round and round while this machine lets nobody run the one that has it.
TEST_F(MachineFeedTest, NoneIsFarAheadOfOneThatRuns) {
  FeedWriter one = thread(last_process_);
  FeedWriter two = thread(last_process_);
  two.note_thread();  // this one, which runs
  enter_often(one, 12000);
  enter_often(two, 1);
  Telling told;
  std::uint64_t read = feed_->read(told, 1U << 20U);
  EXPECT_GE(read, 8000U);
  EXPECT_LT(read, 11000U);
  EXPECT_EQ(feed_->read(told, 1U << 20U), 0U);
  enter_often(two, 1);
  read += feed_->read(told, 1U << 20U);
  EXPECT_EQ(read, 12002U);
}

// QEMU lets a processor wait until all others have left their blocks, and they may wait for room in their
// rings: whoever is wanted, and sleeps without having said so, waits for them.
TEST_F(MachineFeedTest, OneThatSleepsInTheEmulatorLetsOthersGoOn) {
  FeedWriter one = thread(last_process_);
  FeedWriter two = thread(last_process_);
  std::atomic<int> stage{0};
  std::thread sleeper([&] {
    two.note_thread();
    enter_often(two, 1);
    stage = 1;
    stage.notify_all();
    stage.wait(1);
  });
  stage.wait(0);
  enter_often(one, 12000);
  Telling told;
  std::uint64_t read = 0;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (read < 12001 && std::chrono::steady_clock::now() < end) read += feed_->read(told, 1U << 12U, 2);
  EXPECT_EQ(read, 12001U);
  stage = 2;
  stage.notify_all();
  sleeper.join();
}

TEST_F(MachineFeedTest, AnAccessToARegisterIsToldInItsPlace) {
  FeedWriter one = thread(last_process_);
  enter_often(one, 1);
  one.put(feed::event(FeedEvent::kRegister, 0));
  Telling told;
  EXPECT_EQ(feed_->read(told, 1000), 2U);
  EXPECT_EQ(told.last(), "1/0 register");
}

TEST_F(MachineFeedTest, ProcessesAndMappingsComeWithTheirNames) {
  FeedWriter one = thread(last_process_);
  enter_often(one, 1);
  put_at_once(one, {feed::event(FeedEvent::kProcess, 0x1000), 7, 0x2000, word("chase"), 0});
  put_at_once(one, {feed::event(FeedEvent::kMapping, 0x1000), 4096, 8192, word("ld-linux"), word("-x86-64."),
                    word("so.2"), 0});
  Telling told;
  EXPECT_EQ(feed_->read(told, 1000), 1U + feed::kProcessWords + feed::kMappingWords);
  EXPECT_EQ(told.lines[told.lines.size() - 2], "1/0 process 7 chase 4096 of 8192");
  EXPECT_EQ(told.last(), "4096 has 4096-8192 ld-linux-x86-64.so.2");
}

TEST_F(MachineFeedTest, AMappingThatIsCutOffIsRefused) {
  FeedWriter one = thread(last_process_);
  put_at_once(one, {feed::event(FeedEvent::kMapping, 0x1000), 4096, 8192});
  Telling told;
  EXPECT_THROW(feed_->read(told, 1000), SimulationError);
}

// One that rests has said so: nobody waits for it.
TEST_F(MachineFeedTest, OneThatRestsHoldsNobodyUp) {
  FeedWriter one = thread(last_process_);
  FeedWriter two = thread(last_process_);
  call(two, system_call::kFutex, order(), {16, system_call::kFutexPrivate, 1});
  enter_often(one, 12000);
  Telling told;
  EXPECT_EQ(feed_->read(told, 1U << 20U), 12000U + feed::kCallWords);
}

}  // namespace
}  // namespace cxloom
