// Farthest next use (Belady, 1966): a bound for policies that do not know the future.
#pragma once

#include <compare>
#include <cstdint>
#include <queue>
#include <vector>

#include "base/schema.hpp"
#include "workload/kv/policy/kv_policy.hpp"

namespace cxloom {

/// The block that is used latest leaves, or does not come in. It is no strict bound of prefix hits: a block
/// counts only if all before it are there, and this kind takes each by itself.
class FarKvPolicy final : public KvPolicy {
 public:
  enum class Equals : std::uint8_t { kLast, kFirst };
  struct Params {
    Equals equals = Equals::kLast;

    static void describe(Schema<Params>& schema);
  };
  /// Throws InputError where the future is not known.
  FarKvPolicy(const Params& params, const KvPolicyContext& context);

  void begins(std::uint64_t request, std::span<const KvBlock> blocks) override;
  bool admits(KvBlock block) override;
  void inserted(KvBlock block) override;
  void used(KvBlock /*block*/) override {}
  void removed(KvBlock block) override;
  void evict(std::vector<KvBlock>& leaving) override;

 private:
  /// The next use of a block; the greatest of all leaves.
  struct Use {
    std::uint64_t request;
    std::int64_t turn;  // of those of one request
    KvBlock block;

    auto operator<=>(const Use&) const = default;
  };

  Use use_of(KvBlock block) const;
  const Use& farthest();

  bool first_leaves_;
  const KvFuture& future_;
  std::vector<std::uint64_t> next_;  // by block
  std::vector<bool> here_;           // by block
  std::priority_queue<Use> uses_;    // and some of before, which do not count
};

}  // namespace cxloom
