#include "base/flat_table.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <unordered_map>

#include "base/random.hpp"
#include "base/zeroed_array.hpp"

namespace cxloom {
namespace {

struct Cell {
  std::uint64_t name;  // 0: empty
  std::uint64_t value;

  std::uint64_t key() const { return name; }
};

/// Plays the same random changes to the table and to a map of the library, with at most `most` entries.
template <class Table>
void compare(Table table, std::size_t most, std::uint64_t keys) {
  RandomStream random(7, "flat table", "keys");
  std::unordered_map<std::uint64_t, std::uint64_t> expected;
  for (std::uint64_t step = 0; step < 20'000; ++step) {
    const std::uint64_t key = 1 + random.below(keys);
    if (expected.contains(key)) {
      ASSERT_EQ(table.at(key).value, expected[key]);
      if (random.chance(0.6)) {
        table.erase(key);
        expected.erase(key);
      }
    } else if (expected.size() < most) {
      ASSERT_EQ(table.find(key), nullptr);
      Cell& cell = table.place(key);
      ASSERT_EQ(cell.key(), 0U);
      cell = {key, step};
      expected[key] = step;
    }
    ASSERT_EQ(table.used(), expected.size());
  }
  for (std::uint64_t key = 1; key <= keys; ++key) {
    const Cell* found = table.find(key);
    ASSERT_EQ(found != nullptr, expected.contains(key));
    ASSERT_TRUE(!found || found->value == expected[key]);
  }
}

TEST(FlatTable, HoldsWhatAMapHoldsWhileItGrows) {
  for (const std::uint64_t keys : {3U, 100U, 5'000U}) compare(FlatTable<Cell>(), keys, keys);
}

TEST(FlatTable, OfFixedSizeHoldsWhatAMapHolds) {
  for (const std::size_t most : {1U, 5U, 64U, 300U})
    compare(FlatTable<Cell, ZeroedArray<Cell>>(most), most, 2 * most);
}

}  // namespace
}  // namespace cxloom
