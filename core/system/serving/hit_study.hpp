// What the requests of a trace find in a KV cache of some tiers, without servers and time.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/value.hpp"
#include "system/serving/serving_params.hpp"
#include "workload/kv/request/kv_future.hpp"
#include "workload/kv/tier/kv_hits.hpp"

namespace cxloom {

struct Registry;

struct HitStudyParams {
  std::optional<Value> model;
  std::vector<KvTierParams> tiers;
  KvInclusion inclusion = KvInclusion::kInclusive;
  KvWrites writes = KvWrites::kThrough;
  std::uint64_t seed = 1;

  static void describe(Schema<HitStudyParams>& schema);
};

class HitStudy {
 public:
  /// Throws InputError, with the path of the key. The requests outlive it.
  HitStudy(const Registry& registry, const HitStudyParams& params, const KvRequests& requests);

  /// Goes on with so many requests at most; true when there are no more.
  bool advance(std::uint64_t requests) { return replay_.advance(requests); }
  /// Blocks and tokens of the prompts, what was found of them in all tiers and in each, and what went into
  /// each.
  Value result() const;

 private:
  KvFuture future_;
  std::vector<std::shared_ptr<KvTier>> made_;
  KvTiers tiers_;
  KvReplay replay_;
};

}  // namespace cxloom
