#include "workload/kv/policy/far.hpp"

#include <cstddef>

#include "base/error.hpp"
#include "workload/kv/request/kv_future.hpp"

namespace cxloom {

namespace {

const KvFuture& future_of(const KvPolicyContext& context) {
  if (!context.future)
    throw InputError({"a policy that knows the future has none here", {}, "a trace or a generator", {}});
  return *context.future;
}

}  // namespace

void FarKvPolicy::Params::describe(Schema<Params>& schema) {
  schema.doc(
      "Farthest next use, a bound that knows the future: the block that is used latest leaves, or does not "
      "come in. Where servers have tiers of their own it is no bound: it knows the uses by all of them.");
  schema.choice("equals", &Params::equals, {{"last", Equals::kLast}, {"first", Equals::kFirst}})
      .doc("Which of the blocks that are next used at once leaves: the one that came to be last, or first.")
      .source("own choice: blocks of the end of a prompt are of no use without those before them");
}

FarKvPolicy::FarKvPolicy(const Params& params, const KvPolicyContext& context)
    : first_leaves_(params.equals == Equals::kFirst), future_(future_of(context)) {}

void FarKvPolicy::begins(std::uint64_t request, std::span<const KvBlock> blocks) {
  for (const KvBlock block : blocks) {
    if (block >= next_.size()) {
      next_.resize(std::size_t{block} + 1);
      here_.resize(std::size_t{block} + 1);
    }
    next_[block] = future_.next(block, request);
    if (here_[block]) uses_.push(use_of(block));
  }
}

bool FarKvPolicy::admits(KvBlock block) { return use_of(block) < farthest(); }

void FarKvPolicy::inserted(KvBlock block) {
  here_[block] = true;
  uses_.push(use_of(block));
}

void FarKvPolicy::removed(KvBlock block) { here_[block] = false; }

void FarKvPolicy::evict(std::vector<KvBlock>& leaving) {
  const KvBlock block = farthest().block;
  here_[block] = false;
  leaving.push_back(block);
}

FarKvPolicy::Use FarKvPolicy::use_of(KvBlock block) const {
  const std::int64_t number = block;
  return {next_[block], first_leaves_ ? -number : number, block};
}

const FarKvPolicy::Use& FarKvPolicy::farthest() {
  while (!here_[uses_.top().block] || next_[uses_.top().block] != uses_.top().request) uses_.pop();
  return uses_.top();
}

}  // namespace cxloom
