#include "coherence/cache/cxl_mem_protocol.hpp"

#include <utility>

#include "base/error.hpp"
#include "component/memory_access.hpp"
#include "component/observed_scope.hpp"
#include "component/shared_lines.hpp"

namespace cxloom {

namespace {

Opcode response_for(LineState left, bool block) {
  switch (left) {
    case LineState::kInvalid: return block ? Opcode::kBIRspIBlk : Opcode::kBIRspI;
    case LineState::kShared: return block ? Opcode::kBIRspSBlk : Opcode::kBIRspS;
    default: return block ? Opcode::kBIRspEBlk : Opcode::kBIRspE;
  }
}

AddressMap::DecodedAddress mem_place_of(const CacheTransaction& transaction) {
  return {transaction.target, transaction.home, {}, Coherence::kNone, transaction.ld, transaction.persistent};
}

}  // namespace

MetaValue CxlMemProtocol::meta_of(LineState state) {
  switch (state) {
    case LineState::kInvalid: return MetaValue::kInvalid;
    case LineState::kShared: return MetaValue::kShared;
    default: return MetaValue::kAny;
  }
}

[[gnu::hot]] void CxlMemProtocol::ask(CacheTransaction& transaction, Request& request) {
  Message& message = request.message;
  Opcode opcode = Opcode::kMemRd;
  Address address = transaction.line.address();
  std::uint16_t size = kLineBytes;
  message.snp = SnpType::kNoOp;
  message.meta = MetaValue::kInvalid;
  message.completion = nullptr;
  switch (transaction.doing) {
    case Doing::kWrite:
    case Doing::kAtomic:
      opcode = transaction.doing == Doing::kWrite ? Opcode::kMemWr : Opcode::kMemAtomic;
      address = request.address;
      size = request.size;
      if (transaction.coherent) message.snp = SnpType::kSnpInv;
      break;
    case Doing::kFlush:  // the write-back of a line that stays here alone, or leaves
      opcode = Opcode::kMemWr;
      if (transaction.coherent && request.keeps) message.meta = MetaValue::kAny;
      break;
    case Doing::kUpgrade:
      opcode = Opcode::kMemInv;
      size = 0;
      message.snp = SnpType::kSnpInv;
      message.meta = MetaValue::kAny;
      break;
    default: {
      if (!transaction.coherent) break;
      const bool own = transaction.doing == Doing::kOwn;
      opcode = own || !reads_any_ ? Opcode::kMemRd : Opcode::kMemRdData;
      message.snp = own ? SnpType::kSnpInv : SnpType::kSnpData;
      message.meta = own || reads_any_ ? MetaValue::kAny : MetaValue::kShared;
      transaction.completion = {};
      transaction.completion.account = &transaction.completion_account;
      transaction.completion.tag = transaction.index;
      message.completion = &transaction.completion;
    }
  }
  if (transaction.doing == Doing::kFlush) tell_shared(message, transaction.line.address());
  send_request(agent_, request, mem_place_of(transaction), opcode, address, size, transaction.index);
}

// A changed line leaves with the version that it has.
void CxlMemProtocol::tell_shared(Message& message, Address line) {
  SharedLines* const shared = agent_.endpoint().system_context().shared.get();
  if (!shared) [[likely]]
    return;
  message.address = line;
  shared->leaves(agent_.endpoint().id(), message);
}

[[gnu::hot]] void CxlMemProtocol::evict(CacheTransaction& transaction, LineState keeps, Time ready) {
  const bool dirty = transaction.doing == Doing::kWriteBack;
  Message& message = transaction.evict;
  message.meta = meta_of(keeps);
  address_to(mem_place_of(transaction), agent_, message, dirty ? Opcode::kMemWr : Opcode::kMemClnEvct,
             transaction.line.address(), dirty ? kLineBytes : 0);
  if (dirty) tell_shared(message, transaction.line.address());
  message.tag = transaction.index;
  if (transaction.coherent) {
    agent_.transmit(message, ready);
  } else {
    send_to_memory(agent_, message, ready);
  }
}

[[gnu::hot]] void CxlMemProtocol::receive(Message& message) {
  if (message.channel == Channel::kS2MBISnp) {
    snooped(message);
  } else {
    answered(message);
  }
}

[[gnu::hot]] void CxlMemProtocol::answered(Message& message) {
  const ObservedScope handling(agent_, message);
  switch (message.opcode) {
    case Opcode::kCmpS: return cache_.granted(message, LineState::kShared);
    case Opcode::kCmpE: return cache_.granted(message, LineState::kClean);
    case Opcode::kCmp: return cache_.completed(message);
    case Opcode::kBIConflictAck: return conflict_answered(message);
    default: return cache_.data_came(message);
  }
}

void CxlMemProtocol::snooped(Message& message) {
  switch (message.opcode) {
    case Opcode::kBISnpCur:
    case Opcode::kBISnpCurBlk: return cache_.snooped(message, SnoopFor::kCurrent, *this);
    case Opcode::kBISnpData:
    case Opcode::kBISnpDataBlk: return cache_.snooped(message, SnoopFor::kShare, *this);
    default: return cache_.snooped(message, SnoopFor::kInvalidate, *this);
  }
}

// The cache's own request to the line may have reached the home before the snoop or after it. BIConflict asks
// the home, which holds requests to a line that it snoops: the BIConflictAck follows the answer to the
// request exactly if the request was first.
bool CxlMemProtocol::defers(CacheTransaction& transaction, const CacheSnoop& snoop) {
  const bool writes_back = transaction.doing == Doing::kWriteBack || transaction.doing == Doing::kFlush;
  if (writes_back || transaction.granted != LineState::kInvalid) return true;
  if (transaction.asked) return true;  // for a snoop before, whose home has failed since
  transaction.asked = true;
  Message& conflict = transaction.conflict;
  conflict = {};
  conflict.account = &transaction.snoop_account;
  conflict.age = snoop.message->age;
  conflict.tag = transaction.index;
  address_to(mem_place_of(transaction), agent_, conflict, Opcode::kBIConflict, transaction.line.address(), 0);
  agent_.transmit(conflict, cache_.now());
  return true;
}

void CxlMemProtocol::conflict_answered(Message& message) {
  CacheTransaction& transaction = cache_.transaction(message.tag);
  transaction.asked = false;
  if (transaction.doing == Doing::kNothing) {  // the request was first, and is served
    cache_.conclude(transaction);
    return;
  }
  // If the snoop is not first, the request is, and its end comes.
  const bool first = transaction.granted == LineState::kInvalid && transaction.doing != Doing::kWriteBack;
  if (first) cache_.answer_snoop_first(transaction);
}

void CxlMemProtocol::respond(const CacheSnoop& snoop, Time ready) {
  Message& message = *snoop.message;
  message.opcode = response_for(snoop.left, message.lines > 0);
  message.channel = channel_of(message.opcode);
  std::swap(message.source, message.destination);
  agent_.transmit(message, ready);
}

}  // namespace cxloom
