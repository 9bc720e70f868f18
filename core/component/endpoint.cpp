#include "component/endpoint.hpp"

#include <algorithm>
#include <utility>

#include "component/component_time.hpp"
#include "component/failures.hpp"
#include "protocol/protocol_observer.hpp"

namespace cxloom {

std::string Agent::name() const { return endpoint_.name(); }

Agent*& Endpoint::taker_of(Channel channel) {
  return (watched_ ? *watched_ : takers_)[static_cast<std::size_t>(channel)];
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
  if (begins == (watched_ != nullptr)) return;
  if (begins) {
    watched_ = std::make_unique<Takers>(std::exchange(takers_, {}));
  } else {
    takers_ = *std::exchange(watched_, nullptr);
  }
  sends_by_port_ = !contains_switch_ && !watched_;
}

void Endpoint::transmit_otherwise(Message& message, Time ready) {
  if (watched_) fabric_.observer->sent(message, std::max(now(), ready));
  if (message.destination == id()) {
    send_to_itself(message, ready);
  } else if (contains_switch_) {
    inject_at(message, ready);
  } else {
    send_by(way_of(message), message, ready);
  }
}

void Endpoint::take_watched(Message& message) {
  Agent* const agent = taker_of(message.channel);
  if (!agent) refuse(message);
  deliver(message, *agent);
}

void Endpoint::deliver(Message& message, Agent& to) {
  if (fabric_.observer && !to.acts_later()) {
    fabric_.observer->handling(message, id(), now(), {});
    fabric_.observer->handled({});
  }
  to.receive(message);
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
  if (senders_ > 1 && !contains_switch_) {
    for (std::size_t i = 0; i < port_count(); ++i) port(i).share();
  }
  for (Agent* agent : agents_) agent->start();
}

void Endpoint::take_at(Message& message, Time at) {
  wake_at(at, kTake, reinterpret_cast<std::uintptr_t>(&message));
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
  ensure(fabric_.failures != nullptr, "a message to a device that no way leads to");
  if (ready > now()) {
    wake_at(ready, kTransmit, reinterpret_cast<std::uintptr_t>(&message));
  } else if (fabric_.failures->answers(message, id(), now())) {
    send_to_itself(message, now());
  }
}

void Endpoint::take_back(Message& message) {
  const std::uint16_t way = port_count() == 1 ? Routes::kNowhere : way_of(message);
  if (way != Routes::kNowhere) fabric_.failures->rerouted();
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

std::string Endpoint::activity() const {
  std::string all;
  for (const Agent* agent : agents_) {
    const std::string one = agent->activity();
    if (one.empty()) continue;
    if (!all.empty()) all += "; ";
    all += one;
  }
  return all;
}

}  // namespace cxloom
