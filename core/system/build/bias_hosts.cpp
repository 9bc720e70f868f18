#include "system/build/bias_hosts.hpp"

#include <vector>

#include "coherence/common/coherence_home.hpp"
#include "component/component.hpp"
#include "device/requester/requester.hpp"
#include "system/model/offered_memory.hpp"
#include "system/model/system.hpp"

namespace cxloom {

namespace {

// A host of another virtual switch is none of them: it can hold no line of this memory.
std::vector<NodeId> caches_around(const System& system, NodeId home) {
  std::vector<NodeId> found;
  for (const auto& [component, requester] : system.roles().all<Requester>()) {
    const NodeId node = component->id();
    const bool caches = requester->cache() || requester->external_cache();
    if (caches && node != home && has_way(system, node, {"", home, {}})) found.push_back(node);
  }
  return found;
}

}  // namespace

void tell_bias_hosts(System& system) {
  for (const NodeId home : system.address_map().homes(Coherence::kHdmD)) {
    const std::vector<NodeId> caches = caches_around(system, home);
    if (caches.size() == 1) system.roles().of<CoherenceHome>(home)->expect_host(caches.front());
  }
}

}  // namespace cxloom
