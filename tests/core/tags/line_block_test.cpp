#include "tags/line_block.hpp"

#include <gtest/gtest.h>

#include "core/support/tag_model.hpp"

namespace cxloom {
namespace {

// Every neighbourhood of eight lines that can be, against all blocks that are allowed.
TEST(LineBlock, IsTheLongestThatIsAllowedAndThere) {
  for (const BlockAlignment alignment : {BlockAlignment::kSpec, BlockAlignment::kFree}) {
    for (std::uint32_t most = 1; most <= BlockRule::kMostLines; ++most) {
      const BlockRule rule{most, alignment};
      for (unsigned there = 0; there < 256; ++there) {
        const auto has = [&](LineAddress line) {
          return line.number() < 8 && (there >> line.number() & 1U) != 0;
        };
        for (std::uint64_t line = 0; line < 8; ++line) {
          if (!has(LineAddress{line})) continue;
          LineBlock longest{LineAddress{line}, 1};
          for (const LineBlock& block : test::allowed_blocks(rule, line)) {
            bool whole = true;
            for (std::uint32_t i = 0; i < block.lines; ++i)
              whole = whole && has(LineAddress{block.first.number() + i});
            if (whole && block.lines > longest.lines) longest = block;
          }
          const LineBlock found = block_around(rule, LineAddress{line}, has);
          ASSERT_EQ(found.lines, longest.lines) << there << " " << line << " " << most;
          ASSERT_EQ(found.first, longest.first) << there << " " << line << " " << most;
        }
      }
    }
  }
}

TEST(LineBlock, OfTheSpecificationIsAHalfOf256BytesOrAllOfThem) {
  const auto all = [](LineAddress) { return true; };
  const BlockRule four{4, BlockAlignment::kSpec};
  EXPECT_EQ(block_around(four, LineAddress{6}, all).first, LineAddress{4});
  EXPECT_EQ(block_around(four, LineAddress{6}, all).lines, 4U);
  // Without line 4 the upper 128 B are left; lines 3 to 6 would be four in a row.
  const auto not4 = [](LineAddress line) { return line != LineAddress{4}; };
  EXPECT_EQ(block_around(four, LineAddress{6}, not4).lines, 2U);
  EXPECT_EQ(block_around(four, LineAddress{5}, not4).lines, 1U);
  EXPECT_EQ(block_around({4, BlockAlignment::kFree}, LineAddress{6}, not4).lines, 4U);
}

}  // namespace
}  // namespace cxloom
