#include "system/serving/serving.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "base/schema.hpp"
#include "system/kinds/registry.hpp"
#include "system/serving/declared_transport.hpp"
#include "system/serving/fabric_transport.hpp"
#include "system/serving/serving_result.hpp"
#include "system/serving/serving_time.hpp"
#include "workload/kv/policy/kv_policy.hpp"

namespace cxloom {

namespace {

/// An arrival in a run that is so many times as fast.
Time slowed(Time arrival, double speed) {
  const double ps = static_cast<double>(arrival.ps()) / speed;
  if (ps < static_cast<double>(kLongestServing.ps())) return Time{static_cast<std::int64_t>(ps)};
  throw InputError({"requests that arrive too late",
                    Value(speed).described(),
                    "a speed at which the last arrives within " + to_text(kLongestServing),
                    {}},
                   "requests.speed");
}

/// The requests that are played, at the times at which they are.
KvRequests played(const KvRequestsParams& params, KvRequests requests) {
  if (params.first && *params.first < requests.size()) {
    requests.requests.resize(static_cast<std::size_t>(*params.first));
    const KvRequest& last = requests.requests.back();
    requests.blocks.resize(static_cast<std::size_t>(last.begin) + last.blocks);
  }
  for (KvRequest& each : requests.requests) each.arrival = slowed(each.arrival, params.speed);
  return requests;
}

std::unique_ptr<KvTransport> make_transport(const Registry& registry, const ServingParams& params,
                                            std::uint64_t block_bytes) {
  if (params.fabric.is_null()) return std::make_unique<DeclaredTransport>(params.tiers, params.servers.count);
  // More than any memory has, which refuses it.
  constexpr std::uint64_t kMost = std::uint64_t{1} << 62U;
  std::vector<std::uint64_t> bytes;
  for (const KvTierParams& tier : params.tiers) {
    const bool too_many = tier.blocks && *tier.blocks > kMost / block_bytes;
    bytes.push_back(tier.capacity ? std::min(tier.capacity->count(), kMost)
                    : too_many    ? kMost
                                  : *tier.blocks * block_bytes);
  }
  return std::make_unique<FabricTransport>(registry, params, bytes);
}

}  // namespace

std::vector<std::shared_ptr<KvTier>> make_kv_tiers(const Registry& registry,
                                                   const std::vector<KvTierParams>& tiers,
                                                   std::uint64_t block_bytes, const KvFuture& future,
                                                   std::uint64_t seed,
                                                   const std::vector<std::shared_ptr<KvTier>>& shared) {
  std::vector<std::shared_ptr<KvTier>> made;
  for (std::size_t i = 0; i < tiers.size(); ++i) {
    const KvTierParams& tier = tiers[i];
    if (tier.shared && !shared.empty()) {
      made.push_back(shared[i]);
      continue;
    }
    with_path("tiers[" + std::to_string(i) + "]", [&] {
      if (tier.capacity && block_bytes == 0)
        throw InputError({"a capacity in bytes, and no model that says what a block takes",
                          to_text(*tier.capacity),
                          "blocks",
                          {}},
                         "capacity");
      const std::uint64_t blocks = tier.blocks ? *tier.blocks : tier.capacity->count() / block_bytes;
      // A tier of none has a policy that is checked as any other, and never asked.
      KvPolicyContext context{
          .capacity = std::max<std::uint64_t>(blocks, 1), .future = &future, .seed = seed};
      with_path("policy", [&] {
        auto policy = registry.kv_policies.make(tier.policy, context);
        made.push_back(std::make_shared<KvTier>(tier.name, blocks, std::move(policy)));
      });
    });
  }
  return made;
}

Serving::Serving(const Registry& registry, ServingParams params, KvRequests requests)
    : params_(std::move(params)),
      model_(with_path("model", [&] { return read_model(params_.model); })),
      requests_(played(params_.requests, std::move(requests))),
      future_(std::make_unique<KvFuture>(requests_)),
      transport_(make_transport(registry, params_, model_.kv_bytes() * requests_.block_tokens)),
      record_(std::make_unique<ServingRecord>(requests_.size(), params_.tiers.size(), params_.servers.count,
                                              requests_.requests.front().arrival, params_.every)) {
  if (params_.servers.assign == KvAssignment::kChat && !requests_.has_chats)
    throw InputError({"these requests do not say which belong to one conversation",
                      "chat",
                      "in-turn or shortest",
                      {},
                      InputError::Kind::kBetween},
                     "servers.assign");
  make_tiers(registry);
}

Serving::~Serving() = default;

void Serving::make_tiers(const Registry& registry) {
  const std::uint64_t block_bytes = model_.kv_bytes() * requests_.block_tokens;
  const ServingContext context{params_, model_, requests_, *transport_, *record_};
  for (std::uint32_t server = 0; server < params_.servers.count; ++server) {
    const std::vector<std::shared_ptr<KvTier>> none;
    tiers_.push_back(make_kv_tiers(registry, params_.tiers, block_bytes, *future_, params_.seed + server,
                                   tiers_.empty() ? none : tiers_.front()));
    servers_.emplace_back(context, server, KvTiers(tiers_.back(), params_.inclusion, params_.writes));
  }
}

bool Serving::advance(std::uint64_t steps) {
  while (steps-- > 0) {
    if (!step()) return true;
  }
  return false;
}

bool Serving::step() {
  Time next = transport_->next();
  if (arrived_ < requests_.size()) next = std::min(next, requests_.requests[arrived_].arrival);
  for (const ServingServer& server : servers_) next = std::min(next, server.next());
  if (next == Time::max() || record_->done == requests_.size()) return false;
  if (next > kLongestServing)
    throw InputError(
        {"a run that goes on too long",
         std::to_string(record_->done) + " of " + counted(requests_.size(), "request") + " are done",
         "at most " + to_text(kLongestServing) + " of simulated time",
         {}},
        "servers");
  now_ = next;
  while (arrived_ < requests_.size() && requests_.requests[arrived_].arrival <= now_) {
    servers_[server_for(arrived_)].arrive(arrived_);
    ++arrived_;
  }
  hear_moves();
  for (ServingServer& server : servers_) server.end(now_);
  // A write that takes no time is there before the next prefix is looked up.
  hear_moves();
  for (ServingServer& server : servers_) server.begin(now_);
  return true;
}

void Serving::hear_moves() {
  tickets_.clear();
  transport_->advance(now_, tickets_);
  for (const std::uint64_t each : tickets_) {
    const MoveTicket ticket = MoveTicket::of(each, params_.tiers.size());
    ServingServer& server = servers_[ticket.server];
    if (ticket.write) server.written(ticket.tier);
    else server.loaded(now_, ticket.tier);
  }
}

std::size_t Serving::server_for(std::size_t request) {
  if (params_.servers.assign == KvAssignment::kShortest) {
    return static_cast<std::size_t>(std::ranges::min_element(servers_, {}, &ServingServer::waiting) -
                                    servers_.begin());
  }
  if (params_.servers.assign == KvAssignment::kChat) {
    const auto [chat, is_new] = chats_.try_emplace(requests_.requests[request].chat, turn_);
    if (is_new) turn_ = (turn_ + 1) % servers_.size();
    return chat->second;
  }
  return std::exchange(turn_, (turn_ + 1) % servers_.size());
}

Value Serving::result() const {
  std::vector<std::uint64_t> held(params_.tiers.size());
  std::vector<std::uint64_t> capacity(params_.tiers.size());
  for (std::size_t tier = 0; tier < params_.tiers.size(); ++tier) {
    for (const auto& own : tiers_) {
      if (params_.tiers[tier].shared && &own != &tiers_.front()) continue;
      held[tier] += own[tier]->size();
      capacity[tier] += own[tier]->capacity();
    }
  }
  return serving_result({params_, model_, requests_, *record_, *transport_, held, capacity});
}

}  // namespace cxloom
