#include "memory/dram/row_policy/row_policy.hpp"

#include "base/kind_registry.hpp"
#include "base/schema.hpp"
#include "memory/dram/row_policy/adaptive.hpp"
#include "memory/dram/row_policy/closed.hpp"
#include "memory/dram/row_policy/open.hpp"
#include "memory/dram/row_policy/timeout.hpp"

namespace cxloom {

void register_row_policies(DramRowPolicyRegistry& registry) {
  registry.add<DramRowOpen>("open");
  registry.add<DramRowClosed>("closed");
  registry.add<DramRowAdaptive>("adaptive");
  registry.add<DramRowTimeout>("timeout");
}

}  // namespace cxloom
