#include "coherence/home/directory_agent.hpp"

#include <algorithm>
#include <utility>

#include "coherence/common/coherence_home.hpp"
#include "component/component_time.hpp"
#include "component/failures.hpp"
#include "component/memory_access.hpp"
#include "component/observed_scope.hpp"
#include "kernel/event_handler.hpp"
#include "protocol/address_map.hpp"
#include "protocol/error_answer.hpp"

namespace cxloom {

DirectoryAgent::DirectoryAgent(const DirectoryParams& params, const SnoopFilterParams& filter,
                               Endpoint& endpoint, const ComponentContext& context,
                               const VictimRegistry& victims, Agent* memory)
    : Agent(endpoint),
      filter_params_(filter),
      victims_(victims),
      seed_(context.seed),
      lookup_time_(params.lookup_time),
      lookup_interval_(params.lookup_interval),
      memory_(memory),
      answer_timeout_(params.answer_timeout),
      places_(params.transactions, context.kernel, endpoint),
      counts_(context.kernel) {
  endpoint.add(*this);
  endpoint.system_context().roles.declare<CoherenceHome>(endpoint, endpoint.id(), *this);
}

Time DirectoryAgent::now() const { return endpoint().now(); }

// Now all caches are known.
void DirectoryAgent::start() {
  filter_ = std::make_unique<SnoopFilter>(filter_params_, endpoint().system_context().cache_count(), victims_,
                                          RandomStream(seed_, endpoint().name(), "filter victims"));
  if (endpoint().system_context().failures) losses_ = std::make_unique<LineLosses>(*filter_, counts_);
}

// ---- Requests, of a line one after the other

[[gnu::hot]] void DirectoryAgent::look_up(Message& message) {
  filter_->foresee_entry(LineAddress::of(message.address));  // its cell was asked for when it was sent
  ++lookups_;
  const Time start = std::max(now(), next_lookup_);
  next_lookup_ = start + lookup_interval_;
  message.charge(Segment::kHomeQueue, now());
  message.charge(Segment::kFilter, start + lookup_time_);
  endpoint().kernel().schedule(start + lookup_time_, endpoint().source(), *this, kLookedUp,
                               payload_of(message));
}

[[gnu::hot]] void DirectoryAgent::wake(std::uint8_t /*kind*/, std::uint64_t payload) {
  Message& message = object_of<Message>(payload);
  --lookups_;
  if (lookups_gone_ > 0) [[unlikely]] {
    --lookups_gone_;
    return lose(message);
  }
  if (!take_out_of_turn(message)) begin(message);
}

[[gnu::hot]] void DirectoryAgent::begin(Message& message) {
  const LineAddress line = LineAddress::of(message.address);
  if (Transaction* const under_way = work_.lines.find(line)) {
    under_way->waiting.push(message);
    return;
  }
  const ObservedScope handling(*this, message);
  Transaction& transaction = open(line);
  transaction.request = &message;
  proceed(transaction);
}

[[gnu::hot]] void DirectoryAgent::proceed(Transaction& transaction) {
  transaction.request->charge(Segment::kHomeQueue, now());
  if (take_notice(transaction)) return;
  const Slot slot = filter_->find(transaction.line);
  ++(slot == kNoSlot ? counts_->filter_misses : counts_->filter_hits);
  if (slot != kNoSlot) {
    filter_->touch(slot);
    take_entry(transaction, slot);
  }
  if (!ask_first(transaction)) go_on(transaction);
}

[[gnu::hot]] void DirectoryAgent::go_on(Transaction& transaction) {
  if (transaction.write_backs > 0) {  // which the memory is to have first
    transaction.waits_for_write_backs = true;
    return;
  }
  transaction.request->charge(Segment::kHomeQueue, now());
  const Wish wish = wish_of(*transaction.request);
  if (transaction.slot != kNoSlot) {
    snoop_others(transaction, wish);
  } else if (wish.copy) {
    make_room(transaction);
  } else {
    serve(transaction);
  }
}

[[gnu::hot]] DirectoryAgent::Transaction& DirectoryAgent::open(LineAddress line) {
  Transaction& transaction = work_.transactions.take();
  transaction.line = line;
  transaction.open = true;
  work_.lines.add(transaction);
  return transaction;
}

// Its line gets an entry, before anybody can hold it.
[[gnu::hot]] void DirectoryAgent::make_room(Transaction& transaction) {
  transaction.request->charge(Segment::kHomeQueue, now());
  if (filter_->has_room(transaction.line)) {
    take_entry(transaction, filter_->insert(transaction.line, FilterState::kShared));
    serve(transaction);
    return;
  }
  const SnoopFilter::Victims victims = filter_->victims_for(transaction.line);
  if (victims.empty()) {
    want_room_.push_back(&transaction);
  } else {
    evict(victims, transaction);
  }
}

void DirectoryAgent::make_room_for_waiting() {
  retrying_ = true;
  do {
    freed_again_ = false;
    const std::vector<Transaction*> waiting = std::exchange(want_room_, {});
    for (Transaction* const transaction : waiting) make_room(*transaction);
  } while (freed_again_ && !want_room_.empty());
  retrying_ = false;
}

// ---- Evictions from the filter

void DirectoryAgent::evict(const SnoopFilter::Victims& victims, Transaction& transaction) {
  const bool full = filter_->occupied() == filter_->capacity();
  Transaction* first = nullptr;
  Transaction* last = nullptr;
  for (const Slot slot : victims) {
    Transaction& eviction = open(filter_->line(slot));
    take_entry(eviction, slot);
    (last ? last->block : first) = &eviction;
    last = &eviction;
    ++(full ? counts_->evictions_capacity : counts_->evictions_conflict);
  }
  first->evicts_for = &transaction;
  first->asked_at = now();
  const auto lines = static_cast<std::uint8_t>(victims.size());
  for (std::uint32_t peer = 0; peer < peers_.count(); ++peer) {
    std::uint32_t held = 0;
    for (const Slot slot : victims) held += filter_->has_owner(slot, peer) ? 1 : 0;
    if (held == 0) continue;
    counts_->lines_invalidated += held;
    ++first->snoops_left;
    const std::uint8_t block = lines == 1 ? 0 : lines;
    send_snoop(*first, first->line, peer, SnoopFor::kInvalidate, block, *transaction.request);
  }
  ensure(first->snoops_left > 0, "an entry of the snoop filter without an owner");
}

// The entries are free: the request that needed one gets it before anybody else can.
void DirectoryAgent::finish_eviction(Transaction& first) {
  Transaction& wanting = *first.evicts_for;
  for (Transaction* line = &first; line; line = line->block) {
    filter_->erase(line->slot);
    line->slot = kNoSlot;
  }
  take_entry(wanting, filter_->insert(wanting.line, FilterState::kShared));
  wanting.request->charge(Segment::kHomeQueue, now());
  for (Transaction* line = &first; line;) evicted(*std::exchange(line, line->block));
  serve(wanting);
}

// ---- Snoops

[[gnu::hot]] void DirectoryAgent::snoop_others(Transaction& transaction, Wish wish) {
  const Message& request = *transaction.request;
  const Slot slot = transaction.slot;
  // What a root complex asks for another is not its own cache's, which is snooped as any.
  const std::uint32_t self =
      request.requester == request.source ? peers_.known(request.source) : DirectoryPeers::kNone;
  if (!wish.own && filter_->state(slot) == FilterState::kShared) {  // they may go on reading
    serve(transaction);
    return;
  }
  const SnoopFor purpose = wish.own       ? SnoopFor::kInvalidate
                           : wish.current ? SnoopFor::kCurrent
                                          : SnoopFor::kShare;
  transaction.asked_at = now();
  for (std::uint32_t peer = 0; peer < peers_.count(); ++peer) {
    if (peer == self || !filter_->has_owner(slot, peer)) continue;
    if (wish.own) ++counts_->lines_invalidated;
    ++transaction.snoops_left;
    send_snoop(transaction, transaction.line, peer, purpose, 0, request);
  }
  if (transaction.snoops_left == 0) serve(transaction);
}

void DirectoryAgent::send_snoop(Transaction& transaction, LineAddress line, std::uint32_t peer,
                                SnoopFor purpose, std::uint8_t lines, const Message& cause) {
  ++counts_->snoops_sent;
  Snoop& snoop = work_.snoops.take();
  snoop.peer = peer;
  snoop.transaction = &transaction;
  snoop.purpose = purpose;
  snoop.account.open(now());
  Message& message = snoop.message;
  message.address = line.address();
  message.lines = lines;
  message.source = endpoint().id();
  message.destination = peers_.node(peer);
  message.requester = cause.requester;
  message.age = cause.age;
  message.tag = snoop.index;
  message.account = &snoop.account;
  address_snoop(snoop, purpose, lines);
  message.channel = channel_of(message.opcode);
  transmit(message, now());
}

void DirectoryAgent::snoop_answered(Snoop& snoop, const Account& account) {
  Transaction& transaction = *snoop.transaction;
  // The filter does not follow the cache for a line that was asked for first.
  for (Transaction* line = transaction.asks ? nullptr : &transaction; line; line = line->block) {
    if (snoop.left == LineState::kInvalid) filter_->remove_owner(line->slot, snoop.peer);
    if (snoop.left == LineState::kShared) filter_->set_state(line->slot, FilterState::kShared);
  }
  const Account last = account;
  snoop.transaction = nullptr;
  if (!snoop.rest) work_.snoops.give_back(snoop);
  if (--transaction.snoops_left > 0) return;
  const Transaction& waits = transaction.evicts_for ? *transaction.evicts_for : transaction;
  if (waits.request && waits.request->account) waits.request->account->join(last);
  if (!transaction.request || wish_of(*transaction.request).own) {
    ++counts_->invalidations;
    counts_->invalidation_wait += now() - transaction.asked_at;
  }
  if (std::exchange(transaction.asks, false)) {
    asked(transaction);
  } else if (losses_ && transaction.request && transaction.write_backs > 0) {  // the answer was lost
    transaction.waits_for_write_backs = true;
  } else if (transaction.request) {
    serve(transaction);
  } else if (transaction.evicts_for) {
    finish_eviction(transaction);
  } else {
    taken_back(transaction);
  }
}

void DirectoryAgent::snoop_lost(Message& message) {
  Snoop& snoop = work_.snoops.at(message.tag);
  if (!snoop.transaction) return work_.rest_came(snoop, message);
  ++counts_->snoops_timed_out;
  message.charge(Segment::kRetry, now());
  snoop.rest = snoop.other_part_comes(message);
  presume_dead(snoop.peer);
  snoop_answered(snoop, *message.account);
  retry_waiting_for_room();
}

void DirectoryAgent::failed() {
  down_ = true;
  const auto lose_it = [this](Message& message) { lose(message); };
  work_.abandon(lose_it);
  want_room_.clear();
  for (MessageQueue outside = places_.abandon(now()); !outside.empty();) {
    Message& message = outside.pop();
    endpoint().release(message, now());
    lose(message);
  }
  lookups_gone_ = lookups_;
  filter_->clear();
}

void DirectoryAgent::lose(Message& message) {
  message.charge(Segment::kHomeQueue, now());
  endpoint().system_context().failures->lose_inside(message, now());
}

[[gnu::hot]] LineState DirectoryAgent::grant(Transaction& transaction, bool failed) {
  const Message& request = *transaction.request;
  const Wish wish = wish_of(request);
  const Slot slot = transaction.slot;
  if (!wish.copy || failed) {
    if (wish.own && !failed && slot != kNoSlot) filter_->clear_owners(slot);
    return LineState::kInvalid;
  }
  const std::uint32_t self = peer_of(request.source);
  const bool alone = filter_->owned_by_none_but(slot, self);
  const bool exclusive = wish.own || (wish.exclusive && alone && !transaction.shared_outside);
  filter_->add_owner(slot, self);
  filter_->set_state(slot, exclusive ? FilterState::kExclusive : FilterState::kShared);
  return exclusive ? LineState::kClean : LineState::kShared;
}

// ---- Memory

[[gnu::hot]] void DirectoryAgent::access_memory(Opcode opcode, Message& answers, Transaction* transaction,
                                                Transaction* behind) {
  MemoryAccess& access = work_.accesses.take();
  access.answers = &answers;
  access.transaction = transaction;
  access.behind = behind;
  access.message.account = answers.account;
  send_to_memory(access, opcode, answers.address, answers.size, answers);
}

void DirectoryAgent::write_line(Transaction& transaction, const Message& cause, Account* account) {
  MemoryAccess& access = work_.accesses.take();
  access.transaction = &transaction;
  access.message.account = account;
  send_to_memory(access, Opcode::kMemWr, transaction.line.address(), kLineBytes, cause);
}

[[gnu::hot]] void DirectoryAgent::send_to_memory(MemoryAccess& access, Opcode opcode, Address address,
                                                 std::uint16_t size, const Message& cause) {
  const AddressMap::DecodedAddress place = place_of(address);
  Message& message = access.message;
  fill_in(place, *this, message, opcode, address, size);
  message.version = cause.version;
  message.destination = place.target;
  message.requester = cause.requester;
  message.age = cause.age;
  message.tag = access.index;
  if (place.target == endpoint().id()) {
    Endpoint::send_within(message, *memory_);
  } else {
    transmit(message, now());
  }
}

[[gnu::hot]] void DirectoryAgent::memory_answered(Message& message) {
  MemoryAccess* const own = work_.accesses.find(message.tag);
  if (!own || &own->message != &message) {                   // of memory that is not kept coherent
    if (down_ || is_request(message)) return lose(message);  // it was there when the device failed
    return transmit(message, now());
  }
  MemoryAccess& access = *own;
  Transaction* const behind = access.behind;
  if (access.gone) [[unlikely]] {
    if (access.answers) lose(*access.answers);
  } else {
    memory_done(access, message);
  }
  work_.give_back(access);
  if (!behind || --behind->write_backs > 0) return;
  if (behind->ends_with_write_backs) {
    close(*behind);
  } else if (std::exchange(behind->waits_for_write_backs, false)) {
    go_on(*behind);
  }
}

// ---- Answers

[[gnu::hot]] void DirectoryAgent::send_completion(Message& request, Opcode opcode) {
  Message* const completion = request.completion;
  if (!completion) return;
  *completion->account = *request.account;
  completion->opcode = opcode;
  completion->channel = channel_of(opcode);
  completion->address = request.address;
  completion->source = endpoint().id();
  completion->destination = request.source;
  completion->requester = request.requester;
  completion->age = request.age;
  number_answer(*completion);
  transmit(*completion, now());
}

[[gnu::hot]] void DirectoryAgent::complete(Message& message, Opcode opcode) {
  const bool had_place = message.channel == request_channel();
  message.opcode = opcode;
  message.channel = channel_of(opcode);
  std::swap(message.source, message.destination);
  if (message.channel == Channel::kH2DRsp || message.channel == Channel::kS2MNDR) number_answer(message);
  transmit(message, now());
  if (had_place && opcode != Opcode::kGoWritePull) leave_place();
}

void DirectoryAgent::leave_place() {
  if (Message* const next = places_.leave(now())) admit(*next);
}

[[gnu::hot]] void DirectoryAgent::close(Transaction& transaction) {
  if (transaction.write_backs > 0) {  // the next request to the line must not overtake them
    transaction.request = nullptr;
    transaction.ends_with_write_backs = true;
    return;
  }
  if (transaction.slot != kNoSlot) {
    if (!filter_->has_owners(transaction.slot)) {
      filter_->erase(transaction.slot);
    } else {
      filter_->unpin(transaction.slot);
    }
  }
  work_.lines.remove(transaction);
  MessageQueue waiting = transaction.waiting;
  const bool in_page = transaction.in_page;
  const LineAddress line = transaction.line;
  transaction.open = false;
  work_.transactions.give_back(transaction);
  if (takes_back_) [[unlikely]]
    take_back(line);
  while (!waiting.empty()) begin(waiting.pop());
  retry_waiting_for_room();
  if (in_page) closed(line);
}

// ---- For people

std::string DirectoryAgent::line_state(LineAddress line) const {
  std::string text = "I";
  if (const Slot slot = filter_->find(line); slot != kNoSlot && filter_->has_owners(slot)) {
    text = filter_->state(slot) == FilterState::kExclusive ? "E{" : "S{";
    std::string between;
    for (std::uint32_t peer = 0; peer < peers_.count(); ++peer) {
      if (!filter_->has_owner(slot, peer)) continue;
      text += between + endpoint().system_context().name_of(peers_.node(peer));
      between = ",";
    }
    text += '}';
  }
  const Transaction* const transaction = work_.lines.find(line);
  return transaction ? text + transaction->described() : text;
}

std::string DirectoryAgent::activity() const {
  if (work_.lines.lines() == 0 && places_.waiting() == 0) return {};
  return counted(work_.lines.lines(), "line") + " under way in the coherency agent, " +
         std::to_string(places_.waiting()) + " requests waiting outside, " +
         counted(work_.snoops.live(), "snoop") + " without an answer";
}

}  // namespace cxloom
