// Which blocks leave a full tier of a KV cache: the interface of an eviction policy. A kind is a file of its
// own and a line in `register_kv_policies`, or in the `CXLOOM_PLUGIN` of a plug-in.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/kind_registry.hpp"
#include "workload/kv/request/kv_block.hpp"

namespace cxloom {

class KvFuture;
class KvPolicy;
struct KvPolicyContext;
using KvPolicyRegistry = KindRegistry<KvPolicy, KvPolicyContext>;

/// What a policy finds around itself when it is made.
struct KvPolicyContext {
  std::uint64_t capacity = 0;        ///< blocks of its tier, at least one
  const KvFuture* future = nullptr;  ///< what comes; no cache knows it, and it outlives the policy
  std::uint64_t seed = 1;            ///< for random streams
};

/// Hears of what happens to the blocks of one tier. The tier keeps which blocks it has; a policy keeps their
/// order.
class KvPolicy {
 public:
  virtual ~KvPolicy() = default;

  /// A request brings these blocks, in the order of its prompt. Each of them is used or inserted behind this,
  /// the last of the prompt first.
  virtual void begins(std::uint64_t /*request*/, std::span<const KvBlock> /*blocks*/) {}
  /// Whether a block comes into the full tier, for which others leave.
  virtual bool admits(KvBlock /*block*/) { return true; }
  /// A block comes in that was not there. There is room for it.
  virtual void inserted(KvBlock block) = 0;
  /// A request uses a block that is there.
  virtual void used(KvBlock block) = 0;
  /// A block leaves though the policy did not say so: it goes to another tier.
  virtual void removed(KvBlock block) = 0;
  /// The tier is full. Appends the blocks that leave it, one at least. It forgets them: `removed` is not
  /// called for them.
  virtual void evict(std::vector<KvBlock>& leaving) = 0;
};

/// Adds the policies that come with cxloom.
void register_kv_policies(KvPolicyRegistry& registry);

}  // namespace cxloom
