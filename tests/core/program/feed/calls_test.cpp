#include "program/feed/calls.hpp"

#include <gtest/gtest.h>

namespace cxloom {
namespace {

TEST(FeedCallsTest, ACallIsItsNumberItsOrderAndItsArguments) {
  const std::uint64_t words[feed::kCallWords] = {
      feed::event(FeedEvent::kSystemCall, system_call::kFutex), 41, 1, 2, 3, 4, 5, 6};
  const SystemCall call = system_call_of(words);
  EXPECT_EQ(call.number, system_call::kFutex);
  EXPECT_EQ(call.order, 41U);
  EXPECT_EQ(call.arguments, (std::array<std::uint64_t, 6>{1, 2, 3, 4, 5, 6}));
}

TEST(FeedCallsTest, AnEndSaysWhetherTheThreadSlept) {
  std::uint64_t words[feed::kCallEndWords] = {
      feed::event(FeedEvent::kSystemCallEnd, system_call::kFutex | feed::kSlept), 42,
      static_cast<std::uint64_t>(std::int64_t{-11}), 1500};
  const SystemCallEnd end = system_call_end_of(words);
  EXPECT_EQ(end.number, system_call::kFutex);
  EXPECT_TRUE(end.slept);
  EXPECT_EQ(end.order, 42U);
  EXPECT_EQ(end.result, -11);
  EXPECT_EQ(end.nanoseconds, 1500U);
  EXPECT_EQ(end.by, Release{});
  words[0] = feed::event(FeedEvent::kSystemCallEnd, system_call::kFutex);
  EXPECT_FALSE(system_call_end_of(words).slept);
}

}  // namespace
}  // namespace cxloom
