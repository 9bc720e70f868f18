#include "workload/placement/page_numbers.hpp"

#include <gtest/gtest.h>

#include <map>

#include "base/random.hpp"

namespace cxloom {
namespace {

TEST(PageNumbers, FollowTheFirstUseWhetherPagesWereExpectedOrNot) {
  RandomStream random(1, "pages", "test");
  for (int round = 0; round < 50; ++round) {
    PageNumbers pages;
    PageRuns runs;
    std::uint64_t next = random.below(20);
    for (std::uint64_t i = random.below(5); i > 0; --i) {
      runs.push_back({next, 1 + random.below(40)});
      next += runs.back().count + random.below(3) * random.below(100);
    }
    if (round == 9) runs.push_back({next, PageNumbers::kMostExpected});
    pages.expect(runs);
    std::map<std::uint64_t, std::uint64_t> numbers;
    for (int i = 0; i < 500; ++i) {
      const std::uint64_t page = random.below(next + 50);
      const auto [at, is_new] = numbers.try_emplace(page, numbers.size());
      ASSERT_EQ(pages.number_of(page), at->second) << page << (is_new ? ", new" : "");
    }
  }
}

}  // namespace
}  // namespace cxloom
