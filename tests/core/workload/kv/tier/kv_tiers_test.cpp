#include "workload/kv/tier/kv_tiers.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "base/schema.hpp"
#include "workload/kv/policy/lru.hpp"

namespace cxloom {
namespace {

std::shared_ptr<KvTier> lru_tier(std::uint64_t capacity) {
  const KvPolicyContext context{.capacity = capacity};
  return std::make_shared<KvTier>("tier of " + std::to_string(capacity), capacity,
                                  std::make_unique<LruKvPolicy>(LruKvPolicy::Params{}, context));
}

/// Two tiers of LRU, and what went into each.
struct TwoTiers {
  TwoTiers(std::uint64_t first, std::uint64_t second, KvInclusion inclusion,
           KvWrites writes = KvWrites::kThrough)
      : tiers({lru_tier(first), lru_tier(second)}, inclusion, writes), traffic(2) {}
  /// The tiers of the prefix that is there; then the request has all of it.
  std::vector<std::uint8_t> play(const std::vector<KvBlock>& blocks) {
    std::vector<std::uint8_t> where;
    tiers.find(blocks, where);
    tiers.use(requests++, blocks, traffic);
    return where;
  }

  KvTiers tiers;
  std::vector<KvTraffic> traffic;
  std::uint64_t requests = 0;
};

using Where = std::vector<std::uint8_t>;

TEST(KvTiers, WrittenThroughEachTierHasEveryNewBlock) {
  TwoTiers both(2, 4, KvInclusion::kInclusive);
  EXPECT_EQ(both.play({0, 1, 2}), (Where{}));
  EXPECT_EQ(both.traffic[0].stored, 3);
  EXPECT_EQ(both.traffic[1].stored, 3);
  // The last block left the first tier, and comes back to it.
  EXPECT_EQ(both.play({0, 1, 2}), (Where{0, 0, 1}));
  EXPECT_GT(both.traffic[0].fetched, 0);
  EXPECT_EQ(both.traffic[1].written(), 3);
}

TEST(KvTiers, WrittenBackABlockGoesOnWhenItLeaves) {
  TwoTiers both(2, 4, KvInclusion::kInclusive, KvWrites::kBack);
  both.play({0, 1, 2});
  EXPECT_EQ(both.traffic[1].stored, 0);
  EXPECT_EQ(both.traffic[1].demoted, 1);
  EXPECT_EQ(both.play({0}), (Where{0}));
  // It has a copy behind, and is not written again.
  both.play({0, 1, 2});
  const std::uint64_t before = both.traffic[1].demoted;
  both.play({0, 1, 2});
  EXPECT_LE(both.traffic[1].demoted, before + 1);
}

TEST(KvTiers, ExclusiveABlockIsInOneTier) {
  TwoTiers both(2, 4, KvInclusion::kExclusive);
  both.play({0, 1, 2, 3});
  for (KvBlock block = 0; block < 4; ++block)
    EXPECT_NE(both.tiers.tier(0).has(block), both.tiers.tier(1).has(block)) << block;
  EXPECT_EQ(both.play({0, 1, 2, 3}), (Where{0, 0, 1, 1}));
}

TEST(KvTiers, ABlockIsFoundBehindItsWrite) {
  TwoTiers both(1, 4, KvInclusion::kInclusive);
  both.play({7});
  const std::vector<KvBlock> first = both.tiers.begin_write(0);
  const std::vector<KvBlock> second = both.tiers.begin_write(1);
  EXPECT_EQ(first, std::vector<KvBlock>{7});
  std::vector<std::uint8_t> where;
  const std::vector<KvBlock> asked{7};
  both.tiers.find(asked, where);
  EXPECT_EQ(where, (Where{}));
  both.tiers.end_write(1, second);
  both.tiers.find(asked, where);
  EXPECT_EQ(where, (Where{1}));
  // It leaves the first tier and comes back before it is written: it waits for both of its writes.
  both.play({8});
  both.play({7});
  const std::vector<KvBlock> again = both.tiers.begin_write(0);
  both.tiers.end_write(0, first);
  both.tiers.find(asked, where);
  EXPECT_EQ(where, (Where{1}));
  both.tiers.end_write(0, again);
  both.tiers.find(asked, where);
  EXPECT_EQ(where, (Where{0}));
}

/// Hits in the first tier, and in both.
std::pair<std::uint64_t, std::uint64_t> hits_in(TwoTiers& tiers, std::uint64_t seed) {
  RandomStream random(seed, "test", "blocks");
  std::pair<std::uint64_t, std::uint64_t> hits;
  for (int i = 0; i < 3000; ++i) {
    std::vector<KvBlock> blocks;
    const auto chat = static_cast<KvBlock>(random.below(random.below(40) + 1));
    for (auto length = static_cast<KvBlock>(random.below(6) + 1); blocks.size() < length;)
      blocks.push_back(chat * 6 + static_cast<KvBlock>(blocks.size()));
    for (const std::uint8_t where : tiers.play(blocks)) {
      hits.first += where == 0 ? 1 : 0;
      ++hits.second;
    }
  }
  return hits;
}

TEST(KvTiers, TwoOfLruAreOneOfLru) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    TwoTiers small(20, 0, KvInclusion::kInclusive);
    TwoTiers large(50, 0, KvInclusion::kInclusive);
    TwoTiers through(20, 50, KvInclusion::kInclusive);
    TwoTiers exclusive(20, 30, KvInclusion::kExclusive);
    const std::uint64_t least = hits_in(small, seed).second;
    const std::uint64_t most = hits_in(large, seed).second;
    EXPECT_LT(least, most);
    // Written through the second has all; exclusive the two are one stack, cut in two.
    EXPECT_EQ(hits_in(through, seed), std::pair(least, most));
    EXPECT_EQ(hits_in(exclusive, seed), std::pair(least, most));
  }
}

class Stubborn final : public KvPolicy {
 public:
  explicit Stubborn(std::vector<KvBlock> leaves) : leaves_(std::move(leaves)) {}
  void inserted(KvBlock /*block*/) override {}
  void used(KvBlock /*block*/) override {}
  void removed(KvBlock /*block*/) override {}
  void evict(std::vector<KvBlock>& leaving) override {
    leaving.insert(leaving.end(), leaves_.begin(), leaves_.end());
  }

 private:
  std::vector<KvBlock> leaves_;
};

TEST(KvTiers, APolicyThatLetsTheWrongBlockLeaveIsNamed) {
  for (const std::vector<KvBlock>& leaves : {std::vector<KvBlock>{}, std::vector<KvBlock>{77}}) {
    KvTier tier("dram", 1, std::make_unique<Stubborn>(leaves));
    std::vector<KvBlock> leaving;
    ASSERT_TRUE(tier.insert(0, leaving));
    try {
      tier.insert(1, leaving);
      ADD_FAILURE() << "it was taken";
    } catch (const SimulationError& error) {
      EXPECT_NE(std::string(error.what()).find("the policy of the KV tier 'dram'"), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace cxloom
