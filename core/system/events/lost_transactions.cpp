#include "system/events/lost_transactions.hpp"

#include "coherence/cache/agent.hpp"
#include "coherence/common/coherence_home.hpp"
#include "component/component.hpp"
#include "interconnect/wire/interrupted_wait.hpp"
#include "protocol/error_answer.hpp"

namespace cxloom {

CoherenceHome* LostTransactions::home_at(NodeId node) const { return roles_.of<CoherenceHome>(node); }

bool LostTransactions::is_answered(const Message& message) const {
  if (message.channel == Channel::kD2HReq) return !is_of_home(message);
  return is_request(message) && message.opcode != Opcode::kBIConflict && message.opcode != Opcode::kMemRdFwd;
}

bool LostTransactions::is_of_bias(const Message& message) const {
  const auto place = map_.find(message.address);
  return place && place->coherence == Coherence::kHdmD;
}

// A snoop, a call for data, or the answer to one: its home waits.
bool LostTransactions::is_of_home(const Message& message) const {
  switch (message.channel) {
    case Channel::kS2MBISnp:
    case Channel::kM2SBIRsp:
    case Channel::kH2DReq:
    case Channel::kD2HRsp:
    case Channel::kD2HData: return true;
    case Channel::kD2HReq: return is_of_bias(message);  // a device asks the host for a line
    default: return message.opcode == Opcode::kWritePull || message.opcode == Opcode::kMemRdFwd;
  }
}

// The home that waits for a message, or for the answer to it; null: a requester does.
CoherenceHome* LostTransactions::waiting_home(const Message& message) const {
  const bool to_device = is_downstream(message.channel);
  if (is_of_home(message)) {
    const bool answer = message.channel == Channel::kM2SBIRsp || message.channel == Channel::kD2HRsp ||
                        message.channel == Channel::kD2HData || message.opcode == Opcode::kMemRdFwd;
    return home_at(answer ? message.destination : message.source);
  }
  if (!is_request(message) && message.channel != Channel::kS2MNDR && message.channel != Channel::kS2MDRS)
    return nullptr;
  const NodeId waits = to_device ? message.source : message.destination;
  if (!requesters_.is_requester(waits)) return home_at(waits);
  // A host asks its own home agent by CXL.cache, and the memory of others by CXL.mem only for that.
  const auto place = map_.find(message.address);
  return place && place->coherence == Coherence::kHdmH && place->home == waits ? home_at(waits) : nullptr;
}

// The clock of a completion timeout starts when the request is issued, that of a snoop, or of a call for
// data, with it. Of what has none it starts now.
Time LostTransactions::end_of_wait(const Message& message, Time now) const {
  if (CoherenceHome* const home = waiting_home(message)) {
    if (home->is_down()) return now;
    return (is_of_home(message) ? home->asked_at(message) : now) + home->answer_timeout();
  }
  ensure(requesters_.is_requester(message.requester), "a message that nobody asked for is lost");
  const bool of_request = message.account && !is_of_cache(message);
  const Time issued = of_request ? message.age + message.account->of(Segment::kRequesterQueue) : now;
  return issued + requesters_.completion_timeout_of(message.requester);
}

// A cache sends it, or gets it as an answer, for a line that leaves or a snoop, and for no request.
bool LostTransactions::is_of_cache(const Message& message) const {
  switch (message.opcode) {
    case Opcode::kBIConflict:
    case Opcode::kBIConflictAck:
    case Opcode::kDirtyEvict:
    case Opcode::kCleanEvict:
    case Opcode::kGoWritePullDrop: return true;
    case Opcode::kMemWr:
    case Opcode::kMemClnEvct:
    case Opcode::kCmp: break;
    default: return false;
  }
  const auto place = map_.find(message.address);
  return message.snp == SnpType::kNoOp && place && place->coherent();
}

void LostTransactions::gone(const Message& message) {
  const bool write_back = message.opcode == Opcode::kMemWr && is_of_cache(message);
  const bool numbered =
      (message.channel == Channel::kH2DRsp || message.channel == Channel::kS2MNDR) && message.pushes != 0;
  if (!write_back && !numbered) return;
  const auto place = map_.find(message.address);
  if (numbered) {
    CacheAgent* const cache = requesters_.cache_of(message.destination);
    if (cache && message.source == place->home) cache->answer_lost(message);
  } else if (message.destination == place->home) {  // or it is the home's own
    home_at(place->home)->data_lost(LineAddress::of(message.address), message.source);
  }
}

// The cache may still be there: it, too, knows that it is presumed dead.
void LostTransactions::end_in(CoherenceHome& home, Message& message) {
  if (home.pulls(message)) return home.pull_lost(message);
  if (!home.awaits(message)) return home.snoop_lost(message);
  const bool sent_by_home = &home == home_at(message.source);
  const NodeId node = sent_by_home ? message.destination : message.source;
  const NodeId at = sent_by_home ? message.source : message.destination;
  if (CacheAgent* const cache = requesters_.cache_of(node)) {
    for (const LineAddress line : cache->presumed_dead(at, home.answers_sent(node)))
      home.data_lost(line, node);
  }
  home.snoop_lost(message);
}

bool LostTransactions::ends(Message& message, Time now) {
  CoherenceHome* const home = waiting_home(message);
  if (home && is_of_home(message)) {
    end_in(*home, message);
    return false;
  }
  message.charge(kInterrupted, now);
  NodeId waits = message.requester;
  // A switch that replicates waits for what it has sent on behalf of a requester.
  const NodeId sender = is_request(message) ? message.source : message.destination;
  const bool by_mem =
      is_request(message) || message.channel == Channel::kS2MNDR || message.channel == Channel::kS2MDRS;
  if (home || (by_mem && !requesters_.is_requester(sender))) waits = sender;
  switch (message.opcode) {
    case Opcode::kBIConflict:
    case Opcode::kBIConflictAck: message.opcode = Opcode::kBIConflictAck; break;
    case Opcode::kCmpS:
    case Opcode::kCmpE:
    case Opcode::kGoS:
    case Opcode::kGoE:
      message.failed = true;
      message.pushes = 0;
      break;
    default: make_error_answer(message, waits); break;
  }
  message.channel = channel_of(message.opcode);
  message.source = message.destination = waits;
  return true;
}

}  // namespace cxloom
