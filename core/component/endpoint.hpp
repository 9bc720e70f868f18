// An endpoint: a device as a composition of agents. It binds message classes to agents and has the one way to
// send. One that passes on messages for others besides (a switch with memory) says what becomes of them in
// `pass_on` and `inject`.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "component/agent.hpp"
#include "component/component.hpp"
#include "component/system_context.hpp"
#include "protocol/message.hpp"

namespace cxloom {

class DeliveryOrder;
class RequestThrottle;

class Endpoint : public Component {
 public:
  Endpoint(const ComponentContext& context, SystemContext& system_context);
  ~Endpoint() override;

  /// The port of a message that has come in by none.
  static constexpr std::uint16_t kInside = 0xffffU;

  // For its agents.

  SystemContext& system_context() { return system_context_; }
  const SystemContext& system_context() const { return system_context_; }
  /// The address map as this device sees it, once the system is whole: without memory to which no way leads.
  const AddressMap& address_map() const { return *map_; }
  /// Joins the device: windows, reports and the like reach the agents in the order in which they joined.
  void add(Agent& agent);
  /// Messages of this class to the device go to `agent`, be they from outside or its own. It may send: most
  /// of what is taken is answered.
  void bind(Channel channel, Agent& agent);
  /// Messages of this class go to `agent` from now on, which passes on to the agent returned what is not its
  /// own. Null: nobody took them before.
  Agent* put_before(Channel channel, Agent& agent);
  /// `agent` may send, though it takes no messages. To be said before the simulation starts.
  void add_sender(Agent& agent);
  /// An agent of its hands messages over in another order than they are ready in: they leave in the latter,
  /// which takes an event more for each where a departure would be known at once. To be said before the
  /// simulation starts.
  void send_as_ready() { as_ready_ = true; }
  /// The receive buffer that a message took when it came in is free from `at` on. Agents call it once for
  /// every message that they get.
  void release(const Message& message, Time at) {
    if (returns_credits_ && message.port != kInside) port(message.port).release(message, at);
  }

  /// Gives a message that has come in to another agent of the device, for which it is. That one releases its
  /// buffer.
  void deliver(Message& message, Agent& to);
  /// Sends a message that an agent has made itself to another agent of the device. One that has come in would
  /// keep its buffer for ever: it is delivered.
  static void send_within(Message& message, Agent& to) {
    message.port = kInside;
    to.receive(message);
  }

  /// Its requests to memory pass it; null: they leave as they come.
  RequestThrottle* throttle() const { return throttle_; }
  void set_throttle(RequestThrottle& throttle) { throttle_ = &throttle; }

  void start() override;
  bool reroutes() const override { return !contains_switch_; }
  void take_back(Message& message) override;
  void take_kept(std::uint64_t stream) override;
  [[gnu::hot]] void receive(Message& message) override {
    if (message.destination == id()) [[likely]] {
      take(message);
    } else {
      pass_on(message);
    }
  }
  void foresee(std::uint8_t kind, std::uint64_t payload) const override;
  void wake(std::uint8_t kind, std::uint64_t payload) final;
  void open_window(Time at) override;
  void close_window(Time at) override;
  void report(MeasureSink& sink) const override;
  void resources(ResourceSink& sink) const override;
  std::string activity() const override;
  void watch_protocol(bool begins) final;

 protected:
  /// To be called when it is made by a device that passes on messages for others. What its agents send goes
  /// to `inject`.
  void contain_switch() {
    contains_switch_ = true;
    sends_by_port_ = false;
  }
  /// A message for another device has come in. Nobody but a device that contains a switch gets one.
  virtual void pass_on(Message& message);
  /// Sends a message of its own agents, which is ready now, to another device; for a device that contains a
  /// switch.
  virtual void inject(Message& message);
  /// Gives a message to the agent that takes it, now or when its last byte is in.
  void take(Message& message) {
    Agent* const agent = takers_[static_cast<std::size_t>(message.channel)];
    if (!agent) [[unlikely]]
      return take_aside(message);
    agent->receive(message);
  }
  void take_at(Message& message, Time at);

 private:
  friend class Agent;
  using Takers = std::array<Agent*, kChannelCount>;
  enum Wake : std::uint8_t { kInject, kTake, kTransmit };

  // Sends by the port that leads to the destination; a message to the device itself goes to the agent that
  // takes it.
  void transmit(Message& message, Time ready) {
    if (!sends_by_port_) [[unlikely]]
      return transmit_otherwise(message, ready);
    if (message.destination == id()) {
      send_to_itself(message, ready);
    } else {
      send_by(way_of(message), message, ready);
    }
  }
  void send_by(std::uint16_t way, Message& message, Time ready) {
    if (way == Routes::kNowhere) [[unlikely]]
      return nowhere(message, ready);
    port(way).send(message, ready);
  }
  void nowhere(Message& message, Time ready);
  void transmit_otherwise(Message& message, Time ready);
  void send_to_itself(Message& message, Time ready) {
    message.port = kInside;
    take_at(message, ready);
  }
  std::uint16_t way_of(Message& message) {
    return port_count() == 1 ? std::uint16_t{0} : system_context_.routes->port(message, id());
  }
  void inject_at(Message& message, Time ready);
  /// From now on messages are looked at one by one, or no longer.
  void look_aside(bool begins);
  void take_aside(Message& message);
  void give(Message& message);
  Agent*& taker_of(Channel channel);
  [[noreturn]] void refuse(const Message& message) const;
  [[noreturn]] void refuse_sender() const;

  // First what every message touches, with the takers of CXL.mem in one cache line.
  bool returns_credits_ = false;  // by some port
  bool contains_switch_ = false;
  bool as_ready_ = false;
  bool watched_ = false;       // by `SystemContext::observer`
  bool detours_ = false;       // of routes
  bool sends_by_port_ = true;  // it contains no switch, and nobody looks at what it sends
  SystemContext& system_context_;
  const AddressMap* map_;
  RequestThrottle* throttle_ = nullptr;
  Takers takers_{};  // none while messages are looked at one by one: `take` goes the longer way
  DeliveryOrder* order_ = nullptr;  // none: routes keep the order
  std::unique_ptr<Takers> aside_;   // then they are here
  std::uint32_t held_ = 0;          // messages that `order_` keeps for it
  std::uint32_t senders_ = 0;
  std::vector<Agent*> agents_;
  std::vector<PortMemory> port_memory_;  // by port
};

inline void Agent::transmit(Message& message, Time ready) {
  if (!sends_) [[unlikely]]
    endpoint_.refuse_sender();
  endpoint_.transmit(message, ready);
}

}  // namespace cxloom
