#include "program/retired_records.hpp"

#include <gtest/gtest.h>

namespace cxloom {
namespace {

constexpr std::uint64_t kWindow = 10;

class RetiredRecordsTest : public testing::Test {
 protected:
  void run(std::uint64_t instructions) {
    for (std::uint64_t i = 0; i < instructions; ++i) records_.begin_instructions();
  }

  RetiredRecords records_{kWindow};
};

TEST_F(RetiredRecordsTest, ARecordIsAnsweredWhenItIsFurtherBackThanTheWindow) {
  run(100);
  records_.add(5);
  EXPECT_LT(records_.up_to(), 5U);
  run(kWindow);  // it may still be the oldest one in the window
  EXPECT_LT(records_.up_to(), 5U);
  EXPECT_FALSE(records_.all());
  run(1);
  EXPECT_GE(records_.up_to(), 5U);
  EXPECT_TRUE(records_.all());
}

TEST_F(RetiredRecordsTest, OneThatIsAnsweredIsKnownThoughOthersFollow) {
  run(100);
  records_.add(5);
  run(6);
  records_.add(6);  // not remembered: the one before is
  run(5);
  records_.add(7);
  EXPECT_EQ(records_.up_to(), 5U);
  EXPECT_FALSE(records_.all());
}

TEST_F(RetiredRecordsTest, WhatNobodyAsksForHoldsTheOthersUp) {
  run(100);
  records_.add();
  EXPECT_FALSE(records_.all());
  run(kWindow + 1);
  EXPECT_TRUE(records_.all());
}

}  // namespace
}  // namespace cxloom
