#include "memory/dram_row_policy.hpp"

#include "memory/dram_row_adaptive.hpp"
#include "memory/dram_row_closed.hpp"
#include "memory/dram_row_open.hpp"
#include "memory/dram_row_timeout.hpp"

namespace cxloom {

std::unique_ptr<DramRowPolicy> make_row_policy(const DramConfig& config, std::uint32_t banks) {
  switch (config.row_policy) {
    case RowPolicy::kClosed: return std::make_unique<DramRowClosed>();
    case RowPolicy::kAdaptive: return std::make_unique<DramRowAdaptive>(banks);
    case RowPolicy::kTimeout: return std::make_unique<DramRowTimeout>(config.row_timeout, banks);
    default: return std::make_unique<DramRowOpen>();
  }
}

}  // namespace cxloom
