// Least recently used.
#pragma once

#include "base/schema.hpp"
#include "workload/kv/policy/block_lists.hpp"
#include "workload/kv/policy/kv_policy.hpp"

namespace cxloom {

/// A request uses the last block of its prompt first, so that of its blocks the longest prefix leaves first,
/// as in vLLM.
class LruKvPolicy final : public KvPolicy {
 public:
  struct Params {
    static void describe(Schema<Params>& schema) {
      schema.doc(
          "Least recently used: the block whose last use is longest ago leaves; of the blocks of one request "
          "the last of the prompt.");
    }
  };
  LruKvPolicy(const Params& /*params*/, const KvPolicyContext& /*context*/) {}

  void inserted(KvBlock block) override { order_.push_back(0, block); }
  void used(KvBlock block) override {
    order_.remove(block);
    order_.push_back(0, block);
  }
  void removed(KvBlock block) override { order_.remove(block); }
  void evict(std::vector<KvBlock>& leaving) override { leaving.push_back(order_.pop_front(0)); }

 private:
  BlockLists order_{1};
};

}  // namespace cxloom
