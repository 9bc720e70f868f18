// What requests find in the tiers of a KV cache, one after the other and without time.
#pragma once

#include <cstdint>
#include <vector>

#include "workload/kv/request/kv_requests.hpp"
#include "workload/kv/tier/kv_tiers.hpp"

namespace cxloom {

/// Blocks and tokens of the longest prefixes that were there.
struct KvFound {
  std::uint64_t blocks = 0;
  std::uint64_t tokens = 0;
};

struct KvHits {
  std::uint64_t requests = 0;
  std::uint64_t blocks = 0;        ///< of all prompts
  std::uint64_t tokens = 0;        ///< of all prompts
  std::vector<KvFound> found;      ///< by tier
  std::vector<KvTraffic> traffic;  ///< by tier
  double share_sum = 0;            ///< over the requests: tokens found / tokens of the prompt

  /// In all tiers.
  KvFound all() const;
};

/// The requests one after the other: each finds a prefix, and has all of its blocks before the next comes.
class KvReplay {
 public:
  /// Both outlive it.
  KvReplay(const KvRequests& requests, KvTiers& tiers);

  /// Goes on with so many requests at most; true when there are no more.
  bool advance(std::uint64_t requests);
  const KvHits& hits() const { return hits_; }

 private:
  const KvRequests& requests_;
  KvTiers& tiers_;
  KvHits hits_;
  std::vector<std::uint8_t> where_;
};

}  // namespace cxloom
