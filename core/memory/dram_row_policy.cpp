#include "memory/dram_row_policy.hpp"

#include "base/kind_registry.hpp"
#include "base/schema.hpp"
#include "memory/dram_row_adaptive.hpp"
#include "memory/dram_row_closed.hpp"
#include "memory/dram_row_open.hpp"
#include "memory/dram_row_timeout.hpp"

namespace cxloom {

void register_row_policies(DramRowPolicyRegistry& registry) {
  registry.add<DramRowOpen>("open");
  registry.add<DramRowClosed>("closed");
  registry.add<DramRowAdaptive>("adaptive");
  registry.add<DramRowTimeout>("timeout");
}

}  // namespace cxloom
