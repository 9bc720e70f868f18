// Tiers of a KV cache one behind the other: where the prefix of a request is, and how blocks go between them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "workload/kv/tier/kv_tier.hpp"

namespace cxloom {

/// Whether a block may be in several tiers at once.
enum class KvInclusion : std::uint8_t {
  kInclusive,  ///< a block that is used comes to the first tier, and stays in those behind
  kExclusive,  ///< it is in one tier: it moves to the first when it is used, and back as it leaves
};

/// When an inclusive tier behind the first gets a new block.
enum class KvWrites : std::uint8_t {
  kThrough,  ///< as soon as it is made
  kBack,     ///< when it leaves the tier before
};

/// Blocks that went into a tier.
struct KvTraffic {
  std::uint64_t stored = 0;   ///< new ones
  std::uint64_t fetched = 0;  ///< from a tier behind, for a request that used them
  std::uint64_t demoted = 0;  ///< as they left the tier before

  std::uint64_t written() const { return stored + fetched + demoted; }
};

/// The way of one server through its tiers, the nearest first. The last of them may be those of other servers
/// too.
class KvTiers {
 public:
  KvTiers(std::vector<std::shared_ptr<KvTier>> tiers, KvInclusion inclusion, KvWrites writes);

  std::size_t count() const { return tiers_.size(); }
  const KvTier& tier(std::size_t index) const { return *tiers_[index]; }

  /// The longest prefix of these blocks that can be read. For each of its blocks the nearest tier of which.
  void find(std::span<const KvBlock> blocks, std::vector<std::uint8_t>& where) const;
  /// A request has all of these blocks now, the last of the prompt is used first. Adds what went into each
  /// tier to `traffic`, which is by tier.
  void use(std::uint64_t request, std::span<const KvBlock> blocks, std::vector<KvTraffic>& traffic);
  /// What went into a tier in the last `use`, which is written from now on; nobody reads it before
  /// `end_write`.
  std::vector<KvBlock> begin_write(std::size_t tier);
  void end_write(std::size_t tier, std::span<const KvBlock> blocks) { tiers_[tier]->end_write(blocks); }

 private:
  std::size_t tier_of(KvBlock block) const;
  bool insert(std::size_t tier, KvBlock block);
  void use_inclusive(KvBlock block, std::vector<KvTraffic>& traffic);
  void use_exclusive(KvBlock block, std::vector<KvTraffic>& traffic);
  void demote(std::size_t from, std::vector<KvTraffic>& traffic);

  std::vector<std::shared_ptr<KvTier>> tiers_;
  KvInclusion inclusion_;
  KvWrites writes_;
  std::vector<std::vector<KvBlock>> leaving_;  // by tier, of the step at hand
  std::vector<std::vector<KvBlock>> entered_;  // by tier, in the last `use`
};

}  // namespace cxloom
