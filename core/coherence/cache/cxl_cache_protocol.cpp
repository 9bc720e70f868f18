#include "coherence/cache/cxl_cache_protocol.hpp"

#include <utility>

#include "coherence/common/write_pull.hpp"
#include "component/memory_access.hpp"
#include "component/observed_scope.hpp"

namespace cxloom {

namespace {

AddressMap::DecodedAddress cache_place_of(const CacheTransaction& transaction) {
  return {transaction.target, transaction.home, {}, Coherence::kHdmH};
}

Opcode response_for(const CacheSnoop& snoop) {
  const bool invalid = snoop.left == LineState::kInvalid;
  if (snoop.was == LineState::kInvalid) return Opcode::kRspIHitI;
  if (snoop.purpose == SnoopFor::kCurrent && !invalid)
    return snoop.forwards ? Opcode::kRspVFwdV : Opcode::kRspVHitV;
  if (snoop.forwards) return invalid ? Opcode::kRspIFwdM : Opcode::kRspSFwdM;
  return invalid ? Opcode::kRspIHitSE : Opcode::kRspSHitSE;
}

SnoopFor purpose_of(Opcode snoop) {
  switch (snoop) {
    case Opcode::kSnpCur: return SnoopFor::kCurrent;
    case Opcode::kSnpData: return SnoopFor::kShare;
    default: return SnoopFor::kInvalidate;
  }
}

}  // namespace

void CxlCacheProtocol::ask(CacheTransaction& transaction, Request& request) {
  Message& message = request.message;
  Address address = transaction.line.address();
  std::uint16_t size = kLineBytes;
  Opcode opcode = Opcode::kRdOwn;
  message.completion = nullptr;
  switch (transaction.doing) {
    case Doing::kWrite:
    case Doing::kAtomic:
      opcode = transaction.doing == Doing::kWrite ? write_past_caches(request.size) : Opcode::kAtomic;
      address = request.address;
      size = request.size;
      break;
    case Doing::kUpgrade:
      opcode = Opcode::kRdOwnNoData;
      size = 0;
      break;
    default:
      if (transaction.doing == Doing::kRead) opcode = reads_any_ ? Opcode::kRdAny : Opcode::kRdShared;
      transaction.completion = {};
      transaction.completion.account = &transaction.completion_account;
      transaction.completion.tag = transaction.index;
      message.completion = &transaction.completion;
  }
  send_request(agent_, request, cache_place_of(transaction), opcode, address, size, transaction.index);
}

// The size of DirtyEvict is that of the data that will be asked for.
void CxlCacheProtocol::evict(CacheTransaction& transaction, LineState /*keeps*/, Time ready) {
  const bool dirty = transaction.doing == Doing::kWriteBack;
  Message& message = transaction.evict;
  address_to(cache_place_of(transaction), agent_, message, dirty ? Opcode::kDirtyEvict : Opcode::kCleanEvict,
             transaction.line.address(), dirty ? kLineBytes : 0);
  message.tag = transaction.index;
  agent_.transmit(message, ready);
}

void CxlCacheProtocol::receive(Message& message) {
  switch (message.channel) {
    case Channel::kH2DReq:
      if (order_.in_order(message)) snooped(message);
      return;
    case Channel::kH2DData: return data_came(message);
    default: {
      const NodeId home = message.source;
      const std::uint32_t number = message.pushes;
      const bool numbered = number != 0 || !message.failed;  // or it is an error that no home has sent
      answered(message);
      if (numbered) came(home, number);
    }
  }
}

void CxlCacheProtocol::came(NodeId home, std::uint32_t number) {
  order_.answered(home, number, [this](Message& early) {
    early.charge(Segment::kSnoop, cache_.now());
    snooped(early);
  });
}

void CxlCacheProtocol::snooped(Message& message) {
  cache_.snooped(message, purpose_of(message.opcode), *this);
}

void CxlCacheProtocol::data_came(Message& message) {
  const ObservedScope handling(agent_, message);
  cache_.data_came(message);
}

void CxlCacheProtocol::answered(Message& message) {
  const ObservedScope handling(agent_, message);
  switch (message.opcode) {
    case Opcode::kGoS: return cache_.granted(message, LineState::kShared);
    case Opcode::kGoE: return cache_.granted(message, LineState::kClean);
    case Opcode::kWritePull: return send_pulled_data(agent_, message, cache_.now());
    case Opcode::kGoWritePull:
      send_pulled_data(agent_, message, cache_.now());
      return cache_.completed(message);
    default: return cache_.completed(message);
  }
}

// With the answer to its request sent before the snoop, that answer has come before the snoop. So without it
// the snoop is first; with it, the line is used once when its data are in. Of a line that is on its way out
// the data are still here.
bool CxlCacheProtocol::defers(CacheTransaction& transaction, const CacheSnoop& /*snoop*/) {
  return transaction.granted != LineState::kInvalid;
}

void CxlCacheProtocol::respond(const CacheSnoop& snoop, Time ready) {
  Message& message = *snoop.message;
  const NodeId home = message.source;
  message.opcode = response_for(snoop);
  message.channel = Channel::kD2HRsp;
  message.source = message.destination;
  message.destination = home;
  if (snoop.forwards) {
    Message& data = *message.completion;
    *data.account = *message.account;
    data.opcode = Opcode::kD2HData;
    data.channel = Channel::kD2HData;
    data.address = message.address;
    data.size = kLineBytes;
    data.source = message.source;
    data.destination = home;
    data.requester = message.requester;
    data.age = message.age;
    data.tag = message.tag;
    agent_.transmit(data, ready);
  }
  agent_.transmit(message, ready);
}

}  // namespace cxloom
