#include "core/support/message_bench.hpp"

#include <utility>

#include "component/component_time.hpp"

namespace cxloom::test {

class MessageBench::Device final : public Endpoint {
 public:
  using Endpoint::Endpoint;
};

/// The port of a device: whatever is handed over is sent.
class MessageBench::Outlet final : public Port {
 public:
  explicit Outlet(MessageBench& bench) : bench_(bench) {}
  void send(Message& message, Time ready) override {
    ensure(ready == bench_.kernel_->now(), "a message that is sent later, on a bench without time");
    bench_.send(message, nullptr);
  }
  void share() override {}
  std::uint32_t load(Channel /*which*/) override { return 0; }
  bool unlimited() const override { return true; }
  WireMonitor& monitor() override { throw InternalError("a bench has no wires"); }

 private:
  MessageBench& bench_;
};

/// Stands before the agents of a device: gives them what comes from outside, and keeps what they send to each
/// other.
class MessageBench::Inside final : public Agent {
 public:
  Inside(MessageBench& bench, Endpoint& device) : Agent(device), bench_(bench), arrivals_(*this) {
    for (std::size_t i = 0; i < kChannelCount; ++i)
      takers_[i] = device.put_before(static_cast<Channel>(i), *this);
  }

  void receive(Message& message) override {
    if (message.source == message.destination) {
      bench_.send(message, &arrivals_);
    } else {
      give(message);
    }
  }
  bool acts_later() const override { return true; }

 private:
  struct Arrivals final : EventHandler {
    explicit Arrivals(Inside& whole) : inside(whole) {}
    void receive(Message& message) override { inside.give(message); }
    Inside& inside;
  };

  void give(Message& message) {
    Agent* const taker = takers_[static_cast<std::size_t>(message.channel)];
    ensure(taker != nullptr, "a message that no agent of the device takes");
    endpoint().deliver(message, *taker);
  }

  MessageBench& bench_;
  Arrivals arrivals_;
  std::array<Agent*, kChannelCount> takers_{};
};

MessageBench::MessageBench() : kernel_(std::make_unique<Kernel>()) {}
MessageBench::~MessageBench() = default;

Endpoint& MessageBench::add_device(const std::string& name) {
  const NodeId id{static_cast<std::uint32_t>(names_.size())};
  names_.push_back(name);
  devices_.push_back(std::make_unique<Device>(ComponentContext{*kernel_, name, id, 1}, system_context_));
  outlets_.push_back(std::make_unique<Outlet>(*this));
  devices_.back()->attach(*outlets_.back());
  return *devices_.back();
}

ComponentContext MessageBench::context_of(const Endpoint& device) {
  return {*kernel_, device.name(), device.id(), 1};
}

void MessageBench::watch(ProtocolObserver& observer) {
  system_context_.observer = &observer;
  for (const auto& device : devices_) device->watch_protocol(true);
}

void MessageBench::queue_inside(Endpoint& device) {
  inside_.push_back(std::make_unique<Inside>(*this, device));
}

void MessageBench::start() {
  for (const auto& device : devices_) device->start();
  settle();
}

void MessageBench::send(Message& message, EventHandler* inside) {
  const Fate fate = decide_ ? decide_(message) : Fate::kQueued;
  if (logs_)
    sent_.push_back(describe(message) + (fate == Fate::kLost          ? ", which is lost"
                                         : fate == Fate::kQueuedFirst ? ", which overtakes others"
                                                                      : ""));
  if (fate == Fate::kLost) return;
  queue(message, inside, fate == Fate::kQueuedFirst);
}

void MessageBench::queue(Message& message, EventHandler* inside, bool first) {
  const bool by_line = order_ == NetworkOrder::kOfLine;
  const std::uint64_t vc = by_line ? LineAddress::of(message.address).number() + 1 : 0;
  const Channel channel = order_ == NetworkOrder::kOfAll ? Channel{} : message.channel;
  Queue& queue = queues_[{message.source, message.destination, channel, vc}];
  queue.receiver = inside ? inside : devices_[message.destination.index()].get();
  if (first) {
    queue.messages.push_front(&message);
  } else {
    queue.messages.push_back(&message);
  }
}

void MessageBench::wait_for(EventHandler& receiver, const QueueKey& key, Message& message) {
  ensure(key.vc != 0, "a message of a part in a queue of its device");
  Queue& queue = queues_[key];
  queue.receiver = &receiver;
  queue.messages.push_back(&message);
}

Message& MessageBench::take(const QueueKey& key) {
  const auto found = queues_.find(key);
  Message& message = *found->second.messages.front();
  found->second.messages.pop_front();
  if (found->second.messages.empty()) queues_.erase(found);
  return message;
}

void MessageBench::put(Message& message) {
  if (logs_) sent_.push_back(describe(message) + ", an error");
  queue(message, nullptr, false);
}

void MessageBench::hand_over(Message& message) {
  message.port = 0;
  devices_[message.destination.index()]->receive(message);
}

void MessageBench::deliver(const QueueKey& key) {
  EventHandler& receiver = *queues_.at(key).receiver;
  Message& message = take(key);
  message.port = 0;
  receiver.receive(message);
  settle();
}

void MessageBench::settle() {
  constexpr std::uint64_t kMost = 100'000;
  ensure(kernel_->run(Time{}, kMost) < kMost, "agents that never come to rest");
  ensure(kernel_->idle(), "an event in the future, on a bench without time");
}

std::string MessageBench::describe(const Message& message) const {
  std::string text(kOpcodeNames[static_cast<std::size_t>(message.opcode)]);
  text += " " + to_text(LineAddress::of(message.address).address());
  if (message.lines > 0) text += " x" + std::to_string(message.lines);
  if (message.source == message.destination) return text + " in " + name_of(message.source);
  return text + " " + name_of(message.source) + " -> " + name_of(message.destination);
}

}  // namespace cxloom::test
