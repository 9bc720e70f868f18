#include "component/endpoint.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace cxloom {

std::string Agent::name() const { return endpoint_.name(); }

void Endpoint::bind(Channel channel, Agent& agent) {
  several_ |= std::ranges::any_of(takers_, [&](const Agent* other) { return other && other != &agent; });
  Agent*& taker = takers_[static_cast<std::size_t>(channel)];
  ensure(!taker || taker == &agent, "two agents that take the same messages");
  taker = &agent;
}

void Endpoint::refuse(const Message& message) const {
  throw InternalError(name() + " has no agent for a message of class " +
                      std::string(kChannelNames[static_cast<std::size_t>(message.channel)]));
}

void Endpoint::start() {
  for (Agent* agent : agents_) agent->start();
}

void Endpoint::wake(std::uint8_t kind, std::uint64_t payload) {
  Message& message = *reinterpret_cast<Message*>(payload);
  if (kind == kTake) {
    receive(message);
  } else {
    transmit(message, now());
  }
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
