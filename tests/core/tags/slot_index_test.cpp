#include "tags/slot_index.hpp"

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "base/random.hpp"

namespace cxloom {
namespace {

TEST(SlotIndex, FindsWhatAMapFinds) {
  constexpr std::uint32_t kCapacity = 100;
  SlotIndex index(kCapacity);
  std::vector<std::uint64_t> tags(kCapacity);
  std::vector<Slot> free;
  for (Slot slot = 0; slot < kCapacity; ++slot) free.push_back(slot);
  std::map<std::uint64_t, Slot> reference;
  RandomStream random(3, "test", "index");
  for (int i = 0; i < 50'000; ++i) {
    const std::uint64_t line = random.below(300);
    const auto known = reference.find(line);
    ASSERT_EQ(index.find(LineAddress{line}, tags.data(), line + 1),
              known == reference.end() ? kNoSlot : known->second);
    // No two of these lines have one hash.
    ASSERT_EQ(index.likely(LineAddress{line}), known == reference.end() ? kNoSlot : known->second);
    if (known != reference.end()) {
      index.erase(LineAddress{line}, known->second, [&](Slot slot) { return LineAddress{tags[slot] - 1}; });
      tags[known->second] = 0;
      free.push_back(known->second);
      reference.erase(known);
    } else if (!free.empty()) {
      const Slot slot = free.back();
      free.pop_back();
      index.insert(LineAddress{line}, slot);
      tags[slot] = line + 1;
      reference[line] = slot;
    }
  }
  EXPECT_GT(reference.size(), 50U);
}

}  // namespace
}  // namespace cxloom
