#include "workload/tiering/tiering_policy.hpp"

#include "workload/tiering/hot_pages.hpp"
#include "workload/tiering/promote_on_fault.hpp"

namespace cxloom {

void register_tiering(TieringRegistry& registry) {
  registry.add<PromoteOnFault>("promote-on-fault");
  registry.add<HotPages>("hot-pages");
}

}  // namespace cxloom
