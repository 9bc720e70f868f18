#include "coherence/dcoh.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "component/component_time.hpp"
#include "component/memory_access.hpp"
#include "kernel/payload.hpp"
#include "protocol/protocol_observer.hpp"

namespace cxloom {

namespace {

bool invalidates(Opcode snoop) { return snoop == Opcode::kBISnpInv || snoop == Opcode::kBISnpInvBlk; }

/// Its requester is to hold a copy of the line.
bool wants_copy(const Message& request) {
  return request.channel == Channel::kM2SReq && request.meta != MetaValue::kInvalid;
}

bool wants_ownership(const Message& request) { return request.snp == SnpType::kSnpInv; }

}  // namespace

Dcoh::Dcoh(const DcohParams& params, Endpoint& endpoint, const ComponentContext& context,
           const VictimRegistry& victims, Agent* memory)
    : Agent(endpoint),
      filter_params_(params.filter),
      victims_(victims),
      seed_(context.seed),
      lookup_time_(params.lookup_time),
      lookup_interval_(params.lookup_interval),
      limit_(params.transactions),
      memory_(memory),
      places_(context.kernel, "a transaction of the coherency agent", endpoint) {
  endpoint.add(*this);
  endpoint.fabric().roles.homes.declare(endpoint, endpoint.id(), *this);
  for (const Channel channel : {Channel::kM2SReq, Channel::kM2SRwD, Channel::kM2SBIRsp})
    endpoint.bind(channel, *this);
  if (memory) return;
  for (const Channel channel : {Channel::kS2MNDR, Channel::kS2MDRS}) endpoint.bind(channel, *this);
}

// Now all caches are known.
void Dcoh::start() {
  filter_ = std::make_unique<SnoopFilter>(filter_params_, std::max(endpoint().fabric().caches, 1U), victims_,
                                          RandomStream(seed_, endpoint().name(), "filter victims"));
}

Time Dcoh::now() const { return endpoint().now(); }

std::optional<AddressMap::Place> Dcoh::place(const Message& message) const {
  const auto place = endpoint().fabric().map.find(message.address);
  ensure(place.has_value(), "a request to an address that no region holds");
  if (!place->coherent || place->home != endpoint().id()) return std::nullopt;
  return place;
}

// Who has never asked for a copy has no number.
std::uint32_t Dcoh::known_peer(NodeId node) const {
  return node.index() < peer_of_node_.size() ? peer_of_node_[node.index()] : kNoPeer;
}

std::uint32_t Dcoh::peer_of(NodeId node) {
  if (peer_of_node_.size() <= node.index()) peer_of_node_.resize(node.index() + 1, kNoPeer);
  std::uint32_t& peer = peer_of_node_[node.index()];
  if (peer == kNoPeer) {
    peer = static_cast<std::uint32_t>(peers_.size());
    peers_.push_back(node);
  }
  return peer;
}

// ---- What comes in

void Dcoh::receive(Message& message) {
  switch (message.channel) {
    case Channel::kM2SReq:
    case Channel::kM2SRwD: break;
    case Channel::kM2SBIRsp: endpoint().release(message, now()); return snoop_answered(message);
    default: endpoint().release(message, now()); return memory_answered(message);
  }
  if (!place(message)) {  // of memory that is not kept coherent, or not here
    ensure(memory_ != nullptr, "a request to memory that is not here");
    memory_->receive(message);
    return;
  }
  if (message.channel == Channel::kM2SReq) {
    if (limit_ && admitted_ == *limit_) {
      if (outside_.empty()) places_.join(*this, now());
      outside_.push(message);
      ++outside_count_;
    } else {
      admit(message);
    }
    return;
  }
  // What has data, or asks, needs no place: the end of a snoop may depend on it.
  endpoint().release(message, now());
  if (message.opcode != Opcode::kBIConflict) {
    look_up(message);
    return;
  }
  if (window_open_) ++counts_.conflicts;
  const LineAddress line = LineAddress::of(message.address);
  note(message, line, watched_state(line));
  complete(message, Opcode::kBIConflictAck);
}

void Dcoh::admit(Message& message) {
  ++admitted_;
  endpoint().release(message, now());
  look_up(message);
}

void Dcoh::look_up(Message& message) {
  const Time start = std::max(now(), next_lookup_);
  next_lookup_ = start + lookup_interval_;
  message.charge(Segment::kHomeQueue, now());
  message.charge(Segment::kFilter, start + lookup_time_);
  endpoint().kernel().schedule(start + lookup_time_, endpoint().source(), *this, kLookedUp,
                               payload_of(message));
}

void Dcoh::wake(std::uint8_t /*kind*/, std::uint64_t payload) {
  Message& message = object_of<Message>(payload);
  if (message.opcode == Opcode::kMemWr && message.snp == SnpType::kNoOp) {
    write_back(message);
  } else {
    begin(message);
  }
}

// ---- Requests, of a line one after the other

void Dcoh::begin(Message& message) {
  const LineAddress line = LineAddress::of(message.address);
  if (Transaction* const under_way = lines_.find(line)) {
    under_way->waiting.push(message);
    return;
  }
  Transaction& transaction = transactions_.take();
  transaction.line = line;
  transaction.request = &message;
  const std::string before = watched_state(line);
  lines_.add(line, transaction);
  note(message, line, before);
  proceed(transaction);
}

void Dcoh::proceed(Transaction& transaction) {
  Message& request = *transaction.request;
  const LineAddress line = transaction.line;
  request.charge(Segment::kHomeQueue, now());
  if (request.opcode == Opcode::kMemClnEvct) {
    drop_owner(line, known_peer(request.source));
    close(transaction);
    complete(request, Opcode::kCmp);
    return;
  }
  const Slot slot = filter_->find(line);
  if (window_open_) ++(slot == kNoSlot ? counts_.filter_misses : counts_.filter_hits);
  if (slot != kNoSlot) {
    filter_->touch(slot);
    take_entry(transaction, slot);
    snoop_others(transaction);
  } else if (wants_copy(request)) {
    make_room(transaction);
  } else {
    access_memory(transaction);
  }
}

void Dcoh::take_entry(Transaction& transaction, Slot slot) {
  transaction.slot = slot;
  filter_->pin(slot);
}

// Its line gets an entry, before anybody can hold it.
void Dcoh::make_room(Transaction& transaction) {
  transaction.request->charge(Segment::kHomeQueue, now());
  if (filter_->has_room(transaction.line)) {
    take_entry(transaction, filter_->insert(transaction.line, FilterState::kShared));
    access_memory(transaction);
    return;
  }
  const SnoopFilter::Victims victims = filter_->victims_for(transaction.line);
  if (victims.empty()) {
    want_room_.push_back(&transaction);
  } else {
    evict(victims, transaction);
  }
}

void Dcoh::retry_waiting_for_room() {
  freed_again_ = true;
  if (retrying_ || want_room_.empty()) return;
  retrying_ = true;
  do {
    freed_again_ = false;
    const std::vector<Transaction*> waiting = std::exchange(want_room_, {});
    for (Transaction* const transaction : waiting) make_room(*transaction);
  } while (freed_again_ && !want_room_.empty());
  retrying_ = false;
}

// ---- Evictions from the filter

void Dcoh::evict(const SnoopFilter::Victims& victims, Transaction& transaction) {
  const bool full = filter_->occupied() == filter_->capacity();
  Transaction* first = nullptr;
  Transaction* last = nullptr;
  for (const Slot slot : victims) {
    Transaction& eviction = transactions_.take();
    eviction.line = filter_->line(slot);
    take_entry(eviction, slot);
    lines_.add(eviction.line, eviction);
    (last ? last->block : first) = &eviction;
    last = &eviction;
    if (window_open_) ++(full ? counts_.evictions_capacity : counts_.evictions_conflict);
  }
  first->evicts_for = &transaction;
  first->snooped_at = now();
  const auto lines = static_cast<std::uint8_t>(victims.size());
  for (std::uint32_t peer = 0; peer < peers_.size(); ++peer) {
    std::uint32_t held = 0;
    for (const Slot slot : victims) held += filter_->has_owner(slot, peer) ? 1 : 0;
    if (held == 0) continue;
    if (window_open_) counts_.lines_invalidated += held;
    ++first->snoops_left;
    if (lines == 1) {
      snoop(*first, peer, Opcode::kBISnpInv, 0, *transaction.request);
    } else {
      snoop(*first, peer, Opcode::kBISnpInvBlk, lines, *transaction.request);
    }
  }
  ensure(first->snoops_left > 0, "an entry of the snoop filter without an owner");
}

// The entries are free: the request that needed one gets it before anybody else can.
void Dcoh::finish_eviction(Transaction& first) {
  Transaction& wanting = *first.evicts_for;
  for (Transaction* line = &first; line; line = line->block) {
    filter_->erase(line->slot);
    line->slot = kNoSlot;
  }
  take_entry(wanting, filter_->insert(wanting.line, FilterState::kShared));
  wanting.request->charge(Segment::kHomeQueue, now());
  for (Transaction* line = &first; line;) close(*std::exchange(line, line->block));
  access_memory(wanting);
}

// ---- Snoops

void Dcoh::snoop_others(Transaction& transaction) {
  const Message& request = *transaction.request;
  const Slot slot = transaction.slot;
  const std::uint32_t self = known_peer(request.source);
  const bool exclusive = filter_->state(slot) == FilterState::kExclusive;
  Opcode opcode = Opcode::kBISnpInv;
  if (!wants_ownership(request)) {
    opcode = request.snp == SnpType::kSnpCur ? Opcode::kBISnpCur : Opcode::kBISnpData;
    if (!exclusive) {
      access_memory(transaction);
      return;
    }
  }
  transaction.snooped_at = now();
  for (std::uint32_t peer = 0; peer < peers_.size(); ++peer) {
    if (peer == self || !filter_->has_owner(slot, peer)) continue;
    if (window_open_ && invalidates(opcode)) ++counts_.lines_invalidated;
    ++transaction.snoops_left;
    snoop(transaction, peer, opcode, 0, request);
  }
  if (transaction.snoops_left == 0) access_memory(transaction);
}

// `cause` is the request that waits for it.
void Dcoh::snoop(Transaction& transaction, std::uint32_t peer, Opcode opcode, std::uint8_t lines,
                 const Message& cause) {
  if (window_open_) ++counts_.bisnp_sent;
  Snoop& snoop = snoops_.take();
  snoop.peer = peer;
  snoop.transaction = &transaction;
  snoop.account.mark = now();
  Message& message = snoop.message;
  message.opcode = opcode;
  message.channel = channel_of(opcode);
  message.address = transaction.line.address();
  message.lines = lines;
  message.source = endpoint().id();
  message.destination = peers_[peer];
  message.requester = cause.requester;
  message.age = cause.age;
  message.tag = snoop.index;
  message.account = &snoop.account;
  transmit(message, now());
}

void Dcoh::snoop_answered(Message& message) {
  Snoop& snoop = snoops_.at(message.tag);
  Transaction& transaction = *snoop.transaction;
  const std::string before = watched_state(transaction.line);
  const bool gone = message.opcode == Opcode::kBIRspI || message.opcode == Opcode::kBIRspIBlk;
  const bool shared = message.opcode == Opcode::kBIRspS || message.opcode == Opcode::kBIRspSBlk;
  for (Transaction* line = &transaction; line; line = line->block) {
    if (gone) filter_->remove_owner(line->slot, snoop.peer);
    if (shared) filter_->set_state(line->slot, FilterState::kShared);
  }
  note(message, transaction.line, before);
  const Account account = snoop.account;
  snoops_.give_back(snoop);
  if (--transaction.snoops_left > 0) return;
  Message& cause = transaction.request ? *transaction.request : *transaction.evicts_for->request;
  if (cause.account) cause.account->join(account);
  if (window_open_ && (!transaction.request || wants_ownership(*transaction.request))) {
    ++counts_.invalidations;
    counts_.invalidation_wait_ps += static_cast<Wide>((now() - transaction.snooped_at).ps());
  }
  if (transaction.request) {
    access_memory(transaction);
  } else {
    finish_eviction(transaction);
  }
}

// A pinned entry goes with the transaction that pins it.
void Dcoh::drop_owner(LineAddress line, std::uint32_t peer) {
  const Slot slot = filter_->find(line);
  if (slot == kNoSlot || peer == kNoPeer) return;
  filter_->remove_owner(slot, peer);
  if (filter_->owner_count(slot) > 0 || filter_->pinned(slot)) return;
  filter_->erase(slot);
  retry_waiting_for_room();
}

// ---- Memory

void Dcoh::access_memory(Transaction& transaction) {
  Message& request = *transaction.request;
  if (request.opcode == Opcode::kMemInv) {
    reply(transaction, 0, false);
    return;
  }
  Access& access = accesses_.take();
  access.answers = &request;
  access.transaction = &transaction;
  send_to_memory(access, request.opcode == Opcode::kMemWr ? Opcode::kMemWr : Opcode::kMemRd);
}

void Dcoh::send_to_memory(Access& access, Opcode opcode) {
  const Message& cause = *access.answers;
  const auto place = endpoint().fabric().map.find(cause.address);
  Message& message = access.message;
  address_to(*place, *this, message, opcode, cause.address, cause.size);
  message.destination = place->target;
  message.requester = cause.requester;
  message.account = cause.account;
  message.age = cause.age;
  message.tag = access.index;
  if (place->target == endpoint().id()) {
    Endpoint::hand_over(message, *memory_);
  } else {
    transmit(message, now());
  }
}

void Dcoh::memory_answered(Message& message) {
  if (!place(message)) {  // of memory that is not kept coherent
    transmit(message, now());
    return;
  }
  Access& access = accesses_.at(message.tag);
  Message& answered = *access.answers;
  Transaction* const transaction = access.transaction;
  const std::uint16_t hops = message.hops;
  const bool failed = message.failed;
  accesses_.give_back(access);
  if (transaction && transaction->request) {
    reply(*transaction, hops, failed);
    return;
  }
  answered.hops = static_cast<std::uint16_t>(answered.hops + hops);
  complete(answered, Opcode::kCmp);
  if (transaction) close(*transaction);
}

// Somebody who owned the line writes it, and nobody else holds it: there is nothing to wait for. Requests to the line wait until
// it is written, so that they cannot pass it on the way to the memory.
void Dcoh::write_back(Message& message) {
  const LineAddress line = LineAddress::of(message.address);
  const std::string before = watched_state(line);
  if (message.meta == MetaValue::kInvalid) {
    drop_owner(line, known_peer(message.source));
  } else if (message.meta == MetaValue::kShared) {
    if (const Slot slot = filter_->find(line); slot != kNoSlot)
      filter_->set_state(slot, FilterState::kShared);
  }
  Access& access = accesses_.take();
  access.answers = &message;
  if (!lines_.find(line)) {  // who snoops the line goes on when the snoop is answered, after this
    Transaction& transaction = transactions_.take();
    transaction.line = line;
    lines_.add(line, transaction);
    if (const Slot slot = filter_->find(line); slot != kNoSlot) take_entry(transaction, slot);
    access.transaction = &transaction;
  }
  note(message, line, before);
  send_to_memory(access, Opcode::kMemWr);
}

// ---- Answers

void Dcoh::reply(Transaction& transaction, std::uint16_t hops, bool failed) {
  Message& request = *transaction.request;
  const Slot slot = transaction.slot;
  bool exclusive = false;
  if (wants_copy(request) && !failed) {
    const std::uint32_t self = peer_of(request.source);
    const bool alone = filter_->owner_count(slot) == (filter_->has_owner(slot, self) ? 1U : 0U);
    exclusive = wants_ownership(request) || (request.meta == MetaValue::kAny && alone);
    filter_->add_owner(slot, self);
    filter_->set_state(slot, exclusive ? FilterState::kExclusive : FilterState::kShared);
  } else if (wants_ownership(request) && slot != kNoSlot) {
    filter_->clear_owners(slot);
  }
  request.hops = static_cast<std::uint16_t>(request.hops + hops);
  request.failed |= failed;
  const Opcode granted = exclusive ? Opcode::kCmpE : Opcode::kCmpS;
  Message* const completion = request.completion;
  if (completion) {
    *completion->account = *request.account;
    completion->opcode = granted;
    completion->channel = channel_of(granted);
    completion->address = request.address;
    completion->source = endpoint().id();
    completion->destination = request.source;
    completion->requester = request.requester;
    completion->age = request.age;
    transmit(*completion, now());
  }
  if (request.opcode == Opcode::kMemInv) {
    complete(request, granted);
  } else if (request.opcode == Opcode::kMemWr) {
    complete(request, Opcode::kCmp);
  } else {
    complete(request, Opcode::kMemData);
  }
  close(transaction);
}

void Dcoh::complete(Message& message, Opcode opcode) {
  const bool had_place = message.channel == Channel::kM2SReq;
  message.opcode = opcode;
  message.channel = channel_of(opcode);
  std::swap(message.source, message.destination);
  if (ProtocolObserver* const observer = endpoint().fabric().observer) [[unlikely]]
    observer->sent(message, now());
  transmit(message, now());
  if (!had_place) return;
  --admitted_;
  if (outside_.empty()) return;
  --outside_count_;
  Message& next = outside_.pop();
  if (outside_.empty()) places_.leave(*this);
  admit(next);
}

void Dcoh::close(Transaction& transaction) {
  if (transaction.slot != kNoSlot) {
    if (filter_->owner_count(transaction.slot) == 0) {
      filter_->erase(transaction.slot);
    } else {
      filter_->unpin(transaction.slot);
    }
  }
  lines_.remove(transaction.line);
  MessageQueue waiting = transaction.waiting;
  transactions_.give_back(transaction);
  while (!waiting.empty()) begin(waiting.pop());
  retry_waiting_for_room();
}

// ---- For people

std::string Dcoh::line_state(LineAddress line) const {
  std::string text = "I";
  if (const Slot slot = filter_->find(line); slot != kNoSlot && filter_->owner_count(slot) > 0) {
    text = filter_->state(slot) == FilterState::kExclusive ? "E{" : "S{";
    std::string between;
    for (std::uint32_t peer = 0; peer < peers_.size(); ++peer) {
      if (!filter_->has_owner(slot, peer)) continue;
      text += between + std::to_string(peers_[peer].index());
      between = ",";
    }
    text += '}';
  }
  const Transaction* const transaction = lines_.find(line);
  if (!transaction) return text;
  text += transaction->request
              ? "+" + std::string(kOpcodeNames[static_cast<std::size_t>(transaction->request->opcode)])
          : transaction->slot != kNoSlot && transaction->snoops_left > 0 ? "+evict"
                                                                         : "+busy";
  return text;
}

std::string Dcoh::watched_state(LineAddress line) const {
  return endpoint().fabric().observer ? line_state(line) : std::string();
}

void Dcoh::note(const Message& message, LineAddress line, const std::string& before) const {
  if (ProtocolObserver* const observer = endpoint().fabric().observer) [[unlikely]]
    observer->handled(message, endpoint().id(), now(), before, line_state(line));
}

void Dcoh::open_window(Time /*now*/) {
  window_open_ = true;
  counts_ = {};
}

void Dcoh::close_window(Time /*now*/) {
  window_open_ = false;
  counts_.filter_entries = filter_->occupied();
}

std::string Dcoh::activity() const {
  if (lines_.lines() == 0 && outside_count_ == 0) return {};
  return counted(lines_.lines(), "line") + " under way in the coherency agent, " +
         std::to_string(outside_count_) + " requests waiting outside, " + counted(snoops_.live(), "snoop") +
         " without an answer";
}

}  // namespace cxloom
