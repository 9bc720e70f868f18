#include "program/program_capture.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "core/support/program_capture_test.hpp"

namespace cxloom {
namespace {

using test::instruction;
using test::kThread;
using test::ProgramCaptureTest;
using test::read;
using test::timed;
using test::write;

// What a thread tells of its calls, by role and number.
TEST_F(ProgramCaptureTest, ThreadsTellWhenTheyWaitAndGoOn) {
  using Told = std::vector<std::pair<AccessRole, std::uint64_t>>;
  auto told = [&] {
    Told result;
    for (const Access& record : capture_->take()) result.emplace_back(record.role, record.address.value());
    return result;
  };
  auto calls = [&](std::uint32_t number, std::uint64_t order) {
    capture_->system_call(kThread, {number, order, {}});
  };
  auto back = [&](std::uint64_t order, bool slept, Release by = {}) {
    capture_->system_call_ends(kThread, {.order = order, .slept = slept, .by = by});
  };
  start(timed(), 4096);
  calls(9, 1);  // mmap
  back(2, false);
  EXPECT_EQ(told(), (Told{{AccessRole::kCall, 1}}));
  calls(0, 3);  // read, which has its data
  back(4, false);
  EXPECT_EQ(told(), (Told{{AccessRole::kCall, 3}}));
  calls(0, 5);  // and one that waits for somebody unknown, or was taken to
  capture_->thread_sleeps(kThread);
  back(6, true);
  EXPECT_EQ(told(), (Told{{AccessRole::kCall, 5}, {AccessRole::kWait, 0}, {AccessRole::kProgress, 0}}));
  calls(0, 7);
  capture_->thread_sleeps(kThread);
  back(8, false);
  EXPECT_EQ(told(), (Told{{AccessRole::kCall, 7}, {AccessRole::kWait, 0}, {AccessRole::kGoOn, 7}}));
  calls(system_call::kFutex, 9);
  capture_->thread_sleeps(kThread);
  capture_->thread_turns(kThread, {2, 10});
  back(11, true, {2, 10});  // said before
  EXPECT_EQ(told(), (Told{{AccessRole::kCall, 9}, {AccessRole::kWait, 0}, {AccessRole::kGoOn, 10}}));
  calls(system_call::kFutex, 12);
  capture_->thread_turns(kThread, {2, 13});
  capture_->thread_turns(kThread, {});
  back(15, true, {3, 14});
  EXPECT_EQ(told(), (Told{{AccessRole::kCall, 12}, {AccessRole::kGoOn, 13}, {AccessRole::kGoOn, 14}}));
  capture_->thread_ends(kThread);
  EXPECT_EQ(told(), (Told{{AccessRole::kProgress, 0}, {AccessRole::kWait, 0}}));
}

// Its end is told before anybody has looked whether it sleeps: it goes on behind the latest call of another
// one.
TEST_F(ProgramCaptureTest, AThreadThatSleptUnseenGoesOnBehindWhatOthersDidMeanwhile) {
  const ProgramThread other{2, 0};
  start(timed(), 4096);
  capture_->system_call(other, {1, 1, {}});  // write
  capture_->system_call(kThread, {0, 2, {}});
  capture_->system_call(other, {1, 3, {}});
  capture_->system_call_ends(kThread, {.order = 4, .slept = true});
  const Access last = capture_->take().back();
  EXPECT_EQ(last.role, AccessRole::kGoOn);
  EXPECT_EQ(last.address, Address{3});
  EXPECT_EQ(last.thread, kThread.number);
  // With no call of another in between that is the one before; and of one that did not sleep nothing is said.
  capture_->system_call(kThread, {0, 5, {}});
  capture_->system_call_ends(kThread, {.order = 6, .slept = true});
  EXPECT_EQ(capture_->take().back().address, Address{3});
  capture_->system_call(kThread, {0, 7, {}});
  capture_->system_call_ends(kThread, {.order = 8});
  EXPECT_EQ(capture_->take().back().role, AccessRole::kCall);
}

TEST_F(ProgramCaptureTest, AThreadWithoutMissesTellsHowFarItHasCome) {
  start(timed(), 4096);
  const BlockInstruction none = instruction(InstructionClass::kInteger, 0, 0, 0);
  for (int i = 0; i < 65536; ++i) run({none, none, none, none}, {});
  ASSERT_EQ(records().size(), 3U);  // each 16384 cycles; the last is begun and not over
  for (const Access& record : records_) {
    EXPECT_EQ(record.role, AccessRole::kProgress);
    EXPECT_NEAR(record.cycles, 16384, 1);
  }
}

}  // namespace
}  // namespace cxloom
