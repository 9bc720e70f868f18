#include "system/serving/hit_study.hpp"

#include "base/error.hpp"
#include "base/schema.hpp"
#include "system/kinds/registry.hpp"
#include "system/serving/serving.hpp"
#include "workload/kv/policy/kv_policy.hpp"

namespace cxloom {

namespace {

std::uint64_t bytes_of_block(const HitStudyParams& params, const KvRequests& requests) {
  if (!params.model) return 0;
  return with_path("model", [&] { return read_model(*params.model); }).kv_bytes() * requests.block_tokens;
}

}  // namespace

void HitStudyParams::describe(Schema<HitStudyParams>& schema) {
  schema.doc("A KV cache without servers and time.");
  schema.field("model", &HitStudyParams::model).doc("The model, which says what a block takes.");
  schema.field("tiers", &HitStudyParams::tiers).required().doc("The tiers, the nearest first.");
  schema
      .choice("inclusion", &HitStudyParams::inclusion,
              {{"inclusive", KvInclusion::kInclusive}, {"exclusive", KvInclusion::kExclusive}})
      .doc("Whether a block stays in the tiers behind when a nearer one gets it, or moves.");
  schema
      .choice("writes", &HitStudyParams::writes, {{"through", KvWrites::kThrough}, {"back", KvWrites::kBack}})
      .doc("When tiers behind the first get a new block: at once, or when it leaves the tier before.");
  schema.field("seed", &HitStudyParams::seed).doc("What policies that draw depend on.");
}

HitStudy::HitStudy(const Registry& registry, const HitStudyParams& params, const KvRequests& requests)
    : future_(requests),
      made_(
          make_kv_tiers(registry, params.tiers, bytes_of_block(params, requests), future_, params.seed, {})),
      tiers_(made_, params.inclusion, params.writes),
      replay_(requests, tiers_) {}

Value HitStudy::result() const {
  const KvHits& hits = replay_.hits();
  const KvFound all = hits.all();
  Value tiers(Value::Map{});
  for (std::size_t tier = 0; tier < made_.size(); ++tier) {
    const KvTraffic& traffic = hits.traffic[tier];
    tiers.set(made_[tier]->name(), Value::Map{{"capacity_blocks", number(made_[tier]->capacity())},
                                              {"held_blocks", number(made_[tier]->size())},
                                              {"hit_blocks", number(hits.found[tier].blocks)},
                                              {"hit_tokens", number(hits.found[tier].tokens)},
                                              {"stored_blocks", number(traffic.stored)},
                                              {"fetched_blocks", number(traffic.fetched)},
                                              {"demoted_blocks", number(traffic.demoted)}});
  }
  const auto share = [](double part, double whole) { return whole > 0 ? Value(part / whole) : Value(); };
  return Value::Map{
      {"requests", number(hits.requests)},
      {"blocks", number(hits.blocks)},
      {"tokens", number(hits.tokens)},
      {"hit_blocks", number(all.blocks)},
      {"hit_tokens", number(all.tokens)},
      {"hit_share_of_blocks", share(static_cast<double>(all.blocks), static_cast<double>(hits.blocks))},
      {"hit_share", share(static_cast<double>(all.tokens), static_cast<double>(hits.tokens))},
      {"hit_share_of_requests", share(hits.share_sum, static_cast<double>(hits.requests))},
      {"tiers", tiers},
  };
}

}  // namespace cxloom
