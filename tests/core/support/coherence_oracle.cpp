#include "core/support/coherence_oracle.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "protocol/opcode.hpp"

namespace cxloom::test {

namespace {

std::string number_of(NodeId node) { return std::to_string(node.index()); }

bool is_atomic(Opcode opcode) { return opcode == Opcode::kMemAtomic || opcode == Opcode::kAtomic; }

const char* word_of(AccessKind kind) {
  constexpr std::array<const char*, kAccessKinds> kWords{" reads ", " writes ", " changes "};
  return kWords[static_cast<std::size_t>(kind)];
}

}  // namespace

std::string describe(const Message& message) {
  std::string text(kOpcodeNames[static_cast<std::size_t>(message.opcode)]);
  text += " " + to_text(LineAddress::of(message.address).address());
  if (message.lines > 0) text += " x" + std::to_string(message.lines);
  text += " from " + number_of(message.source) + " to " + number_of(message.destination);
  return text;
}

CoherenceOracle::Line& CoherenceOracle::line(LineAddress address) {
  const auto [found, is_new] = lines_.try_emplace(address.number());
  Line& line = found->second;
  line.copies.resize(nodes_.caches().size());
  if (is_new && losses_) line.lost = line.memory_has_lost = memory_lost_(address) != Lost::kNothing;
  return line;
}

void CoherenceOracle::touch(LineAddress address) {
  if (!nodes_.coherent(address)) return;
  Line& touched = line(address);
  if (!std::exchange(touched.touched, true)) touched_.push_back(address);
}

void CoherenceOracle::touch_all(const Message& message) {
  LineAddress address = LineAddress::of(message.address);
  for (unsigned left = std::max<unsigned>(message.lines, 1); left > 0; --left, address = address.next())
    touch(address);
}

CoherenceOracle::Version CoherenceOracle::in_cache(NodeId node, LineAddress address) const {
  const auto found = lines_.find(address.number());
  const std::uint32_t cache = nodes_.cache_at(node);
  return found == lines_.end() || cache == CoherentNodes::kNone ? 0 : found->second.copies[cache];
}

std::optional<CoherenceOracle::Version> CoherenceOracle::forwarded(LineAddress address) const {
  const auto found = lines_.find(address.number());
  return found == lines_.end() ? std::nullopt : found->second.forwarded;
}

std::optional<CoherenceOracle::Version> CoherenceOracle::carried(const Message& message) const {
  const auto found = carried_.find(&message);
  return found == carried_.end() ? std::nullopt : std::optional(found->second.version);
}

std::optional<CoherenceOracle::Version> CoherenceOracle::latest_before(const Message& request) const {
  const auto found = asked_.find(&request);
  return found == asked_.end() ? std::nullopt : std::optional(found->second.latest);
}

std::optional<CoherenceOracle::Version> CoherenceOracle::made(const Message& answer) const {
  const auto found = made_.find(&answer);
  return found == made_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<CoherenceOracle::Version> CoherenceOracle::take_made(const Message& answer) {
  const auto version = made(answer);
  made_.erase(&answer);
  return version;
}

// ---- What it sees

void CoherenceOracle::sent(const Message& message, Time /*at*/) {
  const LineAddress address = LineAddress::of(message.address);
  if (losses_ && message.failed) {  // it was a request, or was lost: what it carried is
    on_the_way_.erase(&message);
    if (!message.poisoned) carried_.erase(&message);
  }
  if (!on_the_way_.emplace(&message, address).second)
    fail(address, "a message that is sent again before it has arrived: " + describe(message));
  if (!nodes_.coherent(address)) return;
  // To who waited, by itself.
  if (losses_ && message.failed && message.source == message.destination && !asked_.contains(&message))
    return;
  made_.erase(&message);
  const std::uint32_t cache = nodes_.cache_at(message.source);
  if (message.opcode == Opcode::kMemWr && message.snp == SnpType::kNoOp && cache != CoherentNodes::kNone &&
      nodes_.to_home(message)) {
    carried_[&message] = {address, line(address).copies[cache]};
  }
  if (message.channel == Channel::kD2HData) {
    const auto pulled = pulls_.find(&message);
    if (pulled == pulls_.end() || pulled->second == Opcode::kDirtyEvict)
      carried_[&message] = {address, line(address).copies[cache]};
  }
  if (!nodes_.from_home(message) || !nodes_.is_home(message.source, address)) return;
  if (message.opcode == Opcode::kBIConflictAck) {
    // A device with lines of its own answers itself, too, what was lost in it.
    const bool of_nobody = losses_ && message.source == message.destination;
    if (!conflicts_.contains(&message) && !of_nobody)
      fail(address, "an answer to a conflict that nobody asked about");
    return;
  }
  if (nodes_.is_snoop(message) || completions_.erase(&message) != 0) return;
  if (message.opcode == Opcode::kWritePull) {
    pulls_[&message] = Opcode::kWrInv;
    return;
  }
  const auto found = asked_.find(&message);
  if (found == asked_.end()) {
    fail(address, "an answer to no request, or a second one: " + describe(message));
    return;
  }
  const Asked asked = found->second;
  asked_.erase(found);
  if (message.opcode == Opcode::kGoWritePull) pulls_[message.completion] = asked.opcode;
  answered(message, asked);
}

void CoherenceOracle::lost(const Message& message) {
  if (logs_) log_.push_back("    lost: " + describe(message));
  on_the_way_.erase(&message);
  carried_.erase(&message);
  snoops_.erase(&message);
  conflicts_.erase(&message);
  pulls_.erase(&message);
  if (message.opcode == Opcode::kGoWritePull) pulls_.erase(message.completion);
  in_vain_.erase(&message);
  if (nodes_.coherent(LineAddress::of(message.address))) part_lost(message);
  if (asked_.erase(&message) != 0) completions_.erase(message.completion);  // with the home that had it
}

// The other part of the answer to a snoop is of no use.
void CoherenceOracle::part_lost(const Message& message) {
  Line& at = line(LineAddress::of(message.address));
  if (at.owed == &message) at.owed = nullptr;
  if (message.channel == Channel::kH2DReq || message.channel == Channel::kD2HRsp) {
    if (at.forwarded_by == message.completion) at.forwarded.reset();
    if (on_the_way_.contains(message.completion)) in_vain_.insert(message.completion);
  } else if (message.channel == Channel::kD2HData) {
    for (const auto& [answer, of] : snoops_)
      if (answer->completion == &message) in_vain_.insert(answer);
  }
}

void CoherenceOracle::answered(const Message& message, Asked asked) {
  Line& answered = line(asked.line);
  if (losses_ && asked.opcode == Opcode::kMemWr && !asked.past_caches) written_back(message);
  if (message.failed && !message.poisoned) completions_.erase(message.completion);  // an error is one part
  const Version current = answered.forwarded.value_or(answered.memory);
  answered.forwarded.reset();
  if (message.failed) return;
  if (is_atomic(asked.opcode)) {
    if (answered.memory != answered.latest)
      fail(asked.line, "an atomic operation comes to memory without the latest write");
    atomics_.push_back({message.destination, asked.line, answered.memory, true});
    made_[&message] = answered.memory = ++answered.latest;
    touch(asked.line);
  } else if (message.opcode == Opcode::kMemData || message.opcode == Opcode::kH2DData) {
    if (!asked.past_caches) {
      carried_[&message] = {asked.line, current};
    } else if (current < asked.latest) {
      fail(asked.line, "a read past the caches gets version " + std::to_string(current) + ", and version " +
                           std::to_string(asked.latest) + " was there before it began");
    }
  } else if (asked.past_caches) {
    const DirectoryAgent& home = *nodes_.home_of(asked.line);  // where the line may just have become poisoned
    const bool poisoned = answered.poisoned || (home.losses() && home.losses()->poisoned(asked.line));
    if (answered.memory != answered.latest && !poisoned)
      fail(asked.line, "a write past the caches comes to memory without the latest write");
    answered.memory = ++answered.latest;
    answered.lost = false;
    touch(asked.line);
  }
}

void CoherenceOracle::handling(const Message& message, NodeId node, Time now, const std::string& state) {
  if (logs_)
    log_.push_back(to_text(now) + "  " + number_of(node) + " handles " + describe(message) + " in " + state);
  if (on_the_way_.erase(&message) == 0)
    fail(LineAddress::of(message.address), "a message that nobody has sent: " + describe(message));
  touch_all(message);
  if (!nodes_.coherent(LineAddress::of(message.address))) return;
  if (const std::uint32_t cache = nodes_.cache_at(node);
      cache != CoherentNodes::kNone && nodes_.from_home(message)) {
    cache_handled(message, cache);
  } else if (nodes_.is_home(node, LineAddress::of(message.address)) && nodes_.to_home(message)) {
    home_handled(message);
  } else if (message.channel == Channel::kS2MNDR && !message.failed &&
             nodes_.is_home(node, LineAddress::of(message.address))) {
    line(LineAddress::of(message.address)).lost = false;  // written by a home that is apart from it
  }
}

void CoherenceOracle::handled(const std::string& state) {
  if (logs_) log_.push_back("    which leads to " + state);
}

void CoherenceOracle::cache_handled(const Message& message, std::uint32_t cache) {
  const LineAddress address = LineAddress::of(message.address);
  const bool data = message.opcode == Opcode::kMemData || message.opcode == Opcode::kH2DData;
  if (data && !message.failed && !made(message)) {
    const auto found = carried_.find(&message);
    if (found == carried_.end()) {
      fail(address, "data that no home has sent");
      return;
    }
    line(address).copies[cache] = found->second.version;
    carried_.erase(found);
  } else if (message.opcode == Opcode::kBIConflictAck) {
    const bool of_nobody = message.source == message.destination;  // it was lost
    if (conflicts_.erase(&message) == 0 && !of_nobody)
      fail(address, "an answer to a conflict that nobody asked about");
  } else if (nodes_.is_snoop(message)) {
    if (!snoops_.emplace(&message, address).second) fail(address, "a snoop that its cache acts on twice");
  }
}

void CoherenceOracle::home_handled(const Message& message) {
  const LineAddress address = LineAddress::of(message.address);
  if (message.channel == Channel::kM2SBIRsp || message.channel == Channel::kD2HRsp ||
      message.opcode == Opcode::kMemRdFwd) {
    snoop_answered(message);
    return;
  }
  if (message.channel == Channel::kD2HData) {
    data_came(message);
    return;
  }
  if (message.opcode == Opcode::kBIConflict) {
    if (!conflicts_.emplace(&message, address).second) fail(address, "a conflict that is asked about twice");
    return;
  }
  Line& at = line(address);
  const bool write = message.opcode == Opcode::kMemWr;
  const bool write_back = write && message.snp == SnpType::kNoOp;
  const bool past = (write && !write_back) ||
                    (message.opcode == Opcode::kMemRd && message.meta == MetaValue::kInvalid) ||
                    message.opcode == Opcode::kRdCurr || message.opcode == Opcode::kItoMWr ||
                    message.opcode == Opcode::kWrInv || is_atomic(message.opcode);
  if (!asked_.emplace(&message, Asked{address, message.opcode, past, at.latest}).second)
    fail(address, "a request that its home takes up twice: " + describe(message));
  if (message.completion) completions_.insert(message.completion);
  if (write_back && !losses_) written_back(message);
}

void CoherenceOracle::written_back(const Message& message) {
  const LineAddress address = LineAddress::of(message.address);
  Line& at = line(address);
  const auto found = carried_.find(&message);
  if (found == carried_.end()) {
    if (!message.failed) fail(address, "a write-back that no cache has sent");
    return;
  }
  if (message.failed) {  // it was refused, or lost behind the home
    carried_.erase(found);
    return;
  }
  if (found->second.version < at.memory) {
    fail(address, "a write-back of version " + std::to_string(found->second.version) + " over version " +
                      std::to_string(at.memory));
  }
  at.memory = found->second.version;
  at.lost = false;
  carried_.erase(found);
}

void CoherenceOracle::snoop_answered(const Message& message) {
  const LineAddress address = LineAddress::of(message.address);
  if (snoops_.erase(&message) == 0) fail(address, "an answer to no snoop, or a second one");
  if (in_vain_.erase(&message) != 0 || is_given_up(message)) return;
  if (message.opcode != Opcode::kRspIFwdM && message.opcode != Opcode::kRspSFwdM) return;
  Line& at = line(address);
  at.owed = message.completion;
  at.settle_forwarded();
}

// Pulled, or with the answer to a snoop. What a write past the caches brings takes effect with its answer.
void CoherenceOracle::data_came(const Message& message) {
  const LineAddress address = LineAddress::of(message.address);
  Line& at = line(address);
  if (in_vain_.erase(&message) != 0 || is_given_up(message)) {
    carried_.erase(&message);
    pulls_.erase(&message);
    return;
  }
  const auto pulled = pulls_.find(&message);
  const bool write_back = pulled != pulls_.end() && pulled->second == Opcode::kDirtyEvict;
  const bool snooped = pulled == pulls_.end();
  if (!snooped) pulls_.erase(pulled);
  if (!write_back && !snooped) return;
  const auto found = carried_.find(&message);
  if (found == carried_.end()) {
    fail(address, "data that no cache has sent");
    return;
  }
  const Version version = found->second.version;
  carried_.erase(found);
  if (version < at.memory) {
    fail(address,
         "data of version " + std::to_string(version) + " over version " + std::to_string(at.memory));
  }
  if (write_back) {
    at.memory = version;
  } else {
    at.forwarded = version;
    at.forwarded_by = &message;
    at.settle_forwarded();
  }
}

// The home has failed since it asked, and does nothing with it.
bool CoherenceOracle::is_given_up(const Message& message) {
  if (!losses_ || nodes_.awaits(message)) return false;
  line(LineAddress::of(message.address)).give_up(message);
  return true;
}

void CoherenceOracle::performed(NodeId node, LineAddress address, AccessKind kind, Time now) {
  if (!nodes_.coherent(address)) return;
  ++accesses_;
  Line& at = line(address);
  Version& copy = at.copies[nodes_.cache_at(node)];
  const bool write = kind != AccessKind::kRead;
  if (logs_) {
    log_.push_back(to_text(now) + "  " + number_of(node) + word_of(kind) + to_text(address.address()) +
                   " on version " + std::to_string(copy) + " of " + std::to_string(at.latest));
  }
  const bool overwrites = kind == AccessKind::kWrite && at.poisoned;
  if (copy != at.latest && !overwrites) {
    fail(address, "node " + number_of(node) + (write ? " writes on top of" : " reads") + " version " +
                      std::to_string(copy) + ", and the latest is " + std::to_string(at.latest));
  }
  const LineState held = nodes_.caches()[nodes_.cache_at(node)].agent->held(address);
  if (held == LineState::kInvalid || (write && held != LineState::kDirty))
    fail(address, "node " + number_of(node) + " has no right to what it does");
  if (kind == AccessKind::kAtomic) atomics_.push_back({node, address, copy, false});
  if (write) copy = ++at.latest;
  touch(address);
}

// ---- What must hold

void CoherenceOracle::settled() {
  if (losses_) {
    for (auto& [number, line] : lines_) {
      const DirectoryAgent* const home = nodes_.home_of(LineAddress{number});
      line.note(memory_lost_(LineAddress{number}));
      line.poisoned = line.lost || (home && home->losses() && home->losses()->poisoned(LineAddress{number}));
      check(LineAddress{number});
    }
  }
  for (const LineAddress address : touched_) {
    line(address).touched = false;
    check(address);
  }
  touched_.clear();
}

void CoherenceOracle::check(LineAddress address) {
  std::uint32_t holders = 0;
  std::uint32_t writers = 0;
  std::string owners;
  for (const CoherentNodes::Cache& cache : nodes_.caches()) {
    const LineState held = cache.agent->held(address);
    if (held == LineState::kInvalid) continue;
    ++holders;
    const bool writer = held != LineState::kShared;
    writers += writer ? 1 : 0;
    if (owners.empty()) owners = nodes_.owners_of(address);
    if (!nodes_.follows(address, cache.node)) continue;
    if (!nodes_.lists(owners, cache.node)) {
      fail(address, "node " + number_of(cache.node) + " holds a line of which the filter has " + owners +
                        " as owners");
    } else if (writer && owners != "{" + cache.agent->name() + "}") {
      fail(address, "node " + number_of(cache.node) + " may write a line of which the filter has " + owners +
                        " as owners");
    } else if (writer && nodes_.home_of(address)->line_state(address).front() != 'E') {
      fail(address, "node " + number_of(cache.node) + " may write a line that the filter has as shared");
    }
  }
  if (writers > 0 && holders > 1)
    fail(address, std::to_string(holders) + " caches hold a line that one of them may write");
}

void CoherenceOracle::check_notices(LineAddress address) {
  const std::string owners = nodes_.owners_of(address);
  for (const CoherentNodes::Cache& cache : nodes_.caches()) {
    if (!nodes_.follows(address, cache.node)) continue;
    if (cache.notifies && nodes_.lists(owners, cache.node) &&
        cache.agent->held(address) == LineState::kInvalid) {
      fail(address, "the filter has node " + number_of(cache.node) +
                        " as an owner, which has given notice that the line left");
    }
  }
}

void CoherenceOracle::idle() {
  settled();
  for (const auto& [message, asked] : asked_) {
    fail(asked.line,
         "a request without an answer: " + std::string(kOpcodeNames[static_cast<std::size_t>(asked.opcode)]));
  }
  for (const auto& [message, address] : on_the_way_)
    fail(address, "a message that nobody has acted on: " + describe(*message));
  for (const auto& [message, address] : snoops_) fail(address, "a snoop without an answer");
  for (const auto& [message, address] : conflicts_) fail(address, "a conflict without an answer");
  for (const auto& [message, opcode] : pulls_) {
    fail(LineAddress::of(message->address),
         "data that nobody has sent, of " + std::string(kOpcodeNames[static_cast<std::size_t>(opcode)]));
  }
  for (const auto& [message, data] : carried_) fail(data.line, "data that have not arrived");
  for (const auto& [number, line] : lines_) {
    const LineAddress address{number};
    const DirectoryAgent* const home = nodes_.home_of(address);
    check(address);
    if (!home) continue;
    if (!losses_) check_notices(address);
    const std::string state = home->line_state(address);
    if (state.find('+') != std::string::npos) fail(address, "its home is still at work: " + state);
    bool dirty = false;
    for (const CoherentNodes::Cache& cache : nodes_.caches()) {
      dirty = dirty || cache.agent->held(address) == LineState::kDirty;
    }
    if (!dirty && line.memory != line.latest && !line.poisoned) fail(address, "the latest write is lost");
  }
}

void CoherenceOracle::fail(LineAddress address, const std::string& what) {
  const std::string text = to_text(address.address()) + ": " + what;
  if (logs_) log_.push_back("VIOLATION " + text);
  if (violation_.empty()) violation_ = text;
}

}  // namespace cxloom::test
