// What a person declares of servers, tiers and requests.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/parameters.hpp"
#include "base/units.hpp"
#include "system/serving/flop_rate.hpp"
#include "workload/kv/model/prefill_time.hpp"
#include "workload/kv/request/kv_generator.hpp"
#include "workload/kv/request/kv_trace.hpp"
#include "workload/kv/tier/kv_tiers.hpp"

namespace cxloom {

/// Where the requests come from: a trace, or a generator.
struct KvRequestsParams {
  std::optional<std::string> trace;
  KvTraceForm format = KvTraceForm::kMooncake;
  std::optional<std::uint32_t> block;
  std::optional<std::uint64_t> first;
  double speed = 1;
  std::optional<KvGeneratorParams> generate;

  static void describe(Schema<KvRequestsParams>& schema);

  /// Tokens of a block.
  std::uint32_t block_tokens() const;
};

struct KvTierParams {
  std::string name;
  std::optional<Bytes> capacity;
  std::optional<std::uint64_t> blocks;
  KindSpec policy{"lru", Value(Value::Map{})};
  bool shared = false;
  Bandwidth bandwidth;
  std::optional<Bandwidth> together;
  Time latency;
  std::vector<std::string> devices;  ///< memories of the fabric; none: it is moved by the numbers above

  static void describe(Schema<KvTierParams>& schema);
};

/// Which server a request goes to.
enum class KvAssignment : std::uint8_t { kInTurn, kShortest, kChat };

struct KvServersParams {
  std::uint32_t count = 1;
  FlopRate flops;
  Bandwidth memory_bandwidth;
  std::uint32_t batch = 64;
  KvAssignment assign = KvAssignment::kInTurn;
  std::vector<std::string> devices;  ///< whose DMA engines move the blocks, by server

  static void describe(Schema<KvServersParams>& schema);
};

enum class KvRecompute : std::uint8_t { kNever, kCost };

struct ServingParams {
  std::string name;
  Value model;
  KvRequestsParams requests;
  KvServersParams servers;
  std::vector<KvTierParams> tiers;
  Value fabric;  ///< a spec, resolved; nothing: all tiers are moved by their numbers
  KvInclusion inclusion = KvInclusion::kInclusive;
  KvWrites writes = KvWrites::kThrough;
  KvLoads loads = KvLoads::kLayers;
  KvRecompute recompute = KvRecompute::kCost;
  Time every{60'000'000'000'000};
  std::uint64_t seed = 1;

  static void describe(Schema<ServingParams>& schema);
};

}  // namespace cxloom
