#include "memory/dram/device/presets.hpp"

#include <vector>

namespace cxloom {

std::span<const DramDevice> dram_presets() {
  static const std::vector<DramDevice> kAll = [] {
    std::vector<DramDevice> all;
    for (const auto& family :
         {ddr4_presets(), ddr5_presets(), lpddr5_presets(), hbm_presets(), gddr_presets(), ddr3_presets(),
          mrdimm_presets(), lpddr6_presets(), test_presets()}) {
      all.insert(all.end(), family.begin(), family.end());
    }
    return all;
  }();
  return kAll;
}

}  // namespace cxloom
