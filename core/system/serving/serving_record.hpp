// What is kept of a serving run: how each request went, what tiers were asked for, and rows over time.
#pragma once

#include <cstdint>
#include <vector>

#include "base/units.hpp"
#include "workload/kv/tier/kv_hits.hpp"

namespace cxloom {

/// The instants of a request. Its time to the first token is queue, load and compute, and nothing else.
struct ServedRequest {
  Time arrival;
  Time begun;        ///< its prefix was looked up
  Time first_token;  ///< also where it makes none
  Time done;
  Time compute;  ///< of the prefill
  std::uint32_t output = 0;
  std::uint32_t server = 0;

  Time queue() const { return begun - arrival; }
  Time load() const { return first_token - begun - compute; }
};

/// What was asked of a tier.
struct TierRecord {
  KvFound found;               ///< of prefixes, nearest tier first
  std::uint64_t computed = 0;  ///< tokens of them that were computed all the same
  std::uint64_t loaded_bytes = 0;
  KvTraffic traffic;
};

/// A part of the time.
struct ServingRow {
  std::uint64_t requests = 0;         ///< that began in it
  std::uint64_t tokens = 0;           ///< of their prompts
  std::vector<std::uint64_t> found;   ///< tokens of their prefixes, by tier
  std::vector<std::uint64_t> loaded;  ///< bytes, by tier
  std::uint64_t first_tokens = 0;     ///< that were made in it
  double first_token_sum = 0;         ///< s
  std::uint64_t made = 0;             ///< tokens
};

struct ServerRecord {
  std::uint64_t requests = 0;
  Time prefill;  ///< computing prompts
  Time decode;
};

struct ServingRecord {
  ServingRecord(std::size_t request_count, std::size_t tier_count, std::size_t server_count, Time row_length)
      : served(request_count), tiers(tier_count), servers(server_count), every(row_length) {}

  ServingRow& row_at(Time time) {
    const auto at = static_cast<std::size_t>(time.ps() / every.ps());
    while (rows.size() <= at) {
      rows.emplace_back();
      rows.back().found.resize(tiers.size());
      rows.back().loaded.resize(tiers.size());
    }
    return rows[at];
  }

  std::vector<ServedRequest> served;  ///< by request
  std::vector<TierRecord> tiers;
  std::vector<ServerRecord> servers;
  Time every;
  std::vector<ServingRow> rows;
  std::uint64_t tokens = 0;  ///< of all prompts that were looked up
  std::uint64_t blocks = 0;  ///< of them
  std::uint64_t done = 0;    ///< requests
  Time end;                  ///< the last of them
};

}  // namespace cxloom
