#include "system/serving/fabric_transport.hpp"

#include <algorithm>

#include "system/serving/serving_time.hpp"

namespace cxloom {

namespace {

/// With those of the fabric left out, which have no numbers.
std::vector<KvTierParams> by_numbers(std::vector<KvTierParams> tiers) {
  for (KvTierParams& tier : tiers) {
    if (!tier.devices.empty()) tier.shared = false;
  }
  return tiers;
}

// Rates that are known so well need no word: windows of lines are to be, where nothing scatters.
constexpr double kSureEnough = 0.01;

}  // namespace

FabricTransport::FabricTransport(const Registry& registry, const ServingParams& params,
                                 const std::vector<std::uint64_t>& tier_bytes)
    : declared_(by_numbers(params.tiers), params.servers.count),
      states_(std::make_unique<FabricStates>(registry, params, tier_bytes)),
      tiers_(params.tiers),
      servers_(params.servers.count),
      busy_(states_->parts().size()) {
  for (const KvTierParams& tier : params.tiers) simulated_.push_back(!tier.devices.empty());
  for (std::uint32_t server = 0; server < servers_; ++server) {
    for (std::uint32_t tier = 0; tier < tiers_.size(); ++tier) {
      queues_.push_back({.flow = {server, tier, false}, .free = {}});
      queues_.push_back({.flow = {server, tier, true}, .free = {}});
    }
  }
  active_.assign(queues_.size(), false);
  state_ = &states_->of(active_);
}

void FabricTransport::begin(Time now, const KvMove& move) {
  if (!simulates(move.tier)) return declared_.begin(now, move);
  flow(now);
  Queue& queue = queues_[states_->number({move.server, move.tier, move.write})];
  queue.moves.push_back({static_cast<double>(move.bytes), move.ticket});
  look_at_state();
}

Time FabricTransport::next() const {
  Time next = std::min(declared_.next(), next_change());
  if (!done_.empty()) next = std::min(next, done_.begin()->first);
  return next;
}

void FabricTransport::advance(Time until, std::vector<std::uint64_t>& done) {
  declared_.advance(until, done);
  flow(until);
  while (!done_.empty() && done_.begin()->first <= until) {
    done.push_back(done_.begin()->second);
    done_.erase(done_.begin());
  }
}

void FabricTransport::look_at_state() {
  for (std::size_t i = 0; i < queues_.size(); ++i) active_[i] = is_active(queues_[i]);
  state_ = &states_->of(active_);
}

Time FabricTransport::next_change() const {
  Time next = Time::max();
  for (std::size_t i = 0; i < queues_.size(); ++i) {
    const Queue& queue = queues_[i];
    if (queue.moves.empty()) continue;
    next = std::min(next, active_[i]
                              ? now_ + capped_time(std::max(0.0, queue.moves.front().left) / state_->rates[i])
                              : std::max(queue.free, now_));
  }
  return next;
}

void FabricTransport::move_all(Time until) {
  const double length = seconds_of(until - now_);
  bool moves = false;
  for (std::size_t i = 0; i < queues_.size(); ++i) {
    if (!active_[i]) continue;
    moves = true;
    Move& move = queues_[i].moves.front();
    const double bytes = std::min(move.left, length * state_->rates[i]);
    move.left -= bytes;
    queues_[i].moved += bytes;
  }
  for (std::size_t part = 0; part < busy_.size(); ++part) busy_[part] += length * state_->shares[part];
  if (moves) {
    moving_ += length;
    error_ += length * state_->error;
  }
  now_ = until;
}

void FabricTransport::flow(Time until) {
  for (Time next = next_change(); next <= until; next = next_change()) {
    move_all(next);
    for (std::size_t i = 0; i < queues_.size(); ++i) {
      // What is left of a picosecond's bytes is a rounding of the end to whole picoseconds.
      if (!active_[i]) continue;
      Queue& queue = queues_[i];
      if (queue.moves.front().left > std::max(state_->rates[i] * 1e-12, 1e-3)) continue;
      queue.free = now_ + states_->latency(queue.flow);
      done_.emplace(queue.free, queue.moves.front().ticket);
      queue.moves.pop_front();
    }
    look_at_state();
  }
  if (until > now_) move_all(until);
}

Time FabricTransport::estimate(Time now, const KvMove& move) const {
  if (!simulates(move.tier)) return declared_.estimate(now, move);
  const FabricFlow flow{move.server, move.tier, move.write};
  const std::size_t number = states_->number(flow);
  const Queue& queue = queues_[number];
  double bytes = static_cast<double>(move.bytes);
  for (const Move& each : queue.moves) bytes += each.left;
  const Time latency = states_->latency(flow) * (static_cast<std::int64_t>(queue.moves.size()) + 1);
  std::vector<bool> active = active_;
  active[number] = true;
  const Time wait = std::max(Time{}, queue.free - now);
  return wait + latency + capped_time(bytes / states_->of(active).rates[number]);
}

double FabricTransport::alone_rate(const FabricFlow& flow) const {
  return states_->alone(flow).rates[states_->number(flow)];
}

// The parts that a move from the tier, or to it, uses most when it is alone are its way.
double FabricTransport::fullest(std::uint32_t tier, bool write) const {
  const std::vector<double>& shares = states_->alone({0, tier, write}).shares;
  const double most = *std::ranges::max_element(shares);
  double fullest = 0;
  for (std::size_t part = 0; part < shares.size(); ++part) {
    if (shares[part] >= most / 4) fullest = std::max(fullest, busy_[part]);
  }
  return fullest;
}

KvWayUse FabricTransport::used(std::uint32_t tier, bool write) const {
  if (!simulates(tier)) return declared_.used(tier, write);
  double own = 0;
  for (std::uint32_t server = 0; server < servers_; ++server) {
    const FabricFlow flow{server, tier, write};
    const double moved = queues_[states_->number(flow)].moved;
    if (moved > 0) own += moved / alone_rate(flow) / servers_;
  }
  return {.own = own, .together = own > 0 ? fullest(tier, write) : 0};
}

std::vector<KvPartUse> FabricTransport::parts() const {
  std::vector<KvPartUse> found;
  for (std::size_t part = 0; part < busy_.size(); ++part)
    found.push_back({states_->parts()[part], busy_[part]});
  return found;
}

std::string FabricTransport::note() const {
  const FabricStates::Worst worst = states_->worst();
  if (moving_ <= 0 || worst.error <= kSureEnough) return {};
  const std::string known = "Rates over the fabric are known to " + percent_text(error_ / moving_) +
                            ", mean over the time (99 % confidence), and those of one ";
  if (worst.moves == 1)
    return known + "move that is alone to " + percent_text(worst.error) +
           ": its lines scatter for longer than they were simulated.";
  return known + "set of moves to " + percent_text(worst.error) +
         ": moves that disturb each other scatter for longer than they were simulated.";
}

Value FabricTransport::details(Time length) const {
  const double time = seconds_of(length);
  Value loads(Value::Map{});
  for (const KvPartUse& part : parts()) loads.set(part.name, time > 0 ? Value(part.busy / time) : Value());
  Value memories(Value::Map{});
  for (std::uint32_t tier = 0; tier < tiers_.size(); ++tier) {
    if (!simulates(tier)) continue;
    double read = 0;
    double written = 0;
    for (const Queue& queue : queues_) {
      if (queue.flow.tier == tier) (queue.flow.write ? written : read) += queue.moved;
    }
    const auto rate = [&](double bytes) { return time > 0 ? Value(bytes * 1e-9 / time) : Value(); };
    memories.set(tiers_[tier].name,
                 Value::Map{{"read_gb_per_s", rate(read)}, {"write_gb_per_s", rate(written)}});
  }
  return Value::Map{{"sets", number(states_->measured())},
                    {"relative_error", moving_ > 0 ? Value(error_ / moving_) : Value()},
                    {"largest_error", states_->worst().error},
                    {"loads", std::move(loads)},
                    {"tiers", std::move(memories)}};
}

}  // namespace cxloom
