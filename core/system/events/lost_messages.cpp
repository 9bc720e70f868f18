#include "system/events/lost_messages.hpp"

#include "coherence/cache/agent.hpp"
#include "coherence/home/coherence_home.hpp"
#include "component/component.hpp"
#include "component/delivery_order.hpp"
#include "component/endpoint.hpp"
#include "component/io_roles.hpp"
#include "device/requester/requester.hpp"
#include "interconnect/wire/interrupted_wait.hpp"
#include "kernel/event_source.hpp"
#include "kernel/kernel.hpp"
#include "protocol/address_map.hpp"
#include "protocol/error_answer.hpp"
#include "protocol/protocol_observer.hpp"
#include "system/model/system.hpp"

namespace cxloom {

void LostMessages::wake(std::uint8_t kind, std::uint64_t payload) {
  if (kind == kTakeKept) {
    system_.components()[DeliveryOrder::destination_of(payload).index()]->take_kept(payload);
  } else {
    time_out(*reinterpret_cast<Message*>(payload));
  }
}

// The cost of something that lasts until then.
EventCost& LostMessages::cost(Time until) {
  cost_->felt_until = std::max(cost_->felt_until, until);
  return *cost_;
}

// It never comes to its destination. What is kept there until it has come is taken at the end of what happens
// now.
void LostMessages::forget(const Message& message) {
  DeliveryOrder* const order = system_.system_context().order.get();
  if (!order || !DeliveryOrder::covers(message.channel) || !order->forget(message)) return;
  kernel_.schedule(kernel_.now(), source_, *this, kTakeKept, DeliveryOrder::stream_of(message));
}

void LostMessages::rerouted() { ++cost(kernel_.now()).rerouted; }

bool LostMessages::answers(Message& message, NodeId node, Time now) {
  if (!is_request(message) || message.opcode == Opcode::kBIConflict) {
    lose(message, now);
    return false;
  }
  ++cost(now).failed;
  message.charge(kInterrupted, now);
  forget(message);
  note_lost_data(message);
  make_error_answer(message, node);
  message.via = kViaNobody;
  if (ProtocolObserver* const observer = system_.system_context().observer) observer->sent(message, now);
  if (system_.system_context().order && message.destination != node)
    system_.system_context().order->number(message);
  return true;
}

void LostMessages::lose(Message& message, Time now) {
  if (message.channel == Channel::kIo) return lose_packet(message, now);
  forget(message);
  lose_inside(message, now);
}

void LostMessages::lose_inside(Message& message, Time now) {
  note_lost_data(message);
  if (ProtocolObserver* const observer = system_.system_context().observer) observer->lost(message);
  const Time end = std::max(now, end_of_wait(message, now));
  ++cost(end).lost;
  kernel_.schedule(end, source_, *this, kTimeout, reinterpret_cast<std::uintptr_t>(&message));
}

// The home that waits for a message, or for the answer to it; null: a requester does.
CoherenceHome* LostMessages::waiting_home(const Message& message) const {
  const bool answer = message.channel == Channel::kM2SBIRsp || message.channel == Channel::kS2MNDR ||
                      message.channel == Channel::kS2MDRS;
  const NodeId waits = answer ? message.destination : message.source;
  const bool snoop = message.channel == Channel::kM2SBIRsp || message.channel == Channel::kS2MBISnp;
  if (!snoop && system_.roles().of<Requester>(waits)) return nullptr;
  return system_.roles().of<CoherenceHome>(waits);
}

// The clock of a completion timeout starts when the request is issued, that of a snoop with the snoop. Of
// what has none it starts now.
Time LostMessages::end_of_wait(const Message& message, Time now) const {
  if (CoherenceHome* const home = waiting_home(message)) {
    const bool snoop = message.channel == Channel::kM2SBIRsp || message.channel == Channel::kS2MBISnp;
    return (snoop ? home->snooped_at(message) : now) + home->answer_timeout();
  }
  const Requester* const requester = system_.roles().of<Requester>(message.requester);
  ensure(requester != nullptr, "a message that nobody asked for is lost");
  const bool of_request = message.account && !is_of_cache(message);
  const Time issued = of_request ? message.age + message.account->of(Segment::kRequesterQueue) : now;
  return issued + requester->traits().completion_timeout;
}

// A cache sends it, or gets it as an answer, for a line that leaves or a snoop, and for no request.
bool LostMessages::is_of_cache(const Message& message) const {
  if (message.opcode == Opcode::kBIConflict || message.opcode == Opcode::kBIConflictAck) return true;
  const bool leaves = message.snp == SnpType::kNoOp &&
                      (message.opcode == Opcode::kMemWr || message.opcode == Opcode::kMemClnEvct ||
                       message.opcode == Opcode::kCmp);
  const auto place = system_.address_map().find(message.address);
  return leaves && place && place->coherent();
}

// A write-back has the latest data of a line that is kept coherent.
void LostMessages::note_lost_data(const Message& message) const {
  if (message.opcode != Opcode::kMemWr || !is_of_cache(message)) return;
  const auto place = system_.address_map().find(message.address);
  if (message.destination != place->home) return;  // it is the home's own
  system_.roles().of<CoherenceHome>(place->home)->data_lost(LineAddress::of(message.address), message.source);
}

IoLosses& LostMessages::sender_of(const Message& packet) const {
  const NodeId sender = packet.opcode == Opcode::kCplD ? packet.destination : packet.source;
  IoInitiator* const initiator = system_.roles().of<IoInitiator>(sender);
  ensure(initiator != nullptr && initiator->losses() != nullptr,
         "a packet of CXL.io that nobody may lose is lost");
  return *initiator->losses();
}

// Nothing answers CXL.io with an error: what finds no way is lost, too.
void LostMessages::lose_packet(Message& message, Time now) {
  const Time end = sender_of(message).hears_of_loss(message, now);
  ++cost(end).lost;
  kernel_.schedule(end, source_, *this, kTimeout, reinterpret_cast<std::uintptr_t>(&message));
}

// The cache may still be there: it, too, knows that it is presumed dead.
void LostMessages::end_snoop(Message& message, CoherenceHome& home) {
  if (!home.awaits(message)) return home.snoop_lost(message);
  const bool answer = message.channel == Channel::kM2SBIRsp;
  const NodeId node = answer ? message.source : message.destination;
  const NodeId at = answer ? message.destination : message.source;
  CacheAgent& cache = *system_.roles().of<Requester>(node)->losing_cache();
  for (const LineAddress line : cache.presumed_dead(at, home.answers_sent(node))) home.data_lost(line, node);
  home.snoop_lost(message);
}

// The requester, or the home, answers itself.
void LostMessages::time_out(Message& message) {
  if (message.channel == Channel::kIo) return sender_of(message).lose(message);
  CoherenceHome* const home = waiting_home(message);
  if (home && message.channel != Channel::kS2MNDR && message.channel != Channel::kS2MDRS &&
      !is_request(message))
    return end_snoop(message, *home);
  message.charge(kInterrupted, kernel_.now());
  NodeId waits = message.requester;
  if (home) waits = is_request(message) ? message.source : message.destination;
  switch (message.opcode) {
    case Opcode::kBIConflict:
    case Opcode::kBIConflictAck: message.opcode = Opcode::kBIConflictAck; break;
    case Opcode::kCmpS:
    case Opcode::kCmpE: message.failed = true; break;
    default: make_error_answer(message, waits); break;
  }
  message.channel = channel_of(message.opcode);
  message.source = message.destination = waits;
  if (ProtocolObserver* const observer = system_.system_context().observer)
    observer->sent(message, kernel_.now());
  message.port = Endpoint::kInside;
  system_.components()[waits.index()]->receive(message);
}

}  // namespace cxloom
