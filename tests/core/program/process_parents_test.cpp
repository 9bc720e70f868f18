#include "program/process_parents.hpp"

#include <gtest/gtest.h>

namespace cxloom {
namespace {

constexpr std::uint32_t kFork = 57;

TEST(ProcessParentsTest, TheFirstThreadOfEachProcessIsKnown) {
  ProcessParents parents;
  EXPECT_TRUE(parents.is_first({1, 0}));
  EXPECT_FALSE(parents.is_first({2, 0}));
  EXPECT_TRUE(parents.is_first({3, 1}));
  EXPECT_FALSE(parents.is_first({4, 0}));
}

TEST(ProcessParentsTest, AForkIsACopyAndAnotherProgramIsNot) {
  ProcessParents parents;
  EXPECT_EQ(parents.parent_of({1, 0}, {}), 0U);
  parents.call({1, 0}, kFork);
  EXPECT_EQ(parents.parent_of({2, 1}, {1, 5}), 0U);
  parents.call({2, 1}, system_call::kExecve);
  EXPECT_EQ(parents.parent_of({3, 2}, {2, 7}), 2U);
  parents.call({3, 2}, system_call::kExecveAt);
  EXPECT_EQ(parents.parent_of({4, 3}, {3, 9}), 3U);
  parents.call({4, 3}, kFork);
  EXPECT_EQ(parents.parent_of({5, 4}, {4, 11}), 3U);
}

TEST(ProcessParentsTest, WhoIsBegunByOneThatHasNotCalledIsACopyOfNobody) {
  const ProcessParents parents;
  EXPECT_EQ(parents.parent_of({6, 4}, {5, 11}), 4U);
}

}  // namespace
}  // namespace cxloom
