#include "base/handle_table.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>
#include <vector>

namespace cxloom {
namespace {

TEST(HandleTable, ANumberNamesItsItemUntilThatLeaves) {
  HandleTable<int> table;
  const std::uint64_t number = table.add(7);
  EXPECT_NE(number, 0U);
  ASSERT_TRUE(table.find(number));
  EXPECT_EQ(*table.find(number), 7);
  EXPECT_EQ(table.remove(number), 7);
  EXPECT_EQ(table.find(number), nullptr);
  EXPECT_EQ(table.count(), 0U);
}

TEST(HandleTable, ANumberIsUsedOnce) {
  HandleTable<int> table;
  const std::uint64_t first = table.add(1);
  table.remove(first);
  const std::uint64_t second = table.add(2);
  EXPECT_NE(first, second);
  EXPECT_EQ(table.find(first), nullptr);
  EXPECT_EQ(*table.find(second), 2);
}

TEST(HandleTable, WhatNeverWasNamesNothing) {
  HandleTable<int> table;
  table.add(1);
  for (const std::uint64_t number :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{5} << 32, ~std::uint64_t{0}})
    EXPECT_EQ(table.find(number), nullptr) << number;
}

TEST(HandleTable, IsAMapOfNumbers) {
  HandleTable<std::uint64_t> table;
  std::map<std::uint64_t, std::uint64_t> model;
  std::vector<std::uint64_t> gone;
  std::mt19937_64 random(1);
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    if (model.empty() || random() % 2 == 0) {
      const std::uint64_t number = table.add(i);
      EXPECT_TRUE(model.emplace(number, i).second);
    } else {
      const auto chosen = model.lower_bound(random());
      const auto item = chosen == model.end() ? model.begin() : chosen;
      EXPECT_EQ(table.remove(item->first), item->second);
      gone.push_back(item->first);
      model.erase(item);
    }
    ASSERT_EQ(table.count(), model.size());
  }
  for (const auto& [number, value] : model) EXPECT_EQ(*table.find(number), value);
  for (const std::uint64_t number : gone) EXPECT_EQ(table.find(number), nullptr);
}

}  // namespace
}  // namespace cxloom
