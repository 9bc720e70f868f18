#include "system/serving/serving_result.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "system/serving/serving_time.hpp"

namespace cxloom {

namespace {

using Named = std::pair<std::string, double>;

/// A share of nothing is none.
Value ratio(double part, double whole) { return whole > 0 ? Value(part / whole) : Value(); }

/// Mean, least, percentiles (of the nearest rank) and most.
Value distribution(std::vector<double> values) {
  if (values.empty()) return {};
  std::ranges::sort(values);
  const auto rank = [&](double share) {
    const auto at = static_cast<std::size_t>(std::ceil(share * static_cast<double>(values.size())));
    return values[std::max<std::size_t>(at, 1) - 1];
  };
  double sum = 0;
  for (const double value : values) sum += value;
  return Value::Map{{"mean", sum / static_cast<double>(values.size())},
                    {"min", values.front()},
                    {"p50", rank(0.5)},
                    {"p90", rank(0.9)},
                    {"p99", rank(0.99)},
                    {"max", values.back()}};
}

Value first_tokens(const ServingRecord& record) {
  std::vector<double> all;
  double queue = 0;
  double load = 0;
  double compute = 0;
  for (const ServedRequest& each : record.served) {
    all.push_back(seconds_of(each.first_token - each.arrival));
    queue += seconds_of(each.queue());
    load += seconds_of(each.load());
    compute += seconds_of(each.compute);
  }
  const auto count = static_cast<double>(all.size());
  Value found = distribution(std::move(all));
  found.set("parts",
            Value::Map{{"queue", queue / count}, {"load", load / count}, {"compute", compute / count}});
  return found;
}

/// The mean time from one token to the next of each request that makes several.
Value token_times(const ServingRecord& record) {
  std::vector<double> all;
  for (const ServedRequest& each : record.served) {
    if (each.output > 1) all.push_back(seconds_of(each.done - each.first_token) / (each.output - 1));
  }
  return distribution(std::move(all));
}

Value tier_values(const ServingOutcome& outcome, std::uint32_t tier, double length) {
  const TierRecord& record = outcome.record.tiers[tier];
  const bool shared = outcome.params.tiers[tier].shared;
  const KvWayUse reads = outcome.transport.used(tier, false);
  const KvWayUse writes = outcome.transport.used(tier, true);
  const auto loaded = static_cast<double>(record.loaded_bytes);
  return Value::Map{{"capacity_blocks", number(outcome.capacity[tier])},
                    {"held_blocks", number(outcome.held[tier])},
                    {"hit_blocks", number(record.found.blocks)},
                    {"hit_tokens", number(record.found.tokens)},
                    {"hit_share", ratio(static_cast<double>(record.found.tokens),
                                        static_cast<double>(outcome.record.tokens))},
                    {"computed_tokens", number(record.computed)},
                    {"loaded_bytes", number(record.loaded_bytes)},
                    {"loaded_gb_per_s", ratio(loaded * 1e-9, length)},
                    {"stored_blocks", number(record.traffic.stored)},
                    {"fetched_blocks", number(record.traffic.fetched)},
                    {"demoted_blocks", number(record.traffic.demoted)},
                    {"written_bytes", number(record.written_bytes)},
                    {"unwritten_bytes", number(record.unwritten_bytes)},
                    {"read_busy", ratio(shared ? reads.together : reads.own, length)},
                    {"write_busy", ratio(shared ? writes.together : writes.own, length)}};
}

Value row_values(const ServingOutcome& outcome, std::size_t at) {
  const ServingRow& row = outcome.record.rows[at];
  const Time begin = outcome.record.every * static_cast<std::int64_t>(at);
  const Time until = std::min(begin + outcome.record.every, outcome.record.end - outcome.record.start);
  const double length = seconds_of(until - begin);
  Value hits(Value::Map{});
  Value loads(Value::Map{});
  for (std::size_t tier = 0; tier < outcome.params.tiers.size(); ++tier) {
    const std::string& name = outcome.params.tiers[tier].name;
    hits.set(name, ratio(static_cast<double>(row.found[tier]), static_cast<double>(row.tokens)));
    loads.set(name, ratio(row.loaded[tier] * 1e-9, length));
  }
  return Value::Map{{"until_s", seconds_of(until)},
                    {"requests", number(row.requests)},
                    {"hit_shares", hits},
                    {"loaded_gb_per_s", loads},
                    {"ttft_s", ratio(row.first_token_sum, static_cast<double>(row.first_tokens))},
                    {"tokens_per_s", ratio(static_cast<double>(row.made), length)}};
}

/// Whether requests wait for their turn longer than for anything that is done for them.
bool mostly_queues(const ServingRecord& record) {
  Time queue;
  Time load;
  Time compute;
  for (const ServedRequest& each : record.served) {
    queue += each.queue();
    load += each.load();
    compute += each.compute;
  }
  return queue > std::max(load, compute);
}

/// What requests wait for: the processors, the ways from tiers, and tiers for which processors stand still.
Value limit(const ServingOutcome& outcome, double length) {
  Value shares(Value::Map{});
  Named most{"compute", 0};
  const auto share_of = [&](const std::string& name, double time, bool waited_for) {
    const double share = length > 0 ? time / length : 0;
    shares.set(name, share);
    if (waited_for && share > most.second) most = {name, share};
    return share;
  };
  double working = 0;
  for (const ServerRecord& server : outcome.record.servers)
    working += seconds_of(server.prefill) + seconds_of(server.decode);
  const auto servers = static_cast<double>(outcome.record.servers.size());
  double occupied = share_of("compute", working / servers, true);
  for (std::uint32_t tier = 0; tier < outcome.params.tiers.size(); ++tier) {
    const KvTierParams& params = outcome.params.tiers[tier];
    const KvWayUse reads = outcome.transport.used(tier, false);
    const KvWayUse writes = outcome.transport.used(tier, true);
    // The parts of a fabric are named by themselves.
    const bool one_way = params.shared && params.devices.empty();
    if (one_way) share_of("reads of " + params.name, reads.together, true);
    share_of((params.shared ? "each server's reads of " : "reads of ") + params.name, reads.own, true);
    // Where the way is as full as that, it is the way that is waited for, and otherwise the latency.
    const double stalled = seconds_of(outcome.record.tiers[tier].stalled) / servers;
    const bool is_latency = stalled > 1.05 * std::max(reads.own, reads.together);
    occupied += share_of("waiting for " + params.name, stalled, is_latency);
    share_of("writes to " + params.name, params.shared ? writes.together : writes.own, false);
  }
  for (const KvPartUse& part : outcome.transport.parts()) share_of(part.name, part.busy, true);
  // Servers that have nothing to do half of the time, and let nobody wait, limit nothing.
  const bool limits = std::max(most.second, occupied) >= 0.5 || mostly_queues(outcome.record);
  return Value::Map{{"resource", limits ? most.first : std::string("arrivals")},
                    {"busiest", most.first},
                    {"occupied", occupied},
                    {"busy", shares}};
}

/// What a reader of the numbers has to know, in sentences.
Value notes(const ServingOutcome& outcome) {
  Value::List found;
  for (std::uint32_t tier = 0; tier < outcome.params.tiers.size(); ++tier) {
    const KvTierParams& params = outcome.params.tiers[tier];
    if (params.capacity && outcome.capacity[tier] == 0)
      found.emplace_back(
          "The capacity of " + params.name + ", " + to_text(*params.capacity) + ", is less than a block of " +
          counted(outcome.requests.block_tokens, "token") + ", which takes " +
          counted(outcome.model.kv_bytes() * outcome.requests.block_tokens, "byte") + ": it holds nothing.");
    const TierRecord& record = outcome.record.tiers[tier];
    // That of the last request of a server is under way in any run.
    const std::uint64_t all = record.written_bytes + record.unwritten_bytes;
    if (record.late_bytes <= all / 10) continue;
    found.emplace_back("Writes to " + params.name + " fall behind: of " + counted(all, "byte") + ", " +
                       std::to_string(record.unwritten_bytes) +
                       " are not written at the end, and nobody found them.");
  }
  if (std::string note = outcome.transport.note(); !note.empty()) found.emplace_back(std::move(note));
  return found;
}

}  // namespace

Value serving_result(const ServingOutcome& outcome) {
  const ServingRecord& record = outcome.record;
  const double length = seconds_of(record.end - record.start);
  std::uint64_t made = 0;
  for (const ServedRequest& each : record.served) made += each.output;
  KvFound found;
  std::uint64_t loaded = 0;
  Value tiers(Value::Map{});
  for (std::uint32_t tier = 0; tier < outcome.params.tiers.size(); ++tier) {
    found.blocks += record.tiers[tier].found.blocks;
    found.tokens += record.tiers[tier].found.tokens;
    loaded += record.tiers[tier].found.tokens - record.tiers[tier].computed;
    tiers.set(outcome.params.tiers[tier].name, tier_values(outcome, tier, length));
  }
  Value::List servers;
  for (const ServerRecord& server : record.servers)
    servers.emplace_back(Value::Map{{"requests", number(server.requests)},
                                    {"prefill_share", ratio(seconds_of(server.prefill), length)},
                                    {"decode_share", ratio(seconds_of(server.decode), length)}});
  Value::List rows;
  for (std::size_t at = 0; at < record.rows.size(); ++at) rows.push_back(row_values(outcome, at));
  return Value::Map{
      {"requests", number(outcome.requests.size())},
      {"time_s", length},
      {"requests_per_s", ratio(static_cast<double>(outcome.requests.size()), length)},
      {"prompt_tokens_per_s", ratio(static_cast<double>(record.tokens), length)},
      {"tokens_per_s", ratio(static_cast<double>(made), length)},
      {"prompt_tokens", number(record.tokens)},
      {"prompt_blocks", number(record.blocks)},
      {"hit_blocks", number(found.blocks)},
      {"hit_tokens", number(found.tokens)},
      {"hit_share", ratio(static_cast<double>(found.tokens), static_cast<double>(record.tokens))},
      {"loaded_share", ratio(static_cast<double>(loaded), static_cast<double>(record.tokens))},
      {"ttft_s", first_tokens(record)},
      {"time_per_token_s", token_times(record)},
      {"tiers", tiers},
      {"servers", servers},
      {"limit", limit(outcome, length)},
      {"fabric", outcome.transport.details(record.end - record.start)},
      {"notes", notes(outcome)},
      {"series", rows},
  };
}

}  // namespace cxloom
