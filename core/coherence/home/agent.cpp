#include "coherence/home/agent.hpp"

#include "base/schema.hpp"
#include "component/memory_access.hpp"
#include "component/observed_scope.hpp"

namespace cxloom {

void HomeAgentParams::describe(Schema<HomeAgentParams>& schema) {
  schema.doc(
      "A home agent: an inclusive snoop filter, and snoops of CXL.cache to the caches that hold lines, the "
      "host's own among them.");
  describe_in(schema);
  describe_timeout(schema);
}

HomeAgent::HomeAgent(const HomeAgentParams& params, Endpoint& endpoint, const ComponentContext& context,
                     const VictimRegistry& victims, Agent* memory)
    : RecallingAgent(params, SnoopFilterParams{params.filter}, endpoint, context, victims, memory),
      requester_(endpoint.put_before(Channel::kS2MNDR, *this)),
      cache_(endpoint.put_before(Channel::kD2HReq, *this)) {
  endpoint.put_before(Channel::kS2MDRS, *this);
  for (const Channel channel : {Channel::kD2HRsp, Channel::kD2HData}) endpoint.bind(channel, *this);
  if (!memory) return;
  for (const Channel channel : {Channel::kM2SReq, Channel::kM2SRwD}) endpoint.bind(channel, *this);
}

namespace {

/// It wants something of the line, and does not say that a copy leaves.
bool asks_by_cache(Opcode opcode) { return opcode != Opcode::kDirtyEvict && opcode != Opcode::kCleanEvict; }

}  // namespace

void HomeAgent::receive(Message& message) {
  switch (message.channel) {
    case Channel::kD2HReq:
      if (const auto where = place_of(message.address); keeps(where)) {
        if (down()) [[unlikely]]
          return lose_late(message);
        if (asks_by_cache(message.opcode) && has_left(where)) [[unlikely]]
          return refuse_request(message);
        return admit_request(message);
      }
      ensure(cache_ != nullptr, "a device asks a host without a cache for a line");
      return endpoint().deliver(message, *cache_);
    case Channel::kD2HRsp:
    case Channel::kD2HData: return answered(message);
    case Channel::kS2MNDR:
    case Channel::kS2MDRS: break;
    default: return endpoint().deliver(message, memory());  // of lines that nobody keeps coherent
  }
  if (keeps(place_of(message.address))) {
    answered(message);
  } else {
    endpoint().deliver(message, *requester_);
  }
}

// By a cache or by memory.
void HomeAgent::answered(Message& message) {
  endpoint().release(message, now());
  const ObservedScope handling(*this, message);
  switch (message.channel) {
    case Channel::kD2HRsp: return response(message);
    case Channel::kD2HData: return data(message);
    default: return memory_answered(message);
  }
}

// It is answered as an error.
void HomeAgent::refuse(Message& request) {
  request.failed = true;
  request.size = 0;
}

DirectoryAgent::Wish HomeAgent::wish_of(const Message& request) const {
  switch (request.opcode) {
    case Opcode::kRdCurr: return {.current = true};
    case Opcode::kRdShared: return {.copy = true};
    case Opcode::kRdAny: return {.copy = true, .exclusive = true};
    case Opcode::kRdOwn:
    case Opcode::kRdOwnNoData: return {.copy = true, .own = true};
    default: return {.own = true};
  }
}

// Pulls the data of a modified line, unless a snoop has taken them since: then nobody has them to write.
bool HomeAgent::take_notice(Transaction& transaction) {
  Message& request = *transaction.request;
  if (request.opcode != Opcode::kDirtyEvict && request.opcode != Opcode::kCleanEvict) return false;
  const std::uint32_t peer = peers().known(request.source);
  const Slot slot = filter().find(transaction.line);
  const bool owner = slot != kNoSlot && peer != DirectoryPeers::kNone && filter().has_owner(slot, peer) &&
                     filter().state(slot) == FilterState::kExclusive;
  drop_owner(transaction.line, peer);
  if (request.opcode == Opcode::kDirtyEvict && owner) {
    if (!waits_to_pull(transaction)) pull_line(transaction);
  } else {
    close(transaction);
    // If no snoop has taken the data, the sender was presumed dead, and they are lost.
    if (losses() && request.opcode == Opcode::kDirtyEvict) refuse(request);
    complete(request, Opcode::kGoWritePullDrop);
  }
  return true;
}

// ---- Snoops

void HomeAgent::address_snoop(Snoop& snoop, SnoopFor purpose, std::uint8_t lines) {
  ensure(lines == 0, "a snoop of CXL.cache for a block");
  Message& message = snoop.message;
  switch (purpose) {
    case SnoopFor::kCurrent: message.opcode = Opcode::kSnpCur; break;
    case SnoopFor::kShare: message.opcode = Opcode::kSnpData; break;
    case SnoopFor::kInvalidate: message.opcode = Opcode::kSnpInv; break;
  }
  message.pushes = answers_to(message.destination);
  message.completion = &snoop.data;
  snoop.data.account = &snoop.data_account;
}

void HomeAgent::response(Message& message) {
  Snoop& answered = snoop(message.tag);
  if (!answered.transaction) [[unlikely]]
    return snoop_lost(message);
  switch (message.opcode) {
    case Opcode::kRspSHitSE: answered.left = LineState::kShared; break;
    case Opcode::kRspVHitV: answered.left = LineState::kClean; break;
    case Opcode::kRspIFwdM: answered.brings_data = true; break;
    case Opcode::kRspSFwdM:
      answered.left = LineState::kShared;
      answered.brings_data = true;
      break;
    case Opcode::kRspVFwdV:
      answered.left = LineState::kDirty;
      answered.brings_data = true;
      break;
    default: break;  // it has nothing, or had nothing
  }
  part_of_answer(answered, message, answered.data_in || !answered.brings_data);
}

// Pulled, or with the answer to a snoop.
void HomeAgent::data(Message& message) {
  if (HomePull* const pull = pulls_.of(message)) {
    if (pull->transaction) pulled(*pull);
    return end_pull(*pull);
  }
  Snoop& answered = snoop(message.tag);
  if (!answered.transaction) [[unlikely]]
    return snoop_lost(message);
  answered.data_in = true;
  part_of_answer(answered, message, answered.brings_data);
}

void HomeAgent::pulled(HomePull& pull) {
  Transaction& transaction = *pull.transaction;
  Message* const request = transaction.request;
  if (!request) {
    all_is_here(transaction);
    transaction.buffered = true;
    ++buffered_;
    write_line(transaction, pull.message, nullptr);
    return;
  }
  if (pull.message.account) request->account->join(pull.account);
  request->hops = static_cast<std::uint16_t>(request->hops + pull.message.hops);
  const bool atomic = request->opcode == Opcode::kAtomic;
  access_memory(atomic ? Opcode::kMemAtomic : Opcode::kMemWr, *request, &transaction);
}

// The latest data of the line, on their way to memory. Who gets them meanwhile may lose them again.
void HomeAgent::all_is_here(const Transaction& transaction) {
  if (losses()) [[unlikely]]
    losses()->cure(transaction.line);
}

// `last`: all of the answer is in.
void HomeAgent::part_of_answer(Snoop& snoop, const Message& message, bool last) {
  Transaction& transaction = *snoop.transaction;
  if (!last) return;
  // What was presumed dead since has brought nothing: its line is poisoned.
  const bool owner = !losses() || filter().has_owner(transaction.slot, snoop.peer);
  if (snoop.brings_data && owner) {
    transaction.forwarded = true;
    transaction.owed = snoop.left != LineState::kDirty;
    if (transaction.owed) all_is_here(transaction);
  }
  snoop_answered(snoop, message.channel == Channel::kD2HData ? snoop.data_account : snoop.account);
}

// The request that needed the entry goes on at once, while the line is written.
void HomeAgent::evicted(Transaction& transaction) {
  if (transaction.owed) {
    write_line(transaction, *transaction.evicts_for->request, nullptr);
  } else {
    close(transaction);
  }
}

void HomeAgent::taken_back(Transaction& transaction) {
  if (transaction.owed) {
    write_line(transaction, no_cause(endpoint().id()), nullptr);
  } else {
    close(transaction);
  }
}

// ---- Requests

HomePull& HomeAgent::pull_for(Transaction& transaction, const Message& request) {
  HomePull& pull = pulls_.take(transaction, now());
  Message& message = pull.message;
  message.address = request.address;
  message.size = request.size;
  message.requester = request.requester;
  message.age = request.age;
  message.opcode = Opcode::kWritePull;
  message.channel = Channel::kH2DRsp;
  message.source = endpoint().id();
  message.destination = request.source;
  return pull;
}

// The data of a whole line are called for with the answer to who writes it.
void HomeAgent::pull_line(Transaction& transaction) {
  Message& request = *transaction.request;
  request.completion = &pull_for(transaction, request).message;
  transaction.request = nullptr;
  complete(request, Opcode::kGoWritePull);
}

// Whether the data of a request cannot be called for yet.
bool HomeAgent::waits_to_pull(Transaction& transaction) {
  if (entries_left()) [[likely]]
    return false;
  want_pull_.push_back(&transaction);
  return true;
}

void HomeAgent::end_pull(HomePull& pull) {
  pulls_.give_back(pull);
  pull_next();
}

// Memory has the data of a write: the buffer of the home is free, and with it its place.
void HomeAgent::written(Transaction& transaction) {
  const bool buffered = transaction.buffered;
  close(transaction);
  if (!buffered) return;
  --buffered_;
  leave_place();
  pull_next();
}

void HomeAgent::pull_next() {
  if (want_pull_.empty() || !entries_left()) [[likely]]
    return;
  Transaction& next = *want_pull_.front();
  want_pull_.pop_front();
  next.request->charge(Segment::kHomeQueue, now());
  next.request->opcode == Opcode::kDirtyEvict ? pull_line(next) : serve(next);
}

// Data that a snoop has brought go to the reader at once, and then to
// memory. Memory is read when all snoops are answered, never on speculation.
void HomeAgent::serve(Transaction& transaction) {
  Message& request = *transaction.request;
  switch (request.opcode) {
    case Opcode::kItoMWr:  // of the whole line: what a snoop has brought is overwritten
      if (waits_to_pull(transaction)) return;
      grant(transaction, false);
      return pull_line(transaction);
    case Opcode::kWrInv:
    case Opcode::kAtomic: {
      if (transaction.owed) {  // a part of the line goes on top of it
        write_line(transaction, request, request.account);
        return;
      }
      if (waits_to_pull(transaction)) return;
      HomePull& pull = pull_for(transaction, request);
      if (request.account) {
        pull.account.open(request.account->mark());
        pull.message.account = &pull.account;
      }
      number_answer(pull.message);
      transmit(pull.message, now());
      return;
    }
    case Opcode::kRdOwnNoData: return reply(transaction, 0, false);
    default: break;
  }
  if (transaction.forwarded) {
    reply(transaction, 0, false);
  } else {
    access_memory(Opcode::kMemRd, request, &transaction);
  }
}

void HomeAgent::memory_done(const MemoryAccess& access, const Message& answer) {
  Transaction& transaction = *access.transaction;
  if (losses()) [[unlikely]]
    note_losses(access, answer);
  const bool failed = answer.failed && !answer.poisoned;
  if (!transaction.request) {
    written(transaction);
  } else if (!access.answers) {
    transaction.owed = false;
    serve(transaction);
  } else if (transaction.request->opcode == Opcode::kWrInv ||
             transaction.request->opcode == Opcode::kAtomic) {
    Message& request = *transaction.request;
    if (losses() && !failed) losses()->answers(request);
    grant(transaction, failed);
    request.failed |= failed;
    request.hops = static_cast<std::uint16_t>(request.hops + answer.hops);
    complete(request, request.opcode == Opcode::kAtomic ? Opcode::kH2DData : Opcode::kGoI);
    close(transaction);
  } else {
    reply(transaction, answer.hops, failed);
  }
}

// A whole line was not written; or memory has lost what it had of one.
void HomeAgent::note_losses(const MemoryAccess& access, const Message& answer) {
  if (access.answers ? answer.poisoned : answer.failed) losses()->poison(access.transaction->line);
}

// A request whose data were called for was answered before, or ends now with an error.
void HomeAgent::pull_lost(Message& message) {
  HomePull& pull = *pulls_.of(message);
  if (!pull.transaction) return end_pull(pull);
  Transaction& transaction = *pull.transaction;
  message.charge(Segment::kRetry, now());
  if (Message* const request = transaction.request) {
    if (message.account) request->account->join(pull.account);
    refuse(*request);
    complete(*request, request->opcode == Opcode::kAtomic ? Opcode::kH2DData : Opcode::kGoI);
  } else {
    losses()->poison(transaction.line);
  }
  const bool kept_place = !transaction.request;
  end_pull(pull);
  close(transaction);
  if (kept_place) leave_place();
}

// ---- Its host crashes

// Memory of others keeps what it had, and could not tell which of its lines are old.
void HomeAgent::failed() {
  for (std::uint32_t peer = 0; peer < peers().count(); ++peer) {
    for (const Slot slot : filter().owned_by(peer)) {
      if (filter().state(slot) == FilterState::kExclusive) poison_if_kept(filter().line(slot));
    }
  }
  for_each_under_way([this](const Transaction& transaction) {  // data that memory was to have
    const bool writes = !transaction.request && !transaction.evicts_for && transaction.snoops_left == 0;
    if (transaction.owed || writes) poison_if_kept(transaction.line);
  });
  for (const Transaction* const each : want_pull_) {  // its cache has given the line up
    if (each->request->opcode == Opcode::kDirtyEvict) poison_if_kept(each->line);
  }
  want_pull_.clear();
  pulls_.abandon();
  buffered_ = 0;
  DirectoryAgent::failed();
}

// What is persistent is as it was stored, and the host's own volatile memory is lost as a whole.
void HomeAgent::poison_if_kept(LineAddress line) {
  const auto place = endpoint().system_context().map->find(line.address());
  if (place->target != endpoint().id() && !place->persistent) losses()->poison(line);
}

void HomeAgent::reply(Transaction& transaction, std::uint16_t hops, bool failed) {
  Message& request = *transaction.request;
  if (losses() && !failed && !transaction.forwarded) [[unlikely]]
    losses()->answers(request);
  const Opcode granted = grant(transaction, failed) == LineState::kClean ? Opcode::kGoE : Opcode::kGoS;
  request.hops = static_cast<std::uint16_t>(request.hops + hops);
  request.failed |= failed;
  const bool owed = transaction.owed;
  if (owed) write_line(transaction, request, nullptr);
  transaction.request = nullptr;
  send_completion(request, granted);
  complete(request, request.opcode == Opcode::kRdOwnNoData ? granted : Opcode::kH2DData);
  if (!owed) close(transaction);
}

}  // namespace cxloom
