// Tiering-0.8: NUMA balancing of Linux in mode 2. Pages of farther nodes are scanned and stamped; one that is
// accessed soon behind its stamp comes to the nearest node, as fast as a limit allows. A node that is full
// has its cold pages demoted.
#pragma once

#include <cstdint>
#include <vector>

#include "base/schema.hpp"
#include "workload/tiering/demotion.hpp"
#include "workload/tiering/hint_scan.hpp"
#include "workload/tiering/rate_limit.hpp"
#include "workload/tiering/tiering_policy.hpp"

namespace cxloom {

class MemoryTiering final : public TieringPolicy {
 public:
  struct Params : HintScanParams {
    Time threshold{1'000'000'000'000};
    Time threshold_step{125'000'000'000};
    Time threshold_max{2'000'000'000'000};
    Time adapt{60'000'000'000'000};
    Bandwidth rate_limit{Rate::per_time(1ULL << 36U, 1'000'000'000'000)};
    Time rate_window{1'000'000'000'000};
    Bytes enough_free{1ULL << 30U};
    double enough_share = 0.0625;
    double high_watermark = 0.002;
    double promo_watermark = 0.003;
    Time demotion_pause{100'000'000'000};

    static void describe(Schema<Params>& schema);
  };
  MemoryTiering(const Params& params, const TieringContext& context);

  TieringSources sources() const override {
    return {.hint_faults = true, .accessed_bits = true, .period = params_.period_min};
  }
  void look(TieredPages& pages) override;
  void faulted(const PageAccess& access, TieredPages& pages) override;

 private:
  bool is_wanted(std::uint64_t page, TieredPages& pages);
  void adapt(Time now);

  Params params_;
  HintScan scan_;
  Demotion demotion_;
  RateLimit limit_;
  std::span<const NumaNode> nodes_;
  std::size_t nearest_;
  Bytes page_;
  std::uint64_t kept_;    // frames below which nothing comes
  std::uint64_t enough_;  // frames above which all do
  Time threshold_;
  Time adapted_;                        // when it was last set
  std::uint64_t candidates_ = 0;        // pages since then
  std::vector<std::uint32_t> threads_;  // of the last fault, by page, from 1 on
};

}  // namespace cxloom
