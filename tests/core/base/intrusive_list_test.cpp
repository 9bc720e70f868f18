#include "base/intrusive_list.hpp"

#include <gtest/gtest.h>

#include <array>

namespace cxloom {
namespace {

struct Item {
  Item* next = nullptr;
  Item* previous = nullptr;
};

TEST(IntrusiveList, AnyItemMayLeave) {
  // The first, one between, and the last; what stays is in its order.
  for (const std::size_t leaves : {0U, 1U, 2U}) {
    std::array<Item, 3> items;
    IntrusiveList<Item> list;
    for (Item& item : items) list.push_back(item);
    list.remove(items[leaves]);
    EXPECT_EQ(list.size(), 2U);
    for (std::size_t i = 0; i < 3; ++i) {
      if (i == leaves) continue;
      EXPECT_EQ(&list.front(), &items[i]);
      list.remove(items[i]);
    }
    EXPECT_EQ(list.size(), 0U);
    list.push_back(items[leaves]);  // it may come again
    EXPECT_EQ(&list.front(), &items[leaves]);
  }
}

}  // namespace
}  // namespace cxloom
