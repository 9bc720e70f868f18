#include "system/serving/serving_server.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "system/serving/serving_time.hpp"

namespace cxloom {

ServingServer::ServingServer(const ServingContext& context, std::uint32_t number, KvTiers tiers)
    : context_(context), number_(number), tiers_(std::move(tiers)), writes_(tiers_.count()) {}

void ServingServer::loaded(Time now, std::uint32_t tier) {
  Prefill& prefill = *prefill_;
  context_.record.note_load(tier, prefill.part_asked, now, part_bytes(tier));
  if (--prefill.pending > 0) return;
  // The processor waited for the tier that was last.
  const Time idle = std::max(prefill.computed, idle_from_);
  if (work_ == ServerWork::kNone && now > idle) context_.record.tiers[tier].stalled += now - idle;
  compute_part(now);
}

void ServingServer::written(std::uint32_t tier) {
  const std::vector<KvBlock>& blocks = writes_[tier].front();
  const std::uint64_t bytes = blocks.size() * context_.model.kv_bytes() * context_.requests.block_tokens;
  TierRecord& record = context_.record.tiers[tier];
  record.written_bytes += bytes;
  record.unwritten_bytes -= bytes;
  if (writes_[tier].size() > 1) record.late_bytes -= bytes;
  tiers_.end_write(tier, blocks);
  writes_[tier].pop_front();
}

void ServingServer::end(Time now) {
  if (busy_until_ > now) return;
  const ServerWork ended = std::exchange(work_, ServerWork::kNone);
  busy_until_ = Time::max();
  idle_from_ = now;
  if (ended == ServerWork::kPrefill) end_prefill(now);
  else if (ended == ServerWork::kDecode) end_step(now);
}

void ServingServer::begin(Time now) {
  const bool by_layers = context_.params.loads == KvLoads::kLayers;
  const bool has_room = !prefill_ && !queue_.empty() && batch_.size() < context_.params.servers.batch;
  if (has_room && (!by_layers || work_ == ServerWork::kNone)) begin_prefill(now);
  if (work_ != ServerWork::kNone) return;
  if (prefill_ && prefill_->asked == prefill_->layers && prefill_->pending == 0) {
    work_ = ServerWork::kPrefill;
    context_.record.served[prefill_->request].held = by_layers ? Time{} : now - prefill_->loaded;
    busy_until_ = by_layers ? prefill_->computed : now + prefill_->compute;
  } else if (!batch_.empty() && !(prefill_ && by_layers)) {
    begin_step(now);
  }
}

void ServingServer::begin_prefill(Time now) {
  Prefill prefill;
  prefill.request = queue_.front();
  queue_.pop_front();
  choose_prefix(now, prefill);
  note_found(now, prefill);
  const bool loads = prefill.cached > 0;
  prefill.layers = loads && context_.params.loads == KvLoads::kLayers ? context_.model.layers : 1;
  prefill.computed = now;
  prefill_ = std::move(prefill);
  ask(now);
}

void ServingServer::choose_prefix(Time now, Prefill& prefill) {
  const std::size_t request = prefill.request;
  const KvRequests& requests = context_.requests;
  const std::uint64_t input = requests.requests[request].input;
  tiers_.find(requests.blocks_of(request), where_);
  std::vector<std::uint64_t> tokens(tiers_.count());
  std::uint64_t cached = 0;
  prefill.tokens = tokens;
  const bool chooses = context_.params.recompute == KvRecompute::kCost;
  double least = chooses ? seconds_with(now, request, tokens, 0) : 0;
  for (std::size_t i = 0; i < where_.size(); ++i) {
    // The last token of a prompt is computed in any case: the first token that is made comes from it.
    const std::uint64_t until = std::min(requests.tokens_of(request, i + 1), input - 1);
    tokens[where_[i]] += until - cached;
    cached = until;
    const double seconds = chooses ? seconds_with(now, request, tokens, cached) : 0;
    if (seconds > least) continue;
    least = seconds;
    prefill.tokens = tokens;
    prefill.cached = cached;
  }
  prefill.compute = computing(input, prefill.cached);
}

double ServingServer::seconds_with(Time now, std::size_t request, std::span<const std::uint64_t> tokens,
                                   std::uint64_t cached) const {
  const bool by_layers = context_.params.loads == KvLoads::kLayers;
  const std::uint64_t layers = by_layers ? context_.model.layers : 1;
  Time loading;
  for (std::uint32_t tier = 0; tier < tokens.size(); ++tier) {
    if (tokens[tier] == 0) continue;
    const std::uint64_t bytes = tokens[tier] * context_.model.kv_bytes() / layers;
    loading = std::max(loading,
                       context_.transport.estimate(now, {.server = number_, .tier = tier, .bytes = bytes}));
  }
  const double part = static_cast<double>(loading.ps()) * 1e-12;
  const double compute =
      static_cast<double>(computing(context_.requests.requests[request].input, cached).ps()) * 1e-12 /
      static_cast<double>(layers);
  return part + static_cast<double>(layers - 1) * std::max(part, compute) + compute;
}

void ServingServer::note_found(Time now, const Prefill& prefill) {
  ServingRecord& record = context_.record;
  const KvRequests& requests = context_.requests;
  const std::size_t request = prefill.request;
  const KvRequest& asked = requests.requests[request];
  ServingRow& row = record.row_at(now);
  for (std::size_t i = 0; i < where_.size(); ++i) {
    const std::uint64_t tokens = requests.tokens_of(request, i + 1) - requests.tokens_of(request, i);
    ++record.tiers[where_[i]].found.blocks;
    record.tiers[where_[i]].found.tokens += tokens;
    record.tiers[where_[i]].computed += tokens;
    row.found[where_[i]] += tokens;
  }
  for (std::size_t tier = 0; tier < prefill.tokens.size(); ++tier) {
    record.tiers[tier].computed -= prefill.tokens[tier];
  }
  ++row.requests;
  row.tokens += asked.input;
  record.tokens += asked.input;
  record.blocks += asked.blocks;
  ServedRequest& served = record.served[request];
  served.begun = now;
  served.compute = prefill.compute;
  served.server = number_;
  ++record.servers[number_].requests;
  record.servers[number_].prefill += prefill.compute;
}

void ServingServer::ask(Time now) {
  Prefill& prefill = *prefill_;
  ++prefill.asked;
  prefill.part_asked = now;
  for (std::uint32_t tier = 0; tier < prefill.tokens.size(); ++tier) {
    if (prefill.tokens[tier] == 0) continue;
    const KvMove move{.server = number_,
                      .tier = tier,
                      .bytes = part_bytes(tier),
                      .ticket = MoveTicket{number_, tier, false}.number(tiers_.count())};
    ++prefill.pending;
    context_.transport.begin(now, move);
  }
  if (prefill.pending == 0) compute_part(now);
}

void ServingServer::compute_part(Time now) {
  Prefill& prefill = *prefill_;
  const auto layers = static_cast<std::int64_t>(prefill.layers);
  const auto done = static_cast<std::int64_t>(prefill.asked);
  // The parts together take what the whole does, to the picosecond.
  const Time part{prefill.compute.ps() * done / layers - prefill.compute.ps() * (done - 1) / layers};
  prefill.loaded = now;
  prefill.computed = std::max(prefill.computed, now) + part;
  if (prefill.asked < prefill.layers) ask(now);
}

void ServingServer::end_prefill(Time now) {
  const Prefill prefill = std::move(*prefill_);
  prefill_.reset();
  traffic_.assign(tiers_.count(), {});
  tiers_.use(prefill.request, context_.requests.blocks_of(prefill.request), traffic_);
  write_blocks(now);
  const KvRequest& request = context_.requests.requests[prefill.request];
  ServedRequest& served = context_.record.served[prefill.request];
  served.arrival = request.arrival;
  served.output = request.output;
  served.first_token = now;
  ServingRow& row = context_.record.row_at(now);
  ++row.first_tokens;
  row.first_token_sum += (now - request.arrival).ns() * 1e-9;
  if (request.output > 0) ++row.made;
  const Decoding decoding{prefill.request, request.input, request.output > 1 ? request.output - 1 : 0};
  if (decoding.left == 0) end_request(now, decoding);
  else batch_.push_back(decoding);
}

void ServingServer::write_blocks(Time now) {
  const std::uint64_t block_bytes = context_.model.kv_bytes() * context_.requests.block_tokens;
  for (std::uint32_t tier = 0; tier < traffic_.size(); ++tier) {
    TierRecord& record = context_.record.tiers[tier];
    record.traffic.stored += traffic_[tier].stored;
    record.traffic.fetched += traffic_[tier].fetched;
    record.traffic.demoted += traffic_[tier].demoted;
    if (traffic_[tier].written() == 0) continue;
    if (!writes_[tier].empty()) record.late_bytes += writes_[tier].back().size() * block_bytes;
    writes_[tier].push_back(tiers_.begin_write(tier));
    const std::uint64_t bytes = writes_[tier].back().size() * block_bytes;
    record.unwritten_bytes += bytes;
    context_.transport.begin(now, {.server = number_,
                                   .tier = tier,
                                   .bytes = bytes,
                                   .write = true,
                                   .ticket = MoveTicket{number_, tier, true}.number(tiers_.count())});
  }
}

void ServingServer::begin_step(Time now) {
  const ModelShape& model = context_.model;
  double flops = 0;
  double tokens = 0;
  for (const Decoding& each : batch_) {
    flops += model.token_flops(static_cast<double>(each.context));
    tokens += static_cast<double>(each.context);
  }
  // A mixture of experts reads those that its tokens use, all of them at most.
  const double used = model.active_count.value_or(model.parameters()) * static_cast<double>(batch_.size());
  const double weights = std::min(model.parameters(), used) * static_cast<double>(model.value_bytes);
  const double bytes = weights + tokens * static_cast<double>(model.kv_bytes());
  const Rate& memory = context_.params.servers.memory_bandwidth.rate;
  const double reading = memory.unlimited() ? 0 : bytes / memory.per_second();
  const double working = flops / context_.params.servers.flops.per_second;
  const char* key = working > reading ? "servers.flops" : "servers.memory_bandwidth";
  const Time length = std::max(
      Time{1}, checked_time(std::max(working, reading), "a step of decoding that takes too long", key));
  context_.record.servers[number_].decode += length;
  work_ = ServerWork::kDecode;
  busy_until_ = now + length;
}

void ServingServer::end_step(Time now) {
  context_.record.row_at(now).made += batch_.size();
  std::erase_if(batch_, [&](Decoding& each) {
    ++each.context;
    if (--each.left > 0) return false;
    end_request(now, each);
    return true;
  });
}

void ServingServer::end_request(Time now, const Decoding& request) {
  context_.record.served[request.request].done = now;
  ++context_.record.done;
  context_.record.end = std::max(context_.record.end, now);
}

Time ServingServer::computing(std::uint64_t tokens, std::uint64_t cached) const {
  const double seconds =
      compute_seconds(context_.model, static_cast<double>(tokens), static_cast<double>(cached),
                      context_.params.servers.flops.per_second);
  return checked_time(seconds, "a prefill that takes too long", "servers.flops");
}

std::uint64_t ServingServer::part_bytes(std::uint32_t tier) const {
  return prefill_->tokens[tier] * context_.model.kv_bytes() / prefill_->layers;
}

}  // namespace cxloom
