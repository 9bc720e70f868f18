#include "workload/kv/policy/kv_policy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "base/schema.hpp"
#include "workload/kv/request/kv_future.hpp"
#include "workload/kv/tier/kv_hits.hpp"

namespace cxloom {
namespace {

const KvPolicyRegistry& kv_kinds() {
  static const KvPolicyRegistry kinds = [] {
    KvPolicyRegistry made("KV policy");
    register_kv_policies(made);
    return made;
  }();
  return kinds;
}

/// Requests of these blocks, which have the numbers that they need: each is first brought in their order.
KvRequests requests_with(const std::vector<std::vector<KvBlock>>& prompts) {
  KvRequests made;
  made.block_tokens = 1;
  for (const auto& prompt : prompts) {
    made.requests.push_back({.input = static_cast<std::uint32_t>(prompt.size()),
                             .begin = made.blocks.size(),
                             .blocks = static_cast<std::uint32_t>(prompt.size())});
    made.blocks.insert(made.blocks.end(), prompt.begin(), prompt.end());
  }
  return made;
}

std::uint64_t hits_of(const std::string& kind, const KvRequests& requests, std::uint64_t capacity,
                      Value::Map params = {}) {
  const KvFuture future(requests);
  KvPolicyContext context{.capacity = capacity, .future = &future};
  auto policy = kv_kinds().make({kind, Value(std::move(params))}, context);
  KvTiers tiers({std::make_shared<KvTier>("tier", capacity, std::move(policy))}, KvInclusion::kInclusive,
                KvWrites::kThrough);
  KvReplay replay(requests, tiers);
  while (!replay.advance(1)) EXPECT_LE(tiers.tier(0).size(), capacity);
  return replay.hits().all().blocks;
}

/// Prompts that share prefixes: each goes on behind a part of an earlier one.
KvRequests random_requests(std::uint64_t seed) {
  RandomStream random(seed, "test", "prompts");
  std::vector<std::vector<KvBlock>> prompts;
  KvBlock next = 0;
  for (int i = 0; i < 150; ++i) {
    std::vector<KvBlock> prompt;
    if (!prompts.empty() && random.chance(0.7)) {
      const auto& before = prompts[random.below(prompts.size())];
      const auto kept = static_cast<std::ptrdiff_t>(random.below(before.size() + 1));
      prompt.assign(before.begin(), before.begin() + kept);
    }
    for (auto more = random.below(6) + 1; more > 0; --more) prompt.push_back(next++);
    prompts.push_back(std::move(prompt));
  }
  return requests_with(prompts);
}

/// Least recently used, written down as simply as it is said.
std::uint64_t plain_lru_hits(const KvRequests& requests, std::size_t capacity) {
  std::list<KvBlock> order;
  std::uint64_t hits = 0;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const auto blocks = requests.blocks_of(i);
    const auto is_there = [&](KvBlock block) { return std::ranges::find(order, block) != order.end(); };
    hits += static_cast<std::uint64_t>(std::ranges::find_if_not(blocks, is_there) - blocks.begin());
    for (std::size_t at = blocks.size(); at-- > 0;) {
      order.remove(blocks[at]);
      order.push_back(blocks[at]);
      if (order.size() > capacity) order.pop_front();
    }
  }
  return hits;
}

TEST(KvPolicies, LruIsWhatItSays) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const KvRequests requests = random_requests(seed);
    for (const std::uint64_t capacity : {1, 2, 5, 17, 60, 1000})
      EXPECT_EQ(hits_of("lru", requests, capacity), plain_lru_hits(requests, capacity)) << capacity;
  }
}

TEST(KvPolicies, LruNeverFallsWithCapacity) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const KvRequests requests = random_requests(seed);
    std::uint64_t before = 0;
    for (std::uint64_t capacity = 1; capacity < 120; capacity += 3) {
      const std::uint64_t hits = hits_of("lru", requests, capacity);
      EXPECT_GE(hits, before) << "seed " << seed << ", capacity " << capacity;
      before = hits;
    }
  }
}

