// HeMem: samples are counted for each page, and all counts are halved when one has become large. A page with
// enough is hot and comes to the nearest node, where cold pages make room.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <unordered_set>
#include <vector>

#include "base/schema.hpp"
#include "workload/tiering/rate_limit.hpp"
#include "workload/tiering/tiering_policy.hpp"

namespace cxloom {

class HeMem final : public TieringPolicy {
 public:
  struct Params {
    std::uint64_t every = 5000;
    std::uint32_t hot_reads = 8;
    std::uint32_t hot_writes = 4;
    std::uint32_t cool = 18;
    Time period{10'000'000'000};
    Bytes keep_free{1ULL << 30U};
    Bandwidth rate_limit{Rate::per_time(10, 1000)};

    static void describe(Schema<Params>& schema);
  };
  HeMem(const Params& params, const TieringContext& context);

  TieringSources sources() const override {
    return {.sample_every = params_.every, .period = params_.period};
  }
  void sampled(const PageAccess& access, TieredPages& pages) override;
  void look(TieredPages& pages) override;

 private:
  struct Counts {
    std::uint32_t reads = 0;
    std::uint32_t writes = 0;
    std::uint32_t cooled = 0;  // coolings that it has had
    bool candidate = false;    // it is one already
  };

  /// A page's counts, halved as often as all were.
  Counts& counts_of(std::uint64_t page);
  bool is_hot(std::uint64_t page);
  bool is_farther(std::size_t node) const { return nodes_[node].distance > nodes_[order_.front()].distance; }
  /// The next cold page of the nearest node leaves it; whether there was one.
  bool demote(TieredPages& pages);

  Params params_;
  Bytes page_;
  std::uint64_t keep_free_;  // pages
  std::span<const NumaNode> nodes_;
  std::vector<std::size_t> order_;
  RateLimit limit_;
  std::vector<Counts> counts_;                 // by page
  std::vector<std::uint64_t> candidates_;      // pages that became hot, in that order
  std::unordered_set<std::uint64_t> leaving_;  // cold pages whose moves may still wait
  std::uint32_t coolings_ = 0;
  std::uint64_t hand_ = 0;  // page
  std::uint64_t seen_ = 0;  // pages that this look has passed for cold ones
};

}  // namespace cxloom
