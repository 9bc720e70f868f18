// An endpoint: a device as a composition of agents. It binds message classes to agents and has the one way to send.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "component/agent.hpp"
#include "component/component.hpp"
#include "component/fabric.hpp"
#include "protocol/message.hpp"

namespace cxloom {

class Endpoint : public Component {
 public:
  Endpoint(const ComponentContext& context, Fabric& fabric) : Component(context), fabric_(fabric) {}

  // For its agents.

  Fabric& fabric() { return fabric_; }
  const Fabric& fabric() const { return fabric_; }
  /// Joins the device: windows, reports and the like reach the agents in the order in which they joined.
  void add(Agent& agent) { agents_.push_back(&agent); }
  /// Messages of this class go to `agent`, be they from outside or of its own device.
  void bind(Channel channel, Agent& agent);
  /// Sends a message that is ready at `ready`, now or later, by the port that leads to its destination; one to the device
  /// itself goes to the agent that takes it.
  void transmit(Message& message, Time ready) {
    if (message.destination == id()) {
      message.port = kInside;
      wake_at(ready, kTake, reinterpret_cast<std::uintptr_t>(&message));
      return;
    }
    Port& out = port(port_count() == 1 ? 0 : fabric_.routes->port(message, id()));
    // What is ready later must not be handed over ahead of time to a port that has a queue, if another agent may send in
    // between.
    if (several_ && ready > now() && out.queues()) {
      wake_at(ready, kSend, reinterpret_cast<std::uintptr_t>(&message));
    } else {
      out.send(message, ready);
    }
  }
  /// The receive buffer that a message took when it came in is free from `at` on. Agents call it once for every message
  /// that they get.
  void release(const Message& message, Time at) {
    if (message.port != kInside) port(message.port).release(message, at);
  }

  void start() override;
  void receive(Message& message) final {
    Agent* const agent = takers_[static_cast<std::size_t>(message.channel)];
    if (!agent) [[unlikely]]
      refuse(message);
    agent->receive(message);
  }
  void wake(std::uint8_t kind, std::uint64_t payload) final;
  void open_window(Time at) override;
  void close_window(Time at) override;
  void report(MeasureSink& sink) const override;
  std::string activity() const override;

 private:
  enum Wake : std::uint8_t { kSend, kTake };
  /// The port of a message that has come in by none.
  static constexpr std::uint16_t kInside = 0xffffU;

  [[noreturn]] void refuse(const Message& message) const;

  std::array<Agent*, kChannelCount> takers_{};
  Fabric& fabric_;
  bool several_ = false;  // agents that take messages, and hence send
  std::vector<Agent*> agents_;
};

}  // namespace cxloom
