#include "component/endpoint.hpp"

#include <algorithm>
#include <utility>

#include "component/component_time.hpp"
#include "component/delivery_order.hpp"
#include "component/failures.hpp"
#include "component/line_versions.hpp"
#include "kernel/event_handler.hpp"
#include "protocol/protocol_observer.hpp"

namespace cxloom {

Endpoint::Endpoint(const ComponentContext& context, SystemContext& system_context)
    : Component(context), system_context_(system_context), map_(system_context.map.get()) {
  system_context.add_endpoint(*this, id());
}

Endpoint::~Endpoint() = default;

void Endpoint::add(Agent& agent) { agents_.push_back(&agent); }

inline Agent*& Endpoint::taker_of(Channel channel) {
  return (aside_ ? *aside_ : takers_)[static_cast<std::size_t>(channel)];
}

void Endpoint::bind(Channel channel, Agent& agent) {
  Agent*& taker = taker_of(channel);
  ensure(!taker || taker == &agent, "two agents that take the same messages");
  taker = &agent;
  add_sender(agent);
}

Agent* Endpoint::put_before(Channel channel, Agent& agent) {
  Agent* const taker = std::exchange(taker_of(channel), nullptr);
  bind(channel, agent);
  return taker;
}

void Endpoint::add_sender(Agent& agent) {
  senders_ += agent.sends_ ? 0 : 1;
  agent.sends_ = true;
}

void Endpoint::watch_protocol(bool begins) {
  watched_ = begins;
  look_aside(watched_ || order_);
}

void Endpoint::look_aside(bool begins) {
  sends_by_port_ = !contains_switch_ && !begins && !detours_;
  if (begins == (aside_ != nullptr)) return;
  if (begins) {
    aside_ = std::make_unique<Takers>(std::exchange(takers_, {}));
  } else {
    takers_ = *std::exchange(aside_, nullptr);
  }
}

void Endpoint::transmit_otherwise(Message& message, Time ready) {
  if (watched_) system_context_.observer->sent(message, std::max(now(), ready));
  if (message.destination == id()) {
    send_to_itself(message, ready);
    return;
  }
  message.via = kViaUndecided;
  if (order_ && DeliveryOrder::covers(message.channel)) order_->number(message);
  if (contains_switch_) {
    inject_at(message, ready);
  } else {
    send_by(way_of(message), message, ready);
  }
}

inline void Endpoint::give(Message& message) {
  Agent* const agent = taker_of(message.channel);
  if (!agent) [[unlikely]]
    refuse(message);
  if (system_context_.observer) [[unlikely]]
    return deliver(message, *agent);
  agent->receive(message);
}

void Endpoint::deliver(Message& message, Agent& to) {
  if (system_context_.observer && !to.acts_later()) {
    system_context_.observer->handling(message, id(), now(), {});
    system_context_.observer->handled({});
  }
  to.receive(message);
}

// A message that is not in turn gives its receive buffer back, which those before it need. The table of the
// order keeps it.
void Endpoint::take_aside(Message& message) {
  if (!order_ || !DeliveryOrder::covers(message.channel) || message.source == id()) return give(message);
  const std::uint64_t stream = DeliveryOrder::stream_of(message);
  if (!order_->in_turn(message, stream)) [[unlikely]] {
    release(message, now());
    message.port = kInside;
    ++held_;
    return;
  }
  give(message);
  if (held_ > 0) [[unlikely]]
    take_kept(stream);
}

void Endpoint::take_kept(std::uint64_t stream) {
  while (held_ > 0) {
    Message* const next = order_->next(stream);
    if (!next) return;
    --held_;
    next->charge(Segment::kReorder, now());
    give(*next);
  }
}

void Endpoint::pass_on(Message& /*message*/) {
  throw InternalError(name() + " got a message for another device, and contains no switch");
}

void Endpoint::inject_at(Message& message, Time ready) {
  if (ready > now()) {
    wake_at(ready, kInject, reinterpret_cast<std::uintptr_t>(&message));
  } else {
    inject(message);
  }
}

void Endpoint::inject(Message& message) { pass_on(message); }

void Endpoint::refuse(const Message& message) const {
  throw InternalError(name() + " has no agent for a message of class " +
                      std::string(kChannelNames[static_cast<std::size_t>(message.channel)]));
}

void Endpoint::refuse_sender() const {
  throw InternalError(name() + " has an agent that sends and takes no messages: add_sender declares one");
}

void Endpoint::start() {
  map_ = &system_context_.map_of(id());
  detours_ = system_context_.routes && system_context_.routes->detours();
  order_ = system_context_.order.get();
  look_aside(watched_ || order_);
  for (std::size_t i = 0; i < port_count(); ++i) {
    port_memory_.push_back(port(i).memory());
    returns_credits_ |= port(i).returns_credits();
  }
  if ((senders_ > 1 || as_ready_) && !contains_switch_) {
    for (std::size_t i = 0; i < port_count(); ++i) port(i).share();
  }
  for (Agent* agent : agents_) agent->start();
}

void Endpoint::take_at(Message& message, Time at) {
  wake_at(at, kTake, reinterpret_cast<std::uintptr_t>(&message));
}

// The rest of the message, with what is behind it in a request, its agent's state, and the credit that goes
// back.
void Endpoint::foresee(std::uint8_t kind, std::uint64_t payload) const {
  if (kind != Event::kArrival) return;
  const Message& message = object_of<Message>(payload);
  for (const std::size_t line : {1U, 5U}) prefetch(&message, line);
  const Takers& takers = aside_ ? *aside_ : takers_;
  if (const Agent* const agent = takers[static_cast<std::size_t>(message.channel)]) {
    for (std::size_t line = 0; line < 4; ++line) prefetch(agent, line);
  }
  if (message.port < port_memory_.size()) port_memory_[message.port].fetch_for_release(vc_of(message));
}

void Endpoint::wake(std::uint8_t kind, std::uint64_t payload) {
  Message& message = *reinterpret_cast<Message*>(payload);
  if (kind == kTransmit) {
    send_by(way_of(message), message, now());
  } else if (kind == kInject) {
    inject(message);
  } else {
    take(message);
  }
}

// A request of its own it answers itself.
void Endpoint::nowhere(Message& message, Time ready) {
  ensure(system_context_.failures != nullptr, "a message to a device that no way leads to");
  if (ready > now()) {
    wake_at(ready, kTransmit, reinterpret_cast<std::uintptr_t>(&message));
  } else if (system_context_.failures->answers(message, id(), now())) {
    send_to_itself(message, now());
  }
}

void Endpoint::take_back(Message& message) {
  const std::uint16_t way = port_count() == 1 ? Routes::kNowhere : way_of(message);
  if (way != Routes::kNowhere) system_context_.failures->rerouted(now());
  send_by(way, message, now());
}

void Endpoint::open_window(Time at) {
  for (Agent* agent : agents_) agent->open_window(at);
}

void Endpoint::close_window(Time at) {
  for (Agent* agent : agents_) agent->close_window(at);
}

void Endpoint::report(MeasureSink& sink) const {
  for (const Agent* agent : agents_) agent->report(sink);
}

void Endpoint::resources(ResourceSink& sink) const {
  for (const Agent* agent : agents_) agent->resources(sink);
}

std::string Endpoint::activity() const {
  std::string all;
  if (held_ > 0) all = counted(held_, "message") + " held back for earlier ones";
  for (const Agent* agent : agents_) {
    const std::string one = agent->activity();
    if (one.empty()) continue;
    if (!all.empty()) all += "; ";
    all += one;
  }
  return all;
}

}  // namespace cxloom
