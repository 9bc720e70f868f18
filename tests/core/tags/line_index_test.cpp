#include "tags/line_index.hpp"

#include <gtest/gtest.h>

#include <map>

#include "base/random.hpp"

namespace cxloom {
namespace {

TEST(LineIndex, FindsWhatAMapFinds) {
  constexpr std::uint32_t kCapacity = 100;
  LineIndex index(kCapacity);
  std::map<std::uint64_t, Slot> reference;
  RandomStream random(3, "test", "index");
  for (int i = 0; i < 50000; ++i) {
    const std::uint64_t line = random.below(300);
    const auto known = reference.find(line);
    ASSERT_EQ(index.find(LineAddress{line}), known == reference.end() ? kNoSlot : known->second);
    if (known != reference.end()) {
      index.erase(LineAddress{line});
      reference.erase(known);
    } else if (reference.size() < kCapacity) {
      const auto slot = static_cast<Slot>(i);
      index.insert(LineAddress{line}, slot);
      reference[line] = slot;
    }
  }
  EXPECT_GT(reference.size(), 50U);
}

}  // namespace
}  // namespace cxloom
