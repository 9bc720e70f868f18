// Three queues in which blocks only move forward (S3-FIFO; Yang et al., SOSP 2023).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/schema.hpp"
#include "workload/kv/policy/block_lists.hpp"
#include "workload/kv/policy/kv_policy.hpp"

namespace cxloom {

/// A new block enters a small queue. If it was used twice there it goes on to the main queue, otherwise it
/// leaves, and a ghost remembers it; one that comes back while its ghost is there enters the main queue. In
/// the main queue a use buys another round, three rounds at most.
class S3FifoKvPolicy final : public KvPolicy {
 public:
  struct Params {
    double small = 0.1;
    double ghost = 1.0;

    static void describe(Schema<Params>& schema);
  };
  S3FifoKvPolicy(const Params& params, const KvPolicyContext& context);

  void inserted(KvBlock block) override;
  void used(KvBlock block) override;
  void removed(KvBlock block) override;
  void evict(std::vector<KvBlock>& leaving) override;

 private:
  enum Queue : std::uint32_t { kSmall, kMain, kGhost };
  static constexpr std::uint8_t kMostUses = 3;

  void evict_small(std::vector<KvBlock>& leaving);
  void evict_main(std::vector<KvBlock>& leaving);
  void remember(KvBlock block);

  std::uint64_t small_;
  std::uint64_t main_;
  std::uint64_t ghosts_;
  BlockLists queues_{3};
  std::vector<std::uint8_t> uses_;  // by block, of those that are there
};

}  // namespace cxloom
