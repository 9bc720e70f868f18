#include "workload/kv/tier/kv_tier.hpp"

#include <cstddef>
#include <utility>

#include "base/error.hpp"

namespace cxloom {

KvTier::KvTier(std::string name, std::uint64_t capacity, std::unique_ptr<KvPolicy> policy)
    : name_(std::move(name)), capacity_(capacity), policy_(std::move(policy)) {
  ensure(capacity_ == 0 || policy_ != nullptr, "a tier of a KV cache without a policy");
}

void KvTier::begins(std::uint64_t request, std::span<const KvBlock> blocks) {
  if (capacity_ > 0) policy_->begins(request, blocks);
}

bool KvTier::insert(KvBlock block, std::vector<KvBlock>& leaving) {
  if (capacity_ == 0) return false;
  if (size_ >= capacity_) {
    if (!policy_->admits(block)) return false;
    make_room(leaving);
  }
  if (block >= here_.size()) here_.resize(std::size_t{block} + 1);
  here_[block] = true;
  ++size_;
  policy_->inserted(block);
  return true;
}

void KvTier::remove(KvBlock block) {
  here_[block] = false;
  --size_;
  policy_->removed(block);
}

void KvTier::begin_write(std::span<const KvBlock> blocks) {
  for (const KvBlock block : blocks) {
    if (block >= under_way_.size()) under_way_.resize(std::size_t{block} + 1);
    ++under_way_[block];
  }
}

void KvTier::end_write(std::span<const KvBlock> blocks) {
  for (const KvBlock block : blocks) --under_way_[block];
}

void KvTier::make_room(std::vector<KvBlock>& leaving) {
  while (size_ >= capacity_) {
    const std::size_t before = leaving.size();
    policy_->evict(leaving);
    if (leaving.size() <= before)
      throw SimulationError("the policy of the KV tier '" + name_ + "' lets none of its " +
                            counted(size_, "block") + " leave, and it is full");
    for (std::size_t i = before; i < leaving.size(); ++i) {
      if (!has(leaving[i]))
        throw SimulationError("the policy of the KV tier '" + name_ + "' lets block " +
                              std::to_string(leaving[i]) + " leave, which is not there");
      here_[leaving[i]] = false;
      --size_;
    }
  }
}

}  // namespace cxloom
