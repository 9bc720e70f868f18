#include "device/requester/producer_table.hpp"

#include <gtest/gtest.h>

#include <deque>

#include "base/random.hpp"

namespace cxloom {
namespace {

using namespace literals;

TEST(ProducerTable, KnowsWhereAnAccessIsUntilItIsAnswered) {
  ProducerTable table;
  CoreAccess first;
  CoreAccess second;
  EXPECT_FALSE(table.has(0));
  table.add(first);
  table.add(second);
  EXPECT_TRUE(table.has(1));
  EXPECT_FALSE(table.has(2));
  EXPECT_EQ(table.pending(0), &first);
  EXPECT_EQ(table.pending(1), &second);
  table.answer(0, 5_us);
  EXPECT_EQ(table.pending(0), nullptr);
  EXPECT_EQ(table.done(0), 5_us);
  EXPECT_EQ(table.pending(1), &second);
  table.answer(1, Time{});
  EXPECT_EQ(table.pending(1), nullptr);
  EXPECT_EQ(table.done(1), Time{});
}

// Three times its size, each answered in its turn or, now and then, when the table has forgotten it.
TEST(ProducerTable, KnowsTheLatest) {
  ProducerTable table;
  std::deque<CoreAccess> accesses(1000);
  RandomStream random(1, "producers", "test");
  std::uint64_t left = 0;
  for (std::uint64_t number = 0; number < 3 * ProducerTable::kSize; ++number) {
    CoreAccess& access = accesses[number % accesses.size()];
    table.add(access);
    ASSERT_EQ(table.pending(number), &access);
    const bool forgotten = number >= ProducerTable::kSize;
    ASSERT_EQ(forgotten && table.has(number - ProducerTable::kSize), false);
    if (forgotten) {
      ASSERT_TRUE(table.has(number - ProducerTable::kSize + 1));
      // A late answer changes nothing of the access that has its place.
      if (random.below(100) == 0) table.answer(number - ProducerTable::kSize, 1_ns);
      ASSERT_EQ(table.pending(number), &access);
    }
    if (random.below(10) > 0) {
      table.answer(number, Time{static_cast<std::int64_t>(number)});
      ASSERT_EQ(table.done(number), Time{static_cast<std::int64_t>(number)});
    } else {
      ++left;
    }
  }
  EXPECT_GT(left, 0U);
}

}  // namespace
}  // namespace cxloom
