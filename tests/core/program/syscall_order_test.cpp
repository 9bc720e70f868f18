#include "program/syscall_order.hpp"

#include <gtest/gtest.h>

namespace cxloom {
namespace {

TEST(SyscallOrderTest, EachNumberHasItsTurnOnce) {
  SyscallOrder order;
  SyscallOrder::Ticket one, two;
  EXPECT_TRUE(order.is_next(one, 1));
  EXPECT_FALSE(order.is_next(two, 3));
  EXPECT_TRUE(two.is_held());
  EXPECT_EQ(two.held(), 3U);
  EXPECT_TRUE(order.is_next(one, 2));
  EXPECT_TRUE(order.is_next(two, 3));
  EXPECT_FALSE(two.is_held());
}

TEST(SyscallOrderTest, WhatIsLostIsNotWaitedFor) {
  SyscallOrder order;
  SyscallOrder::Ticket one, two;
  EXPECT_FALSE(order.is_next(one, 5));
  EXPECT_FALSE(order.is_next(two, 7));
  order.skip_to(5);
  EXPECT_FALSE(order.is_next(two, 7));
  EXPECT_TRUE(order.is_next(one, 5));
  EXPECT_TRUE(order.is_next(two, 4));  // it was not lost, and is late
  EXPECT_TRUE(order.is_next(one, 6));
}

}  // namespace
}  // namespace cxloom
