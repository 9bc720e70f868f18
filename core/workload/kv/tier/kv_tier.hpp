// One tier of a KV cache: the blocks that it has, and the policy that says which of them leave.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "workload/kv/policy/kv_policy.hpp"
#include "workload/kv/request/kv_block.hpp"

namespace cxloom {

class KvTier {
 public:
  /// `capacity` is in blocks; a tier of none has no policy and takes no block.
  KvTier(std::string name, std::uint64_t capacity, std::unique_ptr<KvPolicy> policy);

  const std::string& name() const { return name_; }
  std::uint64_t capacity() const { return capacity_; }
  std::uint64_t size() const { return size_; }
  bool has(KvBlock block) const { return block < here_.size() && here_[block]; }

  /// Whether a block is there and no write of it is under way.
  bool readable(KvBlock block) const {
    return has(block) && (block >= under_way_.size() || under_way_[block] == 0);
  }

  /// A request brings these blocks; as KvPolicy::begins.
  void begins(std::uint64_t request, std::span<const KvBlock> blocks);
  /// A request uses a block that is there.
  void use(KvBlock block) { policy_->used(block); }
  /// A block comes in that is not there; those that leave for it are appended. False: it does not come in.
  /// Throws SimulationError if the policy lets a block leave that is not there, or none.
  bool insert(KvBlock block, std::vector<KvBlock>& leaving);
  /// Takes out a block that is there.
  void remove(KvBlock block);
  /// A write of blocks begins, of which they are readable at its end. What comes in without one is readable
  /// at once. A block that left and came back meanwhile waits for both of its writes.
  void begin_write(std::span<const KvBlock> blocks);
  void end_write(std::span<const KvBlock> blocks);

 private:
  void make_room(std::vector<KvBlock>& leaving);

  std::string name_;
  std::uint64_t capacity_;
  std::unique_ptr<KvPolicy> policy_;
  std::uint64_t size_ = 0;
  std::vector<bool> here_;                // by block
  std::vector<std::uint32_t> under_way_;  // writes, by block
};

}  // namespace cxloom
