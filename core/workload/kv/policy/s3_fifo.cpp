#include "workload/kv/policy/s3_fifo.hpp"

#include <cstddef>

namespace cxloom {

void S3FifoKvPolicy::Params::describe(Schema<Params>& schema) {
  schema.doc(
      "S3-FIFO: a small queue for new blocks, a main queue for those that were used again, and a ghost queue "
      "that remembers which left the small one.");
  schema.field("small", &Params::small)
      .fraction()
      .doc("Share of the tier that is the small queue, rounded down, one block at least.")
      .source("Yang et al., SOSP 2023: 10 %");
  schema.field("ghost", &Params::ghost)
      .min(0.0)
      .max(100.0)
      .doc("Blocks that the ghost queue remembers / blocks of the main queue.")
      .source("Yang et al., SOSP 2023: as many");
}

S3FifoKvPolicy::S3FifoKvPolicy(const Params& params, const KvPolicyContext& context)
    : small_(std::clamp<std::uint64_t>(
          static_cast<std::uint64_t>(params.small * static_cast<double>(context.capacity)), 1,
          context.capacity)),
      main_(context.capacity - small_),
      ghosts_(static_cast<std::uint64_t>(params.ghost * static_cast<double>(main_))) {}

void S3FifoKvPolicy::inserted(KvBlock block) {
  if (block >= uses_.size()) uses_.resize(std::size_t{block} + 1);
  uses_[block] = 0;
  const bool was_here = queues_.list_of(block) == kGhost;
  if (was_here) queues_.remove(block);
  queues_.push_back(was_here ? kMain : kSmall, block);
}

void S3FifoKvPolicy::used(KvBlock block) {
  uses_[block] = std::min<std::uint8_t>(kMostUses, static_cast<std::uint8_t>(uses_[block] + 1));
}

void S3FifoKvPolicy::removed(KvBlock block) { queues_.remove(block); }

void S3FifoKvPolicy::evict(std::vector<KvBlock>& leaving) {
  const std::size_t before = leaving.size();
  // The small queue may be empty behind its turn, and nothing have left it.
  while (leaving.size() == before) {
    if (queues_.size(kSmall) > 0 && (queues_.size(kSmall) >= small_ || queues_.size(kMain) == 0))
      evict_small(leaving);
    else evict_main(leaving);
  }
}

void S3FifoKvPolicy::evict_small(std::vector<KvBlock>& leaving) {
  while (queues_.size(kSmall) > 0) {
    const KvBlock block = queues_.pop_front(kSmall);
    if (uses_[block] <= 1) {
      remember(block);
      leaving.push_back(block);
      return;
    }
    uses_[block] = 0;
    queues_.push_back(kMain, block);
    if (queues_.size(kMain) > main_) evict_main(leaving);
  }
}

void S3FifoKvPolicy::evict_main(std::vector<KvBlock>& leaving) {
  while (queues_.size(kMain) > 0) {
    const KvBlock block = queues_.pop_front(kMain);
    if (uses_[block] == 0) {
      leaving.push_back(block);
      return;
    }
    --uses_[block];
    queues_.push_back(kMain, block);
  }
}

void S3FifoKvPolicy::remember(KvBlock block) {
  queues_.push_back(kGhost, block);
  while (queues_.size(kGhost) > ghosts_) queues_.remove(queues_.front(kGhost));
}

}  // namespace cxloom
