// A policy of KV caches outside the tree: the block that was used last leaves, as suits a cycle of blocks
// that is larger than the tier; with `keep`, blocks that were used so often never do.
#include <cxloom/kv.hpp>

#include <algorithm>
#include <map>
#include <vector>

#include "base/schema.hpp"

namespace {

using namespace cxloom;

class MostRecentKv final : public KvPolicy {
 public:
  struct Params {
    std::uint64_t keep = 0;

    static void describe(Schema<Params>& schema) {
      schema.doc("The block that was used last leaves.");
      schema.field("keep", &Params::keep)
          .doc("Uses behind which a block leaves only if all were used so often; 0: none does.");
    }
  };
  MostRecentKv(const Params& params, const KvPolicyContext& /*context*/) : params_(params) {}

  void inserted(KvBlock block) override {
    uses_[block] = 0;
    order_.push_back(block);
  }
  void used(KvBlock block) override {
    ++uses_[block];
    order_.erase(std::find(order_.begin(), order_.end(), block));
    order_.push_back(block);
  }
  void removed(KvBlock block) override { order_.erase(std::find(order_.begin(), order_.end(), block)); }
  void evict(std::vector<KvBlock>& leaving) override {
    auto last = order_.end() - 1;
    if (params_.keep > 0) {
      const auto free = std::find_if(order_.rbegin(), order_.rend(),
                                     [&](KvBlock block) { return uses_[block] < params_.keep; });
      if (free != order_.rend()) last = free.base() - 1;
    }
    leaving.push_back(*last);
    order_.erase(last);
  }

 private:
  Params params_;
  std::map<KvBlock, std::uint64_t> uses_;
  std::vector<KvBlock> order_;
};

}  // namespace

CXLOOM_PLUGIN(registry) { registry.kv_policies.add<MostRecentKv>("most-recent"); }
