#include "device/switch/pair_table.hpp"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <tuple>
#include <vector>

#include "base/random.hpp"

namespace cxloom {
namespace {

// Against a std::map, as pairs come and go: the neighbours of one that goes must still be found.
TEST(PairTable, KeepsThePairsInUse) {
  using Pair = std::tuple<std::uint16_t, std::uint16_t, std::uint8_t>;
  std::array<int, 64> values{};
  for (const std::uint64_t most : {std::uint64_t{6}, std::uint64_t{300}}) {
    PairTable<int> table;
    std::map<Pair, int*> reference;
    RandomStream random(most, "pair_table", "test");
    for (int step = 0; step < 30'000; ++step) {
      const Pair pair{random.below(40), random.below(40), random.below(3)};
      const auto [input, output, channel] = pair;
      if (const auto known = reference.find(pair); known != reference.end()) {
        ASSERT_EQ(table.at(input, output, channel), known->second);
        table.remove(input, output, channel);
        reference.erase(known);
      } else if (reference.size() < most) {
        int*& value = table.at(input, output, channel);
        ASSERT_EQ(value, nullptr);
        value = reference[pair] = &values[random.below(values.size())];
      }
      if (step % 1000 != 0) continue;
      for (const auto& [each, value] : reference) {
        ASSERT_EQ(table.at(std::get<0>(each), std::get<1>(each), std::get<2>(each)), value);
      }
    }
  }
}

}  // namespace
}  // namespace cxloom
