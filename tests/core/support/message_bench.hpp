// Agents on a bench: what they send waits in first-in first-out queues, one for each source, destination and
// message class, until the test delivers it. Time stands still at zero. It knows nothing of what the agents
// do.
#pragma once

#include <compare>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "component/agent.hpp"
#include "component/endpoint.hpp"
#include "component/port.hpp"
#include "component/system_context.hpp"
#include "protocol/message.hpp"

namespace cxloom::test {

/// Messages with one of these keep their order.
struct QueueKey {
  NodeId source;
  NodeId destination;
  Channel channel = Channel::kM2SReq;
  std::uint64_t vc = 0;  ///< of a sender whose messages need no order among each other; 0: none

  auto operator<=>(const QueueKey&) const = default;
};

/// Which messages from one device to another keep their order.
enum class NetworkOrder : std::uint8_t {
  kOfClass,  ///< those of one message class
  kOfLine,   ///< those of one class and one line: different lines take different ways
  kOfAll,    ///< all
};

class MessageBench {
 public:
  /// What becomes of a message that is sent. It may change the message, or put others into queues.
  enum class Fate : std::uint8_t { kQueued, kQueuedFirst, kLost };
  using OnSend = std::function<Fate(Message& message)>;

  struct Queue {
    EventHandler* receiver = nullptr;
    std::deque<Message*> messages;
  };
  /// The queues that hold something.
  using Queues = std::map<QueueKey, Queue>;

  MessageBench();
  MessageBench(const MessageBench&) = delete;
  MessageBench& operator=(const MessageBench&) = delete;
  ~MessageBench();

  Kernel& kernel() { return *kernel_; }
  SystemContext& system_context() { return system_context_; }
  const SystemContext& system_context() const { return system_context_; }

  /// A device without agents yet, whose one port leads to all others.
  Endpoint& add_device(const std::string& name);
  ComponentContext context_of(const Endpoint& device);
  const std::string& name_of(NodeId node) const { return names_[node.index()]; }
  void set_order(NetworkOrder order) { order_ = order; }
  /// Is asked of every message that a device sends.
  void on_send(OnSend decide) { decide_ = std::move(decide); }
  /// Shows the messages of the devices, all of which are there, to `observer`.
  void watch(ProtocolObserver& observer);
  /// What the agents of a device, which are all there, send to each other waits in queues, too.
  void queue_inside(Endpoint& device);
  /// Everything is made: the agents get ready.
  void start();

  const Queues& queues() const { return queues_; }
  /// A message for `receiver`, which is a part of a device rather than a device. Its virtual channel is not
  /// zero.
  void wait_for(EventHandler& receiver, const QueueKey& key, Message& message);
  /// The first message of a queue arrives, and the agents do all that they do at once.
  void deliver(const QueueKey& key);
  /// They do so after something else than an arrival.
  void settle();
  /// The first message of a queue leaves it, and is the caller's.
  Message& take(const QueueKey& key);
  /// A message of the caller's goes where messages of its source do.
  void put(Message& message);
  /// It arrives at once, from nowhere.
  void hand_over(Message& message);
  /// What was sent since it was asked last, as text.
  std::vector<std::string> take_sent() { return std::exchange(sent_, {}); }
  void keep_log() { logs_ = true; }

  /// "BISnpInv 0x40 mem -> host0", for people.
  std::string describe(const Message& message) const;

 private:
  class Device;
  class Outlet;
  class Inside;

  /// `inside`: it is for an agent of the sender's device. Null: it goes out.
  void send(Message& message, EventHandler* inside);
  void queue(Message& message, EventHandler* inside, bool first);

  std::unique_ptr<Kernel> kernel_;
  SystemContext system_context_;
  std::vector<std::unique_ptr<Device>> devices_;
  std::vector<std::unique_ptr<Outlet>> outlets_;
  std::vector<std::unique_ptr<Inside>> inside_;
  std::vector<std::string> names_;
  Queues queues_;
  OnSend decide_;
  NetworkOrder order_ = NetworkOrder::kOfClass;
  bool logs_ = false;
  std::vector<std::string> sent_;
};

}  // namespace cxloom::test
