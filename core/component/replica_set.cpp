#include "component/replica_set.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "protocol/request_observer.hpp"

namespace cxloom {

ReplicaSet::ReplicaSet(std::string name, const AddressMap& map, const AddressMap::Extent& extent,
                       bool interleaved, const ReplicasParams& params, std::vector<NodeId> nodes)
    : name_(std::move(name)),
      map_(map),
      extent_(extent),
      interleaved_(interleaved),
      params_(params),
      nodes_(std::move(nodes)),
      copies_(nodes_.size()) {}

bool ReplicaSet::in_part(Address address) const { return map_.find(address)->target == nodes_.front(); }

/// The consecutive number of a line of its part; the line's own where the region is not interleaved.
std::uint64_t ReplicaSet::place_of(LineAddress line) const {
  return interleaved_ ? LineAddress::of(map_.find(line.address())->device_address).number() : line.number();
}

// A switch knows which lines are being written. All reads of one go to the same copy, so that none finds the
// line as it was before what an earlier one got.
std::optional<std::size_t> ReplicaSet::reader(LineAddress line, std::uint64_t tried) const {
  const bool settled = params_.by_hosts() || !is_written(line);
  return reader(line, tried, settled ? params_.read : ReplicaReads::kPrimary);
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
  std::size_t left = place_of(line) % count;
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

std::uint64_t ReplicaSet::whole_ones() const {
  std::uint64_t ones = 0;
  for (std::size_t copy = 0; copy < size(); ++copy)
    ones |= std::uint64_t{state(copy) == State::kWhole} << copy;
  return ones;
}

bool ReplicaSet::leave(std::size_t copy, Time now) {
  Copy& leaving = copies_[copy];
  leaving.sound = false;
  if (leaving.state == State::kWhole) {
    if (whole() == 1 && !find_successor()) return false;
    ++counts_.left;
    if (!since_) since_ = now;
  }
  leaving.state = State::kOut;
  if (std::exchange(leaving.lost, false)) {
    lack_all(copy);
  }
  return true;
}

// Copies that have left because their switch failed may differ in writes that were not answered: any of them
// will do, and the others are made equal to it.
bool ReplicaSet::find_successor() {
  const auto found = std::ranges::find_if(copies_, [](const Copy& copy) { return copy.sound && !copy.lost; });
  if (found == copies_.end()) return false;
  *found = {.busy = found->busy};
  for (std::size_t copy = 0; copy < size(); ++copy) {
    if (copies_[copy].sound) lack_all(copy);
  }
  return true;
}

void ReplicaSet::switch_failed(Time now) {
  const std::size_t source = first_whole();
  for (std::size_t copy = 0; copy < size(); ++copy) {
    if (copy == source) continue;
    const bool sound = state(copy) == State::kWhole && !copies_[copy].lost;
    leave(copy, now);
    copies_[copy].sound = sound;
    lack_all(copy);
  }
}

std::vector<Message*> ReplicaSet::abandon_waiting() {
  std::map<std::uint64_t, Line*> in_order;
  for (auto& [line, under_way] : lines_) in_order.emplace(line, &under_way);
  std::vector<Message*> abandoned;
  for (const auto& [line, under_way] : in_order) {
    for (const Waiting& each : std::exchange(under_way->waiting, {})) abandoned.push_back(each.message);
  }
  return abandoned;
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
  const LineAddress line{back.rest_from++};
  skip_others(back);
  return line;
}

void ReplicaSet::lack_all(std::size_t copy) {
  copies_[copy].rest_from = LineAddress::of(extent_.base).number();
  copies_[copy].lacking.clear();
  skip_others(copies_[copy]);
}

// Lines of other parts of the region.
void ReplicaSet::skip_others(Copy& copy) const {
  if (!interleaved_) return;
  while (copy.rest_from < end_line() && !in_part(LineAddress{copy.rest_from}.address())) ++copy.rest_from;
}

void ReplicaSet::become_whole(std::size_t copy, Time now) {
  copies_[copy].state = State::kWhole;
  copies_[copy].sound = false;
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
  line.floors.answered = std::max(line.floors.answered, line.began[write.version]);
}

void ReplicaSet::write_failed(const Message& write) {
  if (!versions_) return;
  Written& line = versions_->lines[LineAddress::of(write.address).number()];
  line.answered[write.version] = ++versions_->happened;
}

VersionFloors ReplicaSet::floors_of(LineAddress line) const {
  if (!versions_) return {};
  const auto found = versions_->lines.find(line.number());
  return found == versions_->lines.end() ? VersionFloors{} : found->second.floors;
}

void ReplicaSet::was_read(const Message& read, const VersionFloors& floors) {
  if (!versions_ || read.failed) return;
  const auto found = versions_->lines.find(LineAddress::of(read.address).number());
  if (found == versions_->lines.end()) return;
  Written& line = found->second;
  if (line.answered[read.version] < floors.answered) ++counts_.stale_reads;
  // A switch has one order of all writes, hosts have that of those which did not overlap.
  const std::vector<std::uint64_t>& followed = params_.by_hosts() ? line.answered : line.began;
  if (followed[read.version] < floors.seen) ++counts_.reversed_reads;
  line.floors.seen = std::max(line.floors.seen, line.began[read.version]);
}

std::uint64_t ReplicaSet::differing_lines() const {
  const auto version_at = [&](std::size_t copy, std::uint64_t line) {
    const auto memory = versions_->in_memory.find(nodes_[copy].index());
    if (memory == versions_->in_memory.end()) return 0U;
    const auto found = memory->second.find(line);
    return found == memory->second.end() ? 0U : found->second;
  };
  return static_cast<std::uint64_t>(std::ranges::count_if(versions_->lines, [&](const auto& each) {
    if (is_written(LineAddress{each.first})) return false;
    const std::uint32_t first = version_at(first_whole(), each.first);
    for (std::size_t copy = 0; copy < size(); ++copy) {
      if (state(copy) == State::kWhole && version_at(copy, each.first) != first) return true;
    }
    return false;
  }));
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

void ReplicaSets::read_for_copy(NodeId memory, std::uint64_t bytes) const {
  if (observer) observer->copied_from(memory, bytes);
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
