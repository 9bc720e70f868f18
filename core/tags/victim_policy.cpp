#include "tags/victim_policy.hpp"

#include "base/kind_registry.hpp"
#include "base/schema.hpp"
#include "tags/victim_2q.hpp"
#include "tags/victim_clock.hpp"
#include "tags/victim_fifo.hpp"
#include "tags/victim_lfi.hpp"
#include "tags/victim_lfu.hpp"
#include "tags/victim_lifo.hpp"
#include "tags/victim_longest_block.hpp"
#include "tags/victim_lru.hpp"
#include "tags/victim_mru.hpp"
#include "tags/victim_random.hpp"
#include "tags/victim_srrip.hpp"
#include "tags/victim_tree_plru.hpp"

namespace cxloom {

void register_victims(VictimRegistry& registry) {
  registry.add<LruVictims>("lru");
  registry.add<FifoVictims>("fifo");
  registry.add<LifoVictims>("lifo");
  registry.add<MruVictims>("mru");
  registry.add<RandomVictims>("random");
  registry.add<TreePlruVictims>("tree-plru");
  registry.add<SrripVictims>("srrip");
  registry.add<ClockVictims>("clock");
  registry.add<TwoQueueVictims>("2q");
  registry.add<LfuVictims>("lfu");
  registry.add<LfiVictims>("lfi");
  registry.add<LongestBlockVictims>("longest-block");
}

}  // namespace cxloom