TEST(KvPolicies, ACycleThatIsLargerThanTheTierHitsNever) {
  std::vector<std::vector<KvBlock>> prompts;
  for (KvBlock i = 0; i < 70; ++i) prompts.push_back({i % 7});
  const KvRequests requests = requests_with(prompts);
  for (const std::string kind : {"fifo", "lru", "lfu"}) {
    EXPECT_EQ(hits_of(kind, requests, 6), 0) << kind;
    EXPECT_EQ(hits_of(kind, requests, 7), 63) << kind;
  }
  // Who knows the future keeps five of the seven for the next round, and one place for what passes.
  EXPECT_GT(hits_of("far", requests, 6), 40);
}

TEST(KvPolicies, FarIsAboveAllOthersWhereEachPromptIsOneBlock) {
  RandomStream random(3, "test", "blocks");
  std::vector<std::vector<KvBlock>> prompts;
  std::vector<std::int64_t> numbers(200, -1);
  KvBlock next = 0;
  for (int i = 0; i < 3000; ++i) {
    std::int64_t& number = numbers[random.below(random.below(200) + 1)];
    if (number < 0) number = next++;
    prompts.push_back({static_cast<KvBlock>(number)});
  }
  const KvRequests requests = requests_with(prompts);
  for (const std::uint64_t capacity : {5, 20, 80}) {
    const std::uint64_t most = hits_of("far", requests, capacity);
    for (const std::string kind : {"fifo", "lru", "lfu", "s3-fifo"})
      EXPECT_LT(hits_of(kind, requests, capacity), most) << kind << " " << capacity;
  }
}

TEST(KvPolicies, FifoForgetsUsesAndLfuCountsThem) {
  // 0 is used twice and is oldest; 2 pushes one of 0 and 1 out.
  const KvRequests requests = requests_with({{0}, {0}, {1}, {2}, {0}});
  EXPECT_EQ(hits_of("fifo", requests, 2), 1);
  EXPECT_EQ(hits_of("lru", requests, 2), 1);
  EXPECT_EQ(hits_of("lfu", requests, 2), 2);
}

TEST(KvPolicies, AnEndOfAPromptLeavesBeforeItsBeginning) {
  // Three blocks in a tier of four: two more push out 2, then 1, and the prefix 0 is still there.
  const KvRequests requests = requests_with({{0, 1, 2}, {3, 4, 5}, {0, 1, 2}});
  EXPECT_EQ(hits_of("lru", requests, 4), 1);
}

TEST(KvPolicies, S3FifoKeepsWhatWasUsedTwiceFromAScan) {
  std::vector<std::vector<KvBlock>> prompts{{0}, {0}, {0}};
  for (KvBlock i = 1; i < 60; ++i) prompts.push_back({i});
  prompts.push_back({0});
  const KvRequests requests = requests_with(prompts);
  EXPECT_EQ(hits_of("lru", requests, 20), 2);
  EXPECT_EQ(hits_of("s3-fifo", requests, 20), 3);
}

TEST(KvPolicies, AGhostLetsABlockIntoTheMainQueue) {
  // A small queue of 2 of 20: block 0 leaves it, comes back while its ghost is there, and stays in the main
  // queue.
  std::vector<std::vector<KvBlock>> prompts{{0}};
  for (KvBlock i = 1; i < 25; ++i) prompts.push_back({i});
  prompts.push_back({0});
  for (KvBlock i = 25; i < 60; ++i) prompts.push_back({i});
  prompts.push_back({0});
  const KvRequests requests = requests_with(prompts);
  EXPECT_EQ(hits_of("s3-fifo", requests, 20), 1);
  EXPECT_EQ(hits_of("s3-fifo", requests, 20, {{"ghost", 0.0}}), 0);
}

TEST(KvPolicies, FarBreaksTiesAsItIsTold) {
  // 0 and 1 are next used by one request; only one of them has a place beside 2.
  const KvRequests requests = requests_with({{0, 1}, {2}, {2}, {0, 1}});
  EXPECT_EQ(hits_of("far", requests, 2, {{"equals", "last"}}), 2);
  EXPECT_EQ(hits_of("far", requests, 2, {{"equals", "first"}}), 1);
}

}  // namespace
}  // namespace cxloom
