#include "system/events/lost_messages.hpp"

#include "base/error.hpp"
#include "coherence/cache/agent.hpp"
#include "coherence/common/coherence_home.hpp"
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

LostMessages::LostMessages(Kernel& kernel, EventSource& source, System& system, EventCost& cost)
    : kernel_(kernel),
      source_(source),
      system_(system),
      transactions_(system.roles(), system.address_map(), *this),
      cost_(&cost) {}

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

void LostMessages::rerouted(Time now) {
  const std::scoped_lock lock(counting_);
  ++cost(now).rerouted;
}

void LostMessages::expect_one_thread() const {
  ensure(!side_by_side_, "a message is lost while parts run side by side");
}

bool LostMessages::answers(Message& message, NodeId node, Time now) {
  if (!transactions_.is_answered(message)) {
    lose(message, now);
    return false;
  }
  expect_one_thread();
  ++cost(now).failed;
  message.charge(kInterrupted, now);
  forget(message);
  transactions_.gone(message);
  make_error_answer(message, node);
  message.via = kViaNobody;
  if (ProtocolObserver* const observer = system_.system_context().observer) observer->sent(message, now);
  if (system_.system_context().order && message.destination != node)
    system_.system_context().order->number(message);
  return true;
}

bool LostMessages::refuses(Message& message, Time now) {
  if (!transactions_.is_answered(message) && !is_answer(message)) {
    lose(message, now);
    return false;
  }
  transactions_.gone(message);
  return true;
}

void LostMessages::lose(Message& message, Time now) {
  if (message.channel == Channel::kIo) return lose_packet(message, now);
  forget(message);
  lose_inside(message, now);
}

void LostMessages::lose_inside(Message& message, Time now) {
  expect_one_thread();
  if (ProtocolObserver* const observer = system_.system_context().observer) observer->lost(message);
  transactions_.gone(message);
  ends_later(message, now);
  ++cost_->lost;
}

// What is lost with it ends by itself.
void LostMessages::ends_later(Message& message, Time now) {
  expect_one_thread();
  if (Message* const pull = LostTransactions::pull_of(message)) ends_later(*pull, now);
  const Time end = std::max(now, transactions_.end_of_wait(message, now));
  cost(end);
  kernel_.schedule(end, source_, *this, kTimeout, reinterpret_cast<std::uintptr_t>(&message));
}

void LostMessages::gives_up(LineAddress line, NodeId node) {
  expect_one_thread();
  const auto place = system_.address_map().find(line.address());
  system_.roles().of<CoherenceHome>(place->home)->data_lost(line, node);
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
  expect_one_thread();
  const Time end = sender_of(message).hears_of_loss(message, now);
  ++cost(end).lost;
  kernel_.schedule(end, source_, *this, kTimeout, reinterpret_cast<std::uintptr_t>(&message));
}

// The requester, or the home, answers itself.
void LostMessages::time_out(Message& message) {
  if (message.channel == Channel::kIo) return sender_of(message).lose(message);
  if (!transactions_.ends(message, kernel_.now())) return;
  if (ProtocolObserver* const observer = system_.system_context().observer)
    observer->sent(message, kernel_.now());
  message.port = Endpoint::kInside;
  system_.components()[message.destination.index()]->receive(message);
}

// ---- Waiting

CacheAgent* LostMessages::cache_of(NodeId node) {
  Requester* const requester = system_.roles().of<Requester>(node);
  return requester ? requester->losing_cache() : nullptr;
}

bool LostMessages::is_requester(NodeId node) const { return system_.roles().of<Requester>(node) != nullptr; }

Time LostMessages::completion_timeout_of(NodeId node) const {
  const Requester& requester = *system_.roles().of<Requester>(node);
  return requester.paused() ? Time{} : requester.traits().completion_timeout;
}

}  // namespace cxloom
