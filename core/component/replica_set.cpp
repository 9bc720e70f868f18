#include "component/replica_set.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "protocol/request_observer.hpp"

namespace cxloom {

std::optional<std::size_t> ReplicaSet::reader(LineAddress line, std::uint64_t tried) const {
  return reader(line, tried, params_.read);
}

std::optional<std::size_t> ReplicaSet::reader(LineAddress line, std::uint64_t tried,
                                              ReplicaReads reads) const {
  const auto may = [&](std::size_t copy) {
    return state(copy) == State::kWhole && (tried >> copy & 1U) == 0;
  };
  std::size_t count = 0;
  for (std::size_t copy = 0; copy < size(); ++copy) {
    if (!may(copy)) continue;
    if (reads == ReplicaReads::kPrimary) return copy;
    ++count;
  }
  if (count == 0) return std::nullopt;
  std::size_t left = line.number() % count;
  for (std::size_t copy = 0;; ++copy) {
    if (may(copy) && left-- == 0) return copy;
  }
}

// ---- Lines

bool ReplicaSet::begin_write(LineAddress line, Message& message, RequestTaker& taker) {
  if (!tracks_) return true;
  Line& under_way = lines_[line.number()];
  if (under_way.copier) {
    under_way.waiting.push_back({&message, &taker});
    return false;
  }
  ++under_way.writes;
  return true;
}

void ReplicaSet::end_write(LineAddress line) {
  if (!tracks_) return;
  const auto found = lines_.find(line.number());
  if (--found->second.writes > 0) return;
  if (LineCopier* const copier = found->second.copier) {
    copier->quiet(line);
  } else {
    lines_.erase(found);
  }
}

bool ReplicaSet::begin_copy(LineAddress line, LineCopier& copier) {
  Line& under_way = lines_[line.number()];
  if (under_way.copier) {  // to another memory
    under_way.next_copiers.push_back(&copier);
    return false;
  }
  under_way.copier = &copier;
  return under_way.writes == 0;
}

void ReplicaSet::end_copy(LineAddress line) {
  const auto found = lines_.find(line.number());
  std::vector<LineCopier*>& next = found->second.next_copiers;
  if (!next.empty()) {
    LineCopier& copier = *next.front();
    next.erase(next.begin());
    found->second.copier = &copier;
    copier.quiet(line);
    return;
  }
  const std::vector<Waiting> waiting = std::exchange(found->second.waiting, {});
  found->second.copier = nullptr;
  if (waiting.empty()) {
    lines_.erase(found);
    return;
  }
  found->second.writes += static_cast<std::uint32_t>(waiting.size());
  for (const Waiting& each : waiting) each.taker->write_on(*each.message, *this);
}

// ---- Copies

std::size_t ReplicaSet::whole() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(copies_, [](const Copy& copy) { return copy.state == State::kWhole; }));
}

bool ReplicaSet::leave(std::size_t copy, Time now) {
  Copy& leaving = copies_[copy];
  if (leaving.state == State::kWhole) {
    if (whole() == 1) return false;
    ++counts_.left;
    if (!since_) since_ = now;
  }
  leaving.state = State::kOut;
  if (std::exchange(leaving.lost, false)) {
    leaving.rest_from = LineAddress::of(extent_.base).number();
    leaving.lacking.clear();
  }
  return true;
}

bool ReplicaSet::missed(std::size_t copy, LineAddress line, Time now) {
  if (!leave(copy, now)) return false;
  still_lacks(copy, line);
  return true;
}

void ReplicaSet::come_back(std::size_t copy) {
  copies_[copy].state = State::kBack;
  ++counts_.resyncs;
}

std::optional<LineAddress> ReplicaSet::next_lacking(std::size_t copy) {
  Copy& back = copies_[copy];
  if (!back.lacking.empty()) {
    const LineAddress line{*back.lacking.begin()};
    back.lacking.erase(back.lacking.begin());
    return line;
  }
  if (back.rest_from >= end_line()) return std::nullopt;
  return LineAddress{back.rest_from++};
}

void ReplicaSet::become_whole(std::size_t copy, Time now) {
  copies_[copy].state = State::kWhole;
  copies_[copy].rest_from = ~std::uint64_t{0};
  if (whole() == size()) degraded_ += now - *std::exchange(since_, std::nullopt);
}

void ReplicaSet::give(NodeId node, RequestTaker& taker) {
  if (takers_by_node_.size() <= node.index()) takers_by_node_.resize(node.index() + 1);
  takers_by_node_[node.index()] = &taker;
  takers_.push_back(node);
}

// ---- Versions

void ReplicaSet::begin_version(Message& write) {
  if (!versions_) return;
  Written& line = versions_->lines[LineAddress::of(write.address).number()];
  write.version = static_cast<std::uint32_t>(line.began.size());
  line.began.push_back(++versions_->happened);
  line.answered.push_back(~std::uint64_t{0});
}

