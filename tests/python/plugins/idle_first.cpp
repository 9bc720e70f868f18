// A refresh policy outside the tree: of the sets that are left in a round the one is refreshed for which the
// fewest banks have work. The order is that of the out-of-order per-bank refreshes of Chang et al., HPCA
// 2014.
#include <algorithm>
#include <cxloom/dram.hpp>

namespace {

using namespace cxloom;

class IdleFirst final : public DramRefreshPolicy {
 public:
  struct Params {
    bool chooses = true;

    static void describe(Schema<Params>& schema) {
      schema.doc("The set of banks with the least work is refreshed first.");
      schema.field("chooses", &Params::chooses).doc("Whether it does; otherwise the sets go in turn.");
    }
  };
  IdleFirst(const Params& params, const DramRefreshContext& context)
      : chooses_(params.chooses),
        queue_(context.queue),
        interval_(context.device.timing.tREFI_SB),
        sets_(context.device.refresh_sets(DramRefreshScope::kSet)),
        banks_(context.device.organisation.banks_in_rank()) {}

  DramRefreshScope scope() const override { return DramRefreshScope::kSet; }
  Clock interval() const override { return interval_; }
  std::uint32_t next_set(std::uint32_t rank, std::span<const std::uint32_t> left) override {
    if (!chooses_) return left.front();
    return *std::ranges::min_element(left, {}, [&](std::uint32_t set) { return busy(rank, set); });
  }

 private:
  std::uint32_t busy(std::uint32_t rank, std::uint32_t set) const {
    std::uint32_t count = 0;
    for (std::uint32_t bank = rank * banks_ + set; bank < (rank + 1) * banks_; bank += sets_) {
      for (const bool write : {false, true}) count += queue_.oldest(bank, write) != DramQueue::kNone ? 1 : 0;
    }
    return count;
  }

  bool chooses_;
  const DramQueue& queue_;
  Clock interval_;
  std::uint32_t sets_;
  std::uint32_t banks_;
};

}  // namespace

CXLOOM_PLUGIN(registry) { registry.media.refresh_policies.add<IdleFirst>("idle-first"); }
