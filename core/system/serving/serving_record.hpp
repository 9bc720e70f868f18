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
  Time held;     ///< from the end of its load until the processor is free of a step of decoding
  std::uint32_t output = 0;
  std::uint32_t server = 0;

  Time queue() const { return begun - arrival + held; }
  Time load() const { return first_token - begun - compute - held; }
};

/// What was asked of a tier.
struct TierRecord {
  KvFound found;               ///< of prefixes, nearest tier first
  std::uint64_t computed = 0;  ///< tokens of them that were computed all the same
  std::uint64_t loaded_bytes = 0;
  std::uint64_t written_bytes = 0;    ///< of writes that are done
  std::uint64_t unwritten_bytes = 0;  ///< of those that are not
  std::uint64_t late_bytes = 0;       ///< of those behind which another one of the same server waits
  Time stalled;  ///< processors that had nothing to do until a load came; the sum over the servers
  KvTraffic traffic;
};

/// A part of the time.
struct ServingRow {
  std::uint64_t requests = 0;        ///< that began in it
  std::uint64_t tokens = 0;          ///< of their prompts
  std::vector<std::uint64_t> found;  ///< tokens of their prefixes, by tier
  std::vector<double> loaded;        ///< bytes, by tier
  std::uint64_t first_tokens = 0;    ///< that were made in it
  double first_token_sum = 0;        ///< s
  std::uint64_t made = 0;            ///< tokens
};

struct ServerRecord {
  std::uint64_t requests = 0;
  Time prefill;  ///< computing prompts
  Time decode;
};

struct ServingRecord {
  static constexpr std::int64_t kMostRows = 100'000;

  ServingRecord(std::size_t request_count, std::size_t tier_count, std::size_t server_count, Time first,
                Time row_length)
      : served(request_count), tiers(tier_count), servers(server_count), start(first), every(row_length) {}

  /// The row of an instant, which ends with it at the earliest. Throws InputError at `every` for more rows
  /// than are kept.
  ServingRow& row_at(Time time);
  /// Bytes came from a tier, evenly from the beginning of a load to its end.
  void note_load(std::uint32_t tier, Time begun, Time ended, std::uint64_t bytes);

  std::vector<ServedRequest> served;  ///< by request
  std::vector<TierRecord> tiers;
  std::vector<ServerRecord> servers;
  Time start;  ///< the first arrival, from which rows count
  Time every;
  std::vector<ServingRow> rows;
  std::uint64_t tokens = 0;  ///< of all prompts that were looked up
  std::uint64_t blocks = 0;  ///< of them
  std::uint64_t done = 0;    ///< requests
  Time end;                  ///< the last of them
};

}  // namespace cxloom
