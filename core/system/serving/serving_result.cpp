#include "system/serving/serving_result.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace cxloom {

namespace {

using Named = std::pair<std::string, double>;

double seconds(Time time) { return static_cast<double>(time.ps()) * 1e-12; }

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
    all.push_back(seconds(each.first_token - each.arrival));
    queue += seconds(each.queue());
    load += seconds(each.load());
    compute += seconds(each.compute);
  }
  const auto count = static_cast<double>(all.size());
  Value found = distribution(std::move(all));
  found.set("parts",
            Value::Map{{"queue", queue / count}, {"load", load / count}, {"compute", compute / count}});
  return found;
}

/// Of each request that makes several tokens: the mean time from one to the next.
Value token_times(const ServingRecord& record) {
  std::vector<double> all;
  for (const ServedRequest& each : record.served) {
    if (each.output > 1) all.push_back(seconds(each.done - each.first_token) / (each.output - 1));
  }
  return distribution(std::move(all));
}

Value tier_values(const ServingOutcome& outcome, std::uint32_t tier, double length) {
  const TierRecord& record = outcome.record.tiers[tier];
  const std::uint64_t block_bytes = outcome.model.kv_bytes() * outcome.requests.block_tokens;
  const std::uint64_t written = record.traffic.written() * block_bytes;
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
                    {"written_bytes", number(written)},
                    {"read_busy", ratio(seconds(outcome.transport.busy(tier, false)), length)},
                    {"write_busy", ratio(seconds(outcome.transport.busy(tier, true)), length)}};
}

Value row_values(const ServingOutcome& outcome, std::size_t at) {
  const ServingRow& row = outcome.record.rows[at];
  const auto until = static_cast<std::int64_t>(at) + 1;
  Value hits(Value::Map{});
  Value loads(Value::Map{});
  for (std::size_t tier = 0; tier < outcome.params.tiers.size(); ++tier) {
    const std::string& name = outcome.params.tiers[tier].name;
    hits.set(name, ratio(static_cast<double>(row.found[tier]), static_cast<double>(row.tokens)));
    loads.set(name, static_cast<double>(row.loaded[tier]) * 1e-9 / seconds(outcome.record.every));
  }
  return Value::Map{{"until_s", seconds(outcome.record.every * until)},
                    {"requests", number(row.requests)},
                    {"hit_shares", hits},
                    {"loaded_gb_per_s", loads},
                    {"ttft_s", ratio(row.first_token_sum, static_cast<double>(row.first_tokens))},
                    {"tokens_per_s", static_cast<double>(row.made) / seconds(outcome.record.every)}};
}

/// What is busiest: the processors, or the way from or to a tier.
Value limit(const ServingOutcome& outcome, double length) {
  double prefill = 0;
  double decode = 0;
  for (const ServerRecord& server : outcome.record.servers) {
    prefill += seconds(server.prefill);
    decode += seconds(server.decode);
  }
  const auto servers = static_cast<double>(outcome.record.servers.size());
  std::vector<Named> busy{{"compute", (prefill + decode) / servers / length}};
  for (std::uint32_t tier = 0; tier < outcome.params.tiers.size(); ++tier) {
    const std::string& name = outcome.params.tiers[tier].name;
    busy.emplace_back("reads of " + name, seconds(outcome.transport.busy(tier, false)) / length);
    busy.emplace_back("writes to " + name, seconds(outcome.transport.busy(tier, true)) / length);
  }
  const Named most = *std::ranges::max_element(busy, {}, &Named::second);
  // What waits for arrivals half of the time limits nothing.
  const bool limits = most.second >= 0.5;
  Value shares(Value::Map{});
  for (const auto& [name, share] : busy) shares.set(name, share);
  return Value::Map{
      {"resource", limits ? most.first : std::string("arrivals")}, {"busiest", most.first}, {"busy", shares}};
}

}  // namespace

Value serving_result(const ServingOutcome& outcome) {
  const ServingRecord& record = outcome.record;
  const Time start = outcome.requests.requests.front().arrival;
  const double length = seconds(record.end - start);
  std::uint64_t made = 0;
  for (const ServedRequest& each : record.served) made += each.output;
  KvFound found;
  Value tiers(Value::Map{});
  for (std::uint32_t tier = 0; tier < outcome.params.tiers.size(); ++tier) {
    found.blocks += record.tiers[tier].found.blocks;
    found.tokens += record.tiers[tier].found.tokens;
    tiers.set(outcome.params.tiers[tier].name, tier_values(outcome, tier, length));
  }
  Value::List servers;
  for (const ServerRecord& server : record.servers)
    servers.emplace_back(Value::Map{{"requests", number(server.requests)},
                                    {"prefill_share", ratio(seconds(server.prefill), length)},
                                    {"decode_share", ratio(seconds(server.decode), length)}});
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
      {"ttft_s", first_tokens(record)},
      {"time_per_token_s", token_times(record)},
      {"tiers", tiers},
      {"servers", servers},
      {"limit", limit(outcome, length)},
      {"series", rows},
  };
}

}  // namespace cxloom
