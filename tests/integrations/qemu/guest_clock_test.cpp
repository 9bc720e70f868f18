#include "integrations/qemu/guest_clock.hpp"

#include <gtest/gtest.h>

#include "integrations/qemu/interrupt_command.hpp"

namespace cxloom::qemu {
namespace {

TEST(GuestClockTest, GoesByItselfWhileItIsDriven) {
  GuestClock clock;
  EXPECT_EQ(clock.now(1000), 1000);
  clock.drive(1100);
  EXPECT_EQ(clock.now(5000), 1100);
  clock.pass(50);
  EXPECT_EQ(clock.now(6000), 1150);
  clock.release(7000);
  EXPECT_EQ(clock.now(7000), 1150);
  EXPECT_EQ(clock.now(7010), 1160);
}

TEST(GuestClockTest, NeverGoesBack) {
  GuestClock clock;
  clock.drive(1000);
  clock.pass(100'000);
  clock.release(2000);
  EXPECT_EQ(clock.now(2500), 101'500);
  EXPECT_EQ(clock.now(2400), 101'500);  // who had read this computer's before
}

TEST(BusyProcessorsTest, CountsWhoGoesOn) {
  BusyProcessors busy;
  busy.begin(2);
  busy.rest();
  busy.rest();
  EXPECT_EQ(busy.count(), 0U);
  const auto before = busy.goings_on();
  busy.go_on();
  busy.rest();
  EXPECT_EQ(busy.count(), 0U);
  EXPECT_EQ(busy.goings_on(), before + 1);
}

constexpr std::uint64_t kCommand = 0xFEE0'0300;
constexpr std::uint64_t kDestination = 0xFEE0'0310;

TEST(InterruptCommandTest, IsForTheProcessorsThatItNames) {
  InterruptCommand command;
  EXPECT_TRUE(InterruptCommand::has(kCommand));
  EXPECT_FALSE(InterruptCommand::has(0xFEC0'0300));
  EXPECT_FALSE(command.write(kDestination, 3U << 24U));
  EXPECT_FALSE(command.write(0xFEE0'0380, 1000));  // a timer
  EXPECT_TRUE(command.write(kCommand, 0xFD));      // to the processor 3
  EXPECT_TRUE(command.is_for(3, 0));
  EXPECT_FALSE(command.is_for(1, 0));
  EXPECT_TRUE(command.write(kCommand, 0x8FD));  // logical: 0 and 1
  EXPECT_TRUE(command.is_for(1, 0));
  EXPECT_FALSE(command.is_for(2, 0));
  EXPECT_FALSE(command.is_for(9, 0));
}

TEST(InterruptCommandTest, KnowsTheShorthands) {
  InterruptCommand command;
  command.write(kDestination, 3U << 24U);
  command.write(kCommand, 0x4'00FD);
  EXPECT_TRUE(command.is_for(1, 1));
  EXPECT_FALSE(command.is_for(3, 1));
  command.write(kCommand, 0x8'00FD);
  EXPECT_TRUE(command.is_for(1, 1));
  EXPECT_TRUE(command.is_for(0, 1));
  command.write(kCommand, 0xC'00FD);
  EXPECT_FALSE(command.is_for(1, 1));
  EXPECT_TRUE(command.is_for(0, 1));
  command.write(kDestination, 0xFFU << 24U);
  command.write(kCommand, 0xFD);
  EXPECT_TRUE(command.is_for(5, 1));
}

}  // namespace
}  // namespace cxloom::qemu
