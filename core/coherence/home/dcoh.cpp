#include "coherence/home/dcoh.hpp"

#include "base/schema.hpp"
#include "component/memory_access.hpp"
#include "component/observed_scope.hpp"

namespace cxloom {

void DcohParams::describe(Schema<DcohParams>& schema) {
  schema.doc(
      "A coherency agent (DCOH): an inclusive snoop filter, and back-invalidate snoops to the caches that "
      "hold lines of its memory.");
  describe_in(schema);
}

Dcoh::Dcoh(const DcohParams& params, Endpoint& endpoint, const ComponentContext& context,
           const VictimRegistry& victims, Agent* memory)
    : Dcoh(params, params.filter, endpoint, context, victims, memory) {}

Dcoh::Dcoh(const DirectoryParams& params, const SnoopFilterParams& filter, Endpoint& endpoint,
           const ComponentContext& context, const VictimRegistry& victims, Agent* memory)
    : RecallingAgent(params, filter, endpoint, context, victims, memory) {
  for (const Channel channel : {Channel::kM2SReq, Channel::kM2SRwD, Channel::kM2SBIRsp})
    endpoint.bind(channel, *this);
  if (memory) return;
  for (const Channel channel : {Channel::kS2MNDR, Channel::kS2MDRS}) endpoint.bind(channel, *this);
}

namespace {

/// It wants something of the line, and is none of what is said about copies that caches have.
bool asks_by_mem(const Message& message) {
  if (message.channel == Channel::kM2SReq) return message.opcode != Opcode::kMemClnEvct;
  return message.opcode != Opcode::kBIConflict && message.snp != SnpType::kNoOp;
}

}  // namespace

[[gnu::hot]] void Dcoh::receive(Message& message) {
  switch (message.channel) {
    case Channel::kM2SReq:
    case Channel::kM2SRwD: break;
    default: {
      endpoint().release(message, now());
      const ObservedScope handling(*this, message);
      return message.channel == Channel::kM2SBIRsp ? response(message) : memory_answered(message);
    }
  }
  if (down()) [[unlikely]]
    return lose_late(message);  // it had been kept for an earlier one, and its turn comes now
  const AddressMap::DecodedAddress where = place_of(message.address);
  if (!keeps(where)) {  // of memory that is not kept coherent, or not here
    ensure(has_memory(), "a request to memory that is not here");
    endpoint().deliver(message, memory());
    return;
  }
  if (asks_by_mem(message) && has_left(where)) [[unlikely]]
    return refuse_request(message);
  if (message.channel == Channel::kM2SReq) {
    admit_request(message);
    return;
  }
  // A message with data, or a conflict, needs no place: the end of a snoop may depend on it.
  endpoint().release(message, now());
  if (message.opcode == Opcode::kBIConflict) {
    conflict(message);
  } else {
    look_up(message);
  }
}

void Dcoh::conflict(Message& message) {
  ++counts().conflicts;
  const ObservedScope handling(*this, message);
  complete(message, Opcode::kBIConflictAck);
}

[[gnu::hot]] DirectoryAgent::Wish Dcoh::wish_of(const Message& request) const {
  const bool copy = request.channel == Channel::kM2SReq && request.meta != MetaValue::kInvalid;
  return {.copy = copy,
          .exclusive = copy && request.meta == MetaValue::kAny,
          .own = request.snp == SnpType::kSnpInv,
          .current = request.snp == SnpType::kSnpCur};
}

[[gnu::hot]] bool Dcoh::take_notice(Transaction& transaction) {
  Message& request = *transaction.request;
  if (request.opcode != Opcode::kMemClnEvct) return false;
  drop_owner(transaction.line, peers().known(request.source));
  close(transaction);
  complete(request, Opcode::kCmp);
  return true;
}

// A write-back: somebody who owned the line writes it, and nobody else holds it, so that there is nothing to
// wait for. Requests to the line wait until it is written, so that they cannot pass it on the way to the
// memory.
[[gnu::hot]] bool Dcoh::take_out_of_turn(Message& message) {
  if (message.opcode != Opcode::kMemWr || message.snp != SnpType::kNoOp) return false;
  const LineAddress line = LineAddress::of(message.address);
  const ObservedScope handling(*this, message);
  if (losses() && !owns(line, peers().known(message.source))) [[unlikely]] {
    message.failed = true;  // of a cache that was presumed dead: others may have written the line since
    message.size = 0;
    complete(message, Opcode::kCmp);
    return true;
  }
  Slot held = filter().find(line);
  if (message.meta == MetaValue::kInvalid) {
    held = drop_owner_of(held, peers().known(message.source));
  } else if (message.meta == MetaValue::kShared && held != kNoSlot) {
    filter().set_state(held, FilterState::kShared);
  }
  // What is under way for the line goes on behind it: a snoop is answered when it is done, and who has yet to
  // snoop waits.
  Transaction* const behind = under_way(line);
  if (behind) ++behind->write_backs;
  access_memory(Opcode::kMemWr, message, behind ? nullptr : &open_entry(line, held), behind);
  return true;
}

void Dcoh::address_snoop(Snoop& snoop, SnoopFor purpose, std::uint8_t lines) {
  ++counts().bisnp_sent;
  snoop.message.pushes = answers_to(snoop.message.destination);
  Opcode& opcode = snoop.message.opcode;
  const bool block = lines > 0;
  switch (purpose) {
    case SnoopFor::kCurrent: opcode = block ? Opcode::kBISnpCurBlk : Opcode::kBISnpCur; break;
    case SnoopFor::kShare: opcode = block ? Opcode::kBISnpDataBlk : Opcode::kBISnpData; break;
    case SnoopFor::kInvalidate: opcode = block ? Opcode::kBISnpInvBlk : Opcode::kBISnpInv; break;
  }
}

void Dcoh::response(Message& message) {
  Snoop& answered = snoop(message.tag);
  if (!answered.transaction) [[unlikely]]
    return snoop_lost(message);
  switch (message.opcode) {
    case Opcode::kBIRspI:
    case Opcode::kBIRspIBlk: answered.left = LineState::kInvalid; break;
    case Opcode::kBIRspS:
    case Opcode::kBIRspSBlk: answered.left = LineState::kShared; break;
    default: answered.left = LineState::kClean; break;
  }
  snoop_answered(answered, answered.account);
}

// Memory is read when all snoops are answered, never on speculation.
[[gnu::hot]] void Dcoh::serve(Transaction& transaction) {
  Message& request = *transaction.request;
  if (request.opcode == Opcode::kMemInv) {
    reply(transaction, 0, false);
  } else {
    const bool reads = request.opcode != Opcode::kMemWr && request.opcode != Opcode::kMemAtomic;
    access_memory(reads ? Opcode::kMemRd : request.opcode, request, &transaction);
  }
}

[[gnu::hot]] void Dcoh::memory_done(const MemoryAccess& access, const Message& answer) {
  Message& answered = *access.answers;
  if (access.transaction && access.transaction->request) {
    // What memory has lost itself is poisoned as what caches have.
    if (answer.poisoned) [[unlikely]]
      losses()->poison(access.transaction->line);
    answered.version = answer.version;
    reply(*access.transaction, answer.hops, answer.failed && !answer.poisoned);
    return;
  }
  answered.hops = static_cast<std::uint16_t>(answered.hops + answer.hops);
  if (losses()) [[unlikely]]
    written_back(answered, answer.failed);
  complete(answered, Opcode::kCmp);
  if (access.transaction) close(*access.transaction);
}

// The line is open: nobody has had it meanwhile.
void Dcoh::written_back(Message& message, bool failed) {
  const LineAddress line = LineAddress::of(message.address);
  if (!failed) return losses()->cure(line);
  losses()->poison(line);
  message.failed = true;
  message.size = 0;
}

[[gnu::hot]] void Dcoh::reply(Transaction& transaction, std::uint16_t hops, bool failed) {
  Message& request = *transaction.request;
  if (losses() && !failed) [[unlikely]]
    losses()->answers(request);
  const Opcode granted = grant(transaction, failed) == LineState::kClean ? Opcode::kCmpE : Opcode::kCmpS;
  request.hops = static_cast<std::uint16_t>(request.hops + hops);
  request.failed |= failed;
  if (!failed) send_completion(request, granted);  // an error has no second part
  if (request.opcode == Opcode::kMemInv) {
    complete(request, granted);
  } else if (request.opcode == Opcode::kMemWr) {
    complete(request, Opcode::kCmp);
  } else {
    complete(request, Opcode::kMemData);
  }
  close(transaction);
}

}  // namespace cxloom
