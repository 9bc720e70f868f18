#include "memory/dram_refresh_policy.hpp"

#include "memory/dram_refresh_all_bank.hpp"
#include "memory/dram_refresh_same_bank.hpp"

namespace cxloom {

std::unique_ptr<DramRefreshPolicy> make_refresh_policy(const DramRefreshContext& context) {
  switch (context.config.refresh) {
    case RefreshMode::kOff: return nullptr;
    case RefreshMode::kSameBank: return std::make_unique<DramRefreshSameBank>(context);
    default: return std::make_unique<DramRefreshAllBank>(context);
  }
}

}  // namespace cxloom
