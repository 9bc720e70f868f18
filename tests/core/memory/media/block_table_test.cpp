// What is under way for each block: found by its block alone, and by no other.
#include "memory/media/block_table.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "base/random.hpp"

namespace cxloom {
namespace {

struct Job {
  std::uint64_t block = 0;
};

TEST(BlockTable, HasTheFirstBlockAsAnyOther) {
  BlockTable<Job> table;
  Job job;
  EXPECT_EQ(table.find(0), nullptr);
  table.put(0, job);
  EXPECT_EQ(table.find(0), &job);
  EXPECT_EQ(table.find(1), nullptr);
  table.erase(0);
  EXPECT_EQ(table.find(0), nullptr);
}

TEST(BlockTable, KeepsTheLatestJobOfABlock) {
  BlockTable<Job> table;
  Job before;
  Job after;
  table.put(7, before);
  table.put(7, after);
  EXPECT_EQ(table.find(7), &after);
  table.erase(7);
  EXPECT_EQ(table.find(7), nullptr);
}

TEST(BlockTable, IsWhatAMapIs) {
  BlockTable<Job> table;
  std::unordered_map<std::uint64_t, Job*> map;
  std::vector<Job> jobs(256);
  RandomStream random(1, "media", "block table");
  for (int i = 0; i < 20'000; ++i) {
    const std::uint64_t block = random.below(jobs.size())
                                << (random.below(2) * 40);  // neighbours, and far apart
    if (map.contains(block)) {
      table.erase(block);
      map.erase(block);
    } else {
      Job& job = jobs[random.below(jobs.size())];
      table.put(block, job);
      map[block] = &job;
    }
    const std::uint64_t asked = random.below(jobs.size());
    const auto found = map.find(asked);
    ASSERT_EQ(table.find(asked), found == map.end() ? nullptr : found->second);
  }
}

}  // namespace
}  // namespace cxloom
