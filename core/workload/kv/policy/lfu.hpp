// Least frequently used.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/schema.hpp"
#include "workload/kv/policy/block_lists.hpp"
#include "workload/kv/policy/kv_policy.hpp"

namespace cxloom {

/// A list for each number of uses, in the order of the last one.
class LfuKvPolicy final : public KvPolicy {
 public:
  struct Params {
    static void describe(Schema<Params>& schema) {
      schema.doc(
          "Least frequently used: the block with the fewest uses since it came in leaves; of equals the one "
          "whose last use is longest ago.");
    }
  };
  LfuKvPolicy(const Params& /*params*/, const KvPolicyContext& /*context*/) {}

  void inserted(KvBlock block) override {
    order_.push_back(0, block);
    fewest_ = 0;
  }
  void used(KvBlock block) override {
    const std::uint32_t uses = order_.list_of(block);
    order_.remove(block);
    order_.push_back(uses + 1, block);
  }
  void removed(KvBlock block) override { order_.remove(block); }
  void evict(std::vector<KvBlock>& leaving) override {
    while (order_.size(fewest_) == 0) ++fewest_;
    leaving.push_back(order_.pop_front(fewest_));
  }

 private:
  BlockLists order_{1};       // by uses since the block came in, less the one that brought it
  std::uint32_t fewest_ = 0;  // no block has fewer
};

}  // namespace cxloom
