#include "workload/kv/tier/kv_hits.hpp"

#include <cstddef>

namespace cxloom {

KvFound KvHits::all() const {
  KvFound sum;
  for (const KvFound& each : found) {
    sum.blocks += each.blocks;
    sum.tokens += each.tokens;
  }
  return sum;
}

KvReplay::KvReplay(const KvRequests& requests, KvTiers& tiers) : requests_(requests), tiers_(tiers) {
  hits_.found.resize(tiers.count());
  hits_.traffic.resize(tiers.count());
}

bool KvReplay::advance(std::uint64_t requests) {
  for (; requests > 0 && hits_.requests < requests_.size(); --requests) {
    const auto at = static_cast<std::size_t>(hits_.requests);
    const auto blocks = requests_.blocks_of(at);
    tiers_.find(blocks, where_);
    for (std::size_t i = 0; i < where_.size(); ++i) {
      KvFound& found = hits_.found[where_[i]];
      ++found.blocks;
      found.tokens += requests_.tokens_of(at, i + 1) - requests_.tokens_of(at, i);
    }
    const std::uint64_t input = requests_.requests[at].input;
    hits_.share_sum +=
        static_cast<double>(requests_.tokens_of(at, where_.size())) / static_cast<double>(input);
    hits_.blocks += blocks.size();
    hits_.tokens += input;
    tiers_.use(at, blocks, hits_.traffic);
    ++hits_.requests;
  }
  return hits_.requests == requests_.size();
}

}  // namespace cxloom
