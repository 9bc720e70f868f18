#include "workload/trace/page_map.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace cxloom {
namespace {

TEST(PageMap, FramesAreInTheOrderOfFirstTouch) {
  PageMap pages;
  EXPECT_EQ(pages.translate(Address{0x1fff000758}).value(), 0x758U);
  EXPECT_EQ(pages.translate(Address{0x40010}).value(), 0x1010U);
  EXPECT_EQ(pages.translate(Address{0x1fff000fff}).value(), 0xfffU);
  EXPECT_EQ(pages.translate(Address{~std::uint64_t{0}}).value(), 0x2fffU);
  EXPECT_EQ(pages.translate(LineAddress{0x40040 / kLineBytes}).number(), 0x1040 / kLineBytes);
  EXPECT_EQ(pages.frames(), 3U);
}

TEST(PageMap, KeepsItsAnswersWhenItGrows) {
  PageMap pages;
  std::map<std::uint64_t, std::uint64_t> reference;
  RandomStream random(2, "test", "pages");
  for (int i = 0; i < 100000; ++i) {
    const std::uint64_t page = random.below(20000) << (random.chance(0.5) ? 30U : 0U);
    const auto [known, fresh] = reference.try_emplace(page, reference.size());
    ASSERT_EQ(pages.frame_of(page), known->second) << "access " << i;
  }
  EXPECT_EQ(pages.frames(), reference.size());
  EXPECT_GT(reference.size(), 30000U);
}

TEST(Footprint, CountsDistinctLinesAndPages) {
  Footprint footprint;
  std::set<std::uint64_t> lines;
  std::set<std::uint64_t> pages;
  RandomStream random(2, "test", "footprint");
  for (int i = 0; i < 20000; ++i) {
    const std::uint64_t address = random.below(64U << 20U);
    const std::uint64_t size = 1 + random.below(300);
    footprint.touch(Address{address}, size);
    for (std::uint64_t byte = address; byte < address + size; ++byte) {
      lines.insert(byte / kLineBytes);
      pages.insert(byte / kPageBytes);
    }
  }
  EXPECT_EQ(footprint.lines(), lines.size());
  EXPECT_EQ(footprint.pages(), pages.size());
}

TEST(Footprint, EndsWithTheAddressSpace) {
  Footprint footprint;
  footprint.touch(Address{~std::uint64_t{0}}, 4096);
  EXPECT_EQ(footprint.lines(), 1U);
}

}  // namespace
}  // namespace cxloom