void ReplicaSet::acknowledged(const Message& write) {
  if (!versions_) return;
  Written& line = versions_->lines[LineAddress::of(write.address).number()];
  line.answered[write.version] = ++versions_->happened;
  line.floor = std::max(line.floor, line.began[write.version]);
}

std::uint64_t ReplicaSet::floor_of(LineAddress line) const {
  if (!versions_) return 0;
  const auto found = versions_->lines.find(line.number());
  return found == versions_->lines.end() ? 0 : found->second.floor;
}

void ReplicaSet::was_read(const Message& read, std::uint64_t floor) {
  if (!versions_ || read.failed || floor == 0) return;
  const Written& line = versions_->lines[LineAddress::of(read.address).number()];
  if (line.answered[read.version] < floor) ++counts_.stale_reads;
}

void ReplicaSet::served(Message& message, NodeId node) {
  if (!versions_) return;
  std::uint32_t& version = versions_->in_memory[node.index()][LineAddress::of(message.address).number()];
  if (message.opcode == Opcode::kMemWr) {
    version = message.version;
  } else {
    message.version = version;
  }
}

void ReplicaSet::forget_versions(NodeId node) {
  if (versions_) versions_->in_memory.erase(node.index());
}

// ---- All sets

bool ReplicaSets::named(const std::string& name) const {
  return std::ranges::any_of(sets_, [&](const auto& set) { return set->name() == name; });
}

ReplicaSet* ReplicaSets::find(Address address) const {
  for (const auto& set : sets_) {
    if (set->holds(address)) return set.get();
  }
  return nullptr;
}

RequestTaker* ReplicaSets::at_host(const Message& message) const {
  const ReplicaSet* const set = find(message.address);
  return set && set->params().by_hosts() ? set->taker_at(message.source) : nullptr;
}

void ReplicaSets::served(Message& message, NodeId node) {
  if (ReplicaSet* const set = find(message.address)) set->served(message, node);
}

void ReplicaSets::written(NodeId by, NodeId memory, std::uint64_t bytes) const {
  if (observer) observer->drained(by, memory, bytes);
}

// ---- Failures

bool ReplicaSets::usable(const ReplicaSet& set, std::size_t copy) const {
  if (unusable_.contains(set.node(copy).index())) return false;
  // A host that reaches no copy is cut off itself, and has no say.
  return std::ranges::all_of(set.takers(), [&](NodeId taker) {
    if (crashed_.contains(taker.index()) || reaches_(taker, set.node(copy))) return true;
    for (std::size_t other = 0; other < set.size(); ++other) {
      if (reaches_(taker, set.node(other))) return false;
    }
    return true;
  });
}

void ReplicaSets::update(Time now) {
  attempts_.clear();
  for (const auto& set : sets_) {
    for (std::size_t copy = 0; copy < set->size(); ++copy) {
      if (!usable(*set, copy) || set->has_lost_contents(copy)) set->leave(copy, now);
    }
    for (std::size_t copy = 0; copy < set->size(); ++copy) try_again(*set, copy);
  }
}

void ReplicaSets::memory_fails(NodeId memory) {
  for (const auto& set : sets_) {
    for (std::size_t copy = 0; copy < set->size(); ++copy) {
      if (set->node(copy) != memory) continue;
      set->contents_lost(copy);
      set->forget_versions(memory);
    }
  }
}

void ReplicaSets::set_unusable(NodeId memory, bool unusable, Time now) {
  if (unusable) {
    unusable_.insert(memory.index());
  } else {
    unusable_.erase(memory.index());
  }
  update(now);
}

void ReplicaSets::resync_ended(ReplicaSet& set, std::size_t copy) {
  set.set_busy(copy, false);
  if (set.state(copy) == ReplicaSet::State::kWhole) {
    attempts_.erase({&set, copy});
  } else {
    try_again(set, copy);
  }
}

// One agent does not try the same twice before something changes: it would meet the same error.
void ReplicaSets::try_again(ReplicaSet& set, std::size_t copy) {
  if (set.state(copy) != ReplicaSet::State::kOut || set.is_busy(copy) || !usable(set, copy)) return;
  const std::size_t from = set.first_whole();
  for (const NodeId taker : set.takers()) {
    if (crashed_.contains(taker.index()) || !reaches_(taker, set.node(copy)) ||
        !reaches_(taker, set.node(from)))
      continue;
    const Attempt attempt{taker.index(), from};
    const auto [before, fresh] = attempts_.try_emplace({&set, copy}, attempt);
    if (!fresh && before->second == attempt) return;
    before->second = attempt;
    set.come_back(copy);
    set.set_busy(copy, true);
    set.taker_at(taker)->resynchronise(set, from, copy);
    return;
  }
}

}  // namespace cxloom
