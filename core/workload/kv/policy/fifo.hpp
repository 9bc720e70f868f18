// First in, first out.
#pragma once

#include "base/schema.hpp"
#include "workload/kv/policy/block_lists.hpp"
#include "workload/kv/policy/kv_policy.hpp"

namespace cxloom {

class FifoKvPolicy final : public KvPolicy {
 public:
  struct Params {
    static void describe(Schema<Params>& schema) {
      schema.doc(
          "First in, first out: the block that came in longest ago leaves, however often it was used.");
    }
  };
  FifoKvPolicy(const Params& /*params*/, const KvPolicyContext& /*context*/) {}

  void inserted(KvBlock block) override { order_.push_back(0, block); }
  void used(KvBlock /*block*/) override {}
  void removed(KvBlock block) override { order_.remove(block); }
  void evict(std::vector<KvBlock>& leaving) override { leaving.push_back(order_.pop_front(0)); }

 private:
  BlockLists order_{1};
};

}  // namespace cxloom
