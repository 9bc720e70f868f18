#include "system/serving/fabric_states.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "system/serving/serving_time.hpp"

namespace cxloom {

namespace {

// The bytes of a copy that tells what one takes besides them.
constexpr std::uint64_t kShortCopy = 256ULL << 10U;

std::vector<std::vector<std::string>> devices_of_servers(const ServingParams& params) {
  std::vector<std::vector<std::string>> own;
  for (std::size_t server = 0; server < params.servers.count; ++server) {
    own.push_back({params.servers.devices[server]});
    for (const KvTierParams& tier : params.tiers) {
      if (!tier.shared && tier.devices.size() > 1) own.back().push_back(tier.devices[server]);
    }
  }
  return own;
}

std::vector<std::string> devices_of_all(const ServingParams& params) {
  std::vector<std::string> common;
  for (const KvTierParams& tier : params.tiers) {
    if (tier.shared || tier.devices.size() == 1)
      common.insert(common.end(), tier.devices.begin(), tier.devices.end());
  }
  return common;
}

}  // namespace

FabricStates::FabricStates(const Registry& registry, const ServingParams& params,
                           const std::vector<std::uint64_t>& tier_bytes)
    : probe_(registry, params, tier_bytes),
      symmetry_(params.fabric, devices_of_servers(params), devices_of_all(params), probe_.ways_differ()),
      servers_(params.servers.count),
      tiers_(params.tiers.size()) {
  join_parts();
}

void FabricStates::join_parts() {
  std::map<std::string, std::size_t> known;
  for (const FabricPart& part : probe_.parts()) {
    std::string name = part.name;
    if (part.far.empty()) {
      const std::size_t count = symmetry_.count_alike(part.device);
      name = "memory " + symmetry_.first_alike(part.device);
      if (count > 1) name += " and " + std::to_string(count - 1) + " alike";
    } else {
      const std::size_t count = std::max(symmetry_.count_alike(part.device), symmetry_.count_alike(part.far));
      if (count > 1) {
        name = "link " + symmetry_.first_alike(part.device) + "->" + symmetry_.first_alike(part.far) +
               " and " + std::to_string(count - 1) + " alike";
      }
    }
    const auto [found, is_new] = known.emplace(name, parts_.size());
    if (is_new) parts_.push_back(name);
    part_of_.push_back(found->second);
  }
}

// Servers of a group that do the same have the same rates, but for the scatter of a window.
FabricRates FabricStates::averaged(const Patterns& patterns) const {
  std::vector<FabricFlow> flows;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::vector<std::size_t>> equal;
  for (std::uint32_t server = 0; server < servers_; ++server) {
    for (std::uint32_t bit = 0; bit < 2 * tiers_; ++bit) {
      if ((patterns[server] >> bit & 1U) == 0) continue;
      const std::uint64_t group = std::uint64_t{symmetry_.groups()[server]} * 64 + bit;
      equal[{group, patterns[server]}].push_back(flows.size());
      flows.push_back({server, bit / 2, bit % 2 == 1});
    }
  }
  FabricRates found = probe_.measure(flows);
  for (const auto& [what, places] : equal) {
    double sum = 0;
    for (const std::size_t place : places) sum += found.rates[place];
    for (const std::size_t place : places) found.rates[place] = sum / static_cast<double>(places.size());
  }
  std::vector<double> shares(parts_.size());
  std::vector<double> counts(parts_.size());
  for (std::size_t i = 0; i < part_of_.size(); ++i) {
    shares[part_of_[i]] += found.shares[i];
    counts[part_of_[i]] += 1;
  }
  for (std::size_t i = 0; i < shares.size(); ++i) shares[i] /= counts[i];
  found.shares = std::move(shares);
  return found;
}

const FabricState& FabricStates::of(const std::vector<bool>& active) {
  if (const auto known = by_active_.find(active); known != by_active_.end()) return known->second;
  Patterns patterns(servers_);
  for (std::size_t i = 0; i < active.size(); ++i) {
    if (active[i]) patterns[i / (2 * tiers_)] |= std::uint64_t{1} << (i % (2 * tiers_));
  }
  FabricState state;
  state.rates.assign(active.size(), 0);
  if (std::ranges::none_of(patterns, [](std::uint64_t each) { return each != 0; })) {
    state.shares.assign(parts_.size(), 0);
    return by_active_.emplace(active, std::move(state)).first->second;
  }
  // In each group, those that do most come first: `order[i]` is who stands at the place of server i.
  std::vector<std::size_t> order(servers_);
  std::iota(order.begin(), order.end(), std::size_t{0});
  const std::vector<std::uint32_t>& groups = symmetry_.groups();
  std::vector<std::size_t> sorted = order;
  std::ranges::sort(sorted, [&](std::size_t a, std::size_t b) {
    return std::tuple(groups[a], patterns[b], a) < std::tuple(groups[b], patterns[a], b);
  });
  std::vector<std::size_t> places = order;
  std::ranges::sort(places, {}, [&](std::size_t server) { return std::pair(groups[server], server); });
  Patterns standing(servers_);
  for (std::size_t i = 0; i < servers_; ++i) {
    order[places[i]] = sorted[i];
    standing[places[i]] = patterns[sorted[i]];
  }
  auto known = states_.find(standing);
  if (known == states_.end()) known = states_.emplace(standing, averaged(standing)).first;
  std::size_t next = 0;
  for (std::size_t server = 0; server < servers_; ++server) {
    for (std::size_t bit = 0; bit < 2 * tiers_; ++bit) {
      if ((standing[server] >> bit & 1U) == 1)
        state.rates[order[server] * 2 * tiers_ + bit] = known->second.rates[next++];
    }
  }
  state.error = known->second.error;
  state.shares = known->second.shares;
  return by_active_.emplace(active, std::move(state)).first->second;
}

const FabricState& FabricStates::alone(const FabricFlow& flow) {
  std::vector<bool> active(servers_ * tiers_ * 2);
  active[number(flow)] = true;
  return of(active);
}

Time FabricStates::latency(const FabricFlow& flow) {
  const std::uint32_t group = symmetry_.groups()[flow.server];
  const auto key = std::pair(group, std::uint64_t{flow.tier} * 2 + (flow.write ? 1 : 0));
  if (const auto known = latencies_.find(key); known != latencies_.end()) return known->second;
  const double bytes_time = static_cast<double>(kShortCopy) / alone(flow).rates[number(flow)];
  const Time whole = probe_.time_alone(flow, kShortCopy);
  const Time latency = std::max(Time{}, whole - capped_time(bytes_time));
  return latencies_.emplace(key, latency).first->second;
}

FabricStates::Worst FabricStates::worst() const {
  Worst worst;
  for (const auto& [patterns, rates] : states_) {
    if (rates.error <= worst.error) continue;
    worst = {rates.error, rates.rates.size()};
  }
  return worst;
}

}  // namespace cxloom
