// The scan of Linux that makes pages inaccessible, so that the next access to each shows by a fault: how much
// at a time, how often, and what it leaves alone. Kinds that follow Linux share it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/schema.hpp"
#include "workload/tiering/tiering_policy.hpp"

namespace cxloom {

struct HintScanParams {
  Bytes scan_size{256ULL << 20U};
  Time period_min{1'000'000'000'000};
  Time period_max{60'000'000'000'000};
  Time period_floor{100'000'000'000};
  bool scan_explicit = false;

  /// Declares these in the schema of a kind that derives from them.
  template <class Params>
  static void describe_in(Schema<Params>& schema) {
    schema.field("scan_size", &Params::scan_size)
        .min(Bytes{1})
        .doc("Bytes of pages that a scan makes inaccessible, in the order of first touch.")
        .source("Linux, kernel/sched/fair.c: sysctl_numa_balancing_scan_size, 256 MB");
    schema.field("period_min", &Params::period_min)
        .min(Time{1})
        .doc("Least time from one scan to the next of a program of `scan_size`; of one n times as large 1/n.")
        .source("Linux, kernel/sched/fair.c: sysctl_numa_balancing_scan_period_min, 1000 ms");
    schema.field("period_max", &Params::period_max)
        .min(Time{1})
        .doc(
            "Most time from one scan to the next, of a program of `scan_size`; of one n times as large "
            "1/n. It is no less than `period_min`.")
        .source("Linux, kernel/sched/fair.c: sysctl_numa_balancing_scan_period_max, 60000 ms");
    schema.field("period_floor", &Params::period_floor)
        .min(Time{1})
        .doc("No scan follows another sooner, however large the program is.")
        .source("Linux, kernel/sched/fair.c: MAX_SCAN_WINDOW of 2560 MB a second, 100 ms a scan");
    schema.field("scan_explicit", &Params::scan_explicit)
        .doc(
            "Also pages of areas with a policy of their own are scanned: those of `addresses` interleave, "
            "bind and preferred with nodes.")
        .source("Linux, mm/mempolicy.c, vma_policy_mof: not without MPOL_F_NUMA_BALANCING");
    schema.rule(
        "period_max is below period_min",
        [](const Params& params) { return params.period_min <= params.period_max; }, "period_max");
  }
};

class HintScan {
 public:
  enum class Of : std::uint8_t { kAllNodes, kFartherNodes };

  /// Throws InputError for a scan of more than there is, or nodes none of which is nearer.
  HintScan(const HintScanParams& params, const TieringContext& context, Of of);

  /// Scans if it is time to.
  void look(TieredPages& pages);
  /// When it is.
  Time next() const { return next_; }
  /// When the page was made inaccessible, the last time.
  Time stamp_of(std::uint64_t page) const { return page < stamps_.size() ? stamps_[page] : Time{}; }
  /// A page has faulted: of the nearest node, of the same thread as before.
  void faulted(bool local, bool own) {
    ++(local ? local_ : remote_);
    ++(own ? own_ : shared_);
  }
  /// One that was to be promoted was not.
  void promotion_failed() { failed_ = true; }

 private:
  void end_pass(const TieredPages& pages);
  Time shortest(const TieredPages& pages) const;
  Time longest(const TieredPages& pages) const;
  std::int64_t windows(const TieredPages& pages) const;

  HintScanParams params_;
  Bytes page_;
  std::span<const NumaNode> nodes_;
  std::size_t nearest_;
  Of of_;
  Time period_;  // zero: before the first scan
  Time next_;
  std::uint64_t at_ = 0;      // page
  std::vector<Time> stamps_;  // by page
  // Faults since the period was last set.
  std::uint64_t local_ = 0;
  std::uint64_t remote_ = 0;
  std::uint64_t own_ = 0;
  std::uint64_t shared_ = 0;
  bool failed_ = false;
};

}  // namespace cxloom
