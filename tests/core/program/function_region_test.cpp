#include "program/function_region.hpp"

#include <gtest/gtest.h>

namespace cxloom {
namespace {

TEST(FunctionRegionTest, EndsWithTheReturnOfItsOwnCall) {
  FunctionRegion region;
  EXPECT_FALSE(region.inside());
  EXPECT_TRUE(region.enter());
  EXPECT_FALSE(region.leave(InstructionClass::kBranch));
  EXPECT_FALSE(region.leave(InstructionClass::kCall));
  EXPECT_FALSE(region.leave(InstructionClass::kReturn));  // of what it called
  EXPECT_TRUE(region.inside());
  EXPECT_TRUE(region.leave(InstructionClass::kReturn));
  EXPECT_FALSE(region.inside());
}

TEST(FunctionRegionTest, RecursionIsNoOtherRegion) {
  FunctionRegion region;
  EXPECT_TRUE(region.enter());
  EXPECT_FALSE(region.leave(InstructionClass::kCall));  // of itself
  EXPECT_FALSE(region.enter());
  EXPECT_FALSE(region.leave(InstructionClass::kReturn));
  EXPECT_TRUE(region.leave(InstructionClass::kReturn));
  EXPECT_TRUE(region.enter());  // a further call of it is
}

}  // namespace
}  // namespace cxloom
