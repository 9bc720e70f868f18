#include "system/serving/serving_params.hpp"

#include <algorithm>
#include <set>

#include "base/schema.hpp"

namespace cxloom {

namespace {

constexpr auto kNamesDiffer = [](const ServingParams& params) {
  std::set<std::string> names;
  for (const KvTierParams& tier : params.tiers) names.insert(tier.name);
  return names.size() == params.tiers.size();
};

bool moves_over_fabric(const ServingParams& params) {
  return std::ranges::any_of(params.tiers, [](const KvTierParams& tier) { return !tier.devices.empty(); });
}

constexpr auto kSharedAreBehind = [](const ServingParams& params) {
  return std::ranges::is_sorted(params.tiers, {}, &KvTierParams::shared);
};

}  // namespace

void KvRequestsParams::describe(Schema<KvRequestsParams>& schema) {
  schema.doc("Where the requests come from: a trace, or a generator.");
  schema.field("trace", &KvRequestsParams::trace).file().doc("A trace in JSON Lines.");
  schema
      .choice("format", &KvRequestsParams::format,
              {{"mooncake", KvTraceForm::kMooncake}, {"qwen-bailian", KvTraceForm::kBailian}})
      .doc("The form of the trace.");
  schema.field("block", &KvRequestsParams::block)
      .min(1)
      .max(1'000'000)
      .doc("Tokens of a block.")
      .default_text("512; with qwen-bailian 16")
      .source("Mooncake's traces; Qwen-Bailian's");
  schema.field("first", &KvRequestsParams::first).min(1).doc("No more than the first so many requests.");
  schema.field("speed", &KvRequestsParams::speed)
      .where([](double speed) { return speed > 0 && speed <= 1e6; }, "above 0, at most 1000000")
      .doc("Requests arrive in this part of their time: 2 is twice as fast.");
  schema.field("generate", &KvRequestsParams::generate).doc("Requests are drawn instead.");
  schema.rule(
      "requests are either of a trace or generated",
      [](const KvRequestsParams& params) { return params.trace.has_value() != params.generate.has_value(); },
      "trace");
  schema.effective(
      "format", [](const KvRequestsParams& params) { return params.trace.has_value(); },
      "unless there is a trace");
}

std::uint32_t KvRequestsParams::block_tokens() const {
  return block.value_or(block_tokens_of(trace ? format : KvTraceForm::kMooncake));
}

void KvTierParams::describe(Schema<KvTierParams>& schema) {
  schema.doc("A tier of the KV cache.");
  schema.field("name", &KvTierParams::name)
      .required()
      .where([](const std::string& name) { return !name.empty(); }, "a name")
      .doc("What it is called: hbm, dram, cxl, ...");
  schema.field("capacity", &KvTierParams::capacity).doc("Bytes of it; what is less than a block is lost.");
  schema.field("blocks", &KvTierParams::blocks)
      .max(std::uint64_t{1} << 31U)
      .doc("Blocks of it, in place of `capacity`.");
  schema.field("policy", &KvTierParams::policy)
      .category("kv_policies")
      .doc("Which block leaves when it is full.");
  schema.field("shared", &KvTierParams::shared)
      .doc("Whether all servers share it; otherwise each has one of that capacity.");
  schema.field("bandwidth", &KvTierParams::bandwidth)
      .doc("Bytes a second between it and one server, in each direction.");
  schema.field("together", &KvTierParams::together)
      .doc("Bytes a second between a shared tier and all servers, in each direction, which take turns.")
      .default_text("bandwidth");
  schema.field("latency", &KvTierParams::latency).doc("From the request of some bytes to the first of them.");
  schema.field("devices", &KvTierParams::devices)
      .doc(
          "Memories of the fabric that it is in. A shared tier is spread over all of them, page by page; of "
          "others the n-th is the tier of the n-th server, or a single one has those of all servers.");
  schema.rule(
      "a tier has a capacity, in bytes or in blocks",
      [](const KvTierParams& tier) { return tier.capacity || tier.blocks; }, "capacity");
  schema.rule(
      "both 'capacity' and 'blocks' are given, and each says how large the tier is",
      [](const KvTierParams& tier) { return !(tier.capacity && tier.blocks); }, "blocks");
  schema.effective(
      "together", [](const KvTierParams& tier) { return tier.shared; }, "unless the tier is shared");
  for (const char* key : {"bandwidth", "together", "latency"}) {
    schema.effective(
        key, [](const KvTierParams& tier) { return tier.devices.empty(); },
        "beside devices, where the fabric says how long a move takes");
  }
}

void KvServersParams::describe(Schema<KvServersParams>& schema) {
  schema.doc("The servers of the model, each a GPU or several that work as one.");
  schema.field("count", &KvServersParams::count).min(1).max(1024).doc("How many.");
  schema.field("flops", &KvServersParams::flops)
      .required()
      .doc("Operations that one does in a second, as they are reached and not as they are sold.");
  schema.field("memory_bandwidth", &KvServersParams::memory_bandwidth)
      .required()
      .doc("Bytes a second of its memory, from which each step of decoding reads weights and KV caches.");
  schema.field("batch", &KvServersParams::batch)
      .min(1)
      .max(65'536)
      .doc("Requests that it prefills and decodes at once, at most.")
      .source("own choice");
  schema
      .choice("assign", &KvServersParams::assign,
              {{"in-turn", KvAssignment::kInTurn},
               {"shortest", KvAssignment::kShortest},
               {"chat", KvAssignment::kChat}})
      .doc(
          "Which server a request goes to: to each in turn, to that with the fewest requests, or to that of "
          "its conversation.");
  schema.field("devices", &KvServersParams::devices)
      .doc(
          "Devices of the fabric with a DMA engine, such as a gpu: the n-th moves the blocks of the n-th "
          "server. There may be more of them than servers.");
}

void ServingParams::describe(Schema<ServingParams>& schema) {
  schema.doc("Servers of a language model whose KV cache lies in tiers.");
  schema.field("name", &ServingParams::name).doc("What the system is called.");
  schema.field("model", &ServingParams::model)
      .required()
      .doc("The model: a name of the catalogue such as llama-3-70b, or a map of its shape.");
  schema.field("requests", &ServingParams::requests).doc("The requests, unless a program gives them.");
  schema.field("servers", &ServingParams::servers).required().doc("The servers.");
  schema.field("tiers", &ServingParams::tiers)
      .required()
      .where([](const std::vector<KvTierParams>& tiers) { return tiers.size() <= 16; }, "at most 16 tiers")
      .doc("The tiers of the KV cache, the nearest first.");
  schema.field("fabric", &ServingParams::fabric)
      .doc(
          "A spec with devices and links, over which the blocks of tiers with `devices` move: its file, or "
          "the spec itself.");
  schema
      .choice("inclusion", &ServingParams::inclusion,
              {{"inclusive", KvInclusion::kInclusive}, {"exclusive", KvInclusion::kExclusive}})
      .doc("Whether a block stays in the tiers behind when a nearer one gets it, or moves.");
  schema
      .choice("writes", &ServingParams::writes, {{"through", KvWrites::kThrough}, {"back", KvWrites::kBack}})
      .doc("When tiers behind the first get a new block: at once, or when it leaves the tier before.");
  schema.choice("loads", &ServingParams::loads, {{"first", KvLoads::kFirst}, {"layers", KvLoads::kLayers}})
      .doc(
          "A cached prefix is loaded before the rest of the prompt is computed, or layer by layer beside "
          "it.");
  schema
      .choice("recompute", &ServingParams::recompute,
              {{"never", KvRecompute::kNever}, {"cost", KvRecompute::kCost}})
      .doc(
          "Whether as much of a cached prefix is computed instead of loaded as gives the first token "
          "sooner.");
  schema.field("every", &ServingParams::every)
      .min(Time{1})
      .doc("The time that a row of the series is of, from the first arrival on; 100000 rows at most.");
  schema.field("seed", &ServingParams::seed).doc("What requests that are drawn depend on.");
  schema.rule("two tiers have one name", kNamesDiffer, "tiers");
  schema.rule("a tier that servers share is in front of one that each has", kSharedAreBehind, "tiers");
  schema.rule(
      "a tier has devices, and there is no fabric that they are of",
      [](const ServingParams& params) { return !params.fabric.is_null() || !moves_over_fabric(params); },
      "tiers");
  schema.rule(
      "a fabric over which nothing moves: no tier has devices",
      [](const ServingParams& params) { return params.fabric.is_null() || moves_over_fabric(params); },
      "fabric");
  schema.rule(
      "servers have devices, and there is no fabric that they are of",
      [](const ServingParams& params) { return !params.fabric.is_null() || params.servers.devices.empty(); },
      "servers");
  schema.effective(
      "writes", [](const ServingParams& params) { return params.inclusion == KvInclusion::kInclusive; },
      "with inclusion: exclusive, where a block is written as it leaves the tier before");
}

}  // namespace cxloom
