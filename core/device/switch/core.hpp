// What makes a device a switch: queues at its inputs, and the way of each message to a port. A switch is
// little else; a device that is a switch and more has one beside what it does itself.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "base/measure.hpp"
#include "component/component_time.hpp"
#include "component/system_context.hpp"
#include "component/virtual_channel_turns.hpp"
#include "component/wire_monitor.hpp"
#include "device/switch/input_queue.hpp"
#include "device/switch/pair_table.hpp"
#include "device/switch/params.hpp"
#include "interconnect/channel/virtual_channels.hpp"
#include "kernel/event_handler.hpp"

namespace cxloom {

class PersistBuffer;
class ReplicaSets;
class ReplicaTable;

/// Says which ports of a switch belong together.
class PortGuard {
 public:
  /// A message that has come in by a port may leave by another.
  virtual bool admits(const Message& message, std::uint16_t input, std::uint16_t output) const = 0;
  /// An answer that it did not admit leaves as an error.
  virtual void refused_answer() = 0;

 protected:
  ~PortGuard() = default;
};

/// By lines of its own: its first members are what a message touches.
class alignas(64) SwitchCore final : public EventHandler, private BypassSource {
 public:
  SwitchCore(const SwitchParams& params, Component& owner, SystemContext& system_context);
  ~SwitchCore() override;

  std::string name() const override { return owner_.name(); }
  /// Its ports take messages from its queues when they can.
  bool arbitrates() const { return queueing_ != Queueing::kOutput; }

  /// Messages leave by ports that `guard` admits, and no others: the owner asks for each that comes in, the
  /// core where links fail. To be called before the run.
  void guard_by(PortGuard& guard) {
    guard_ = &guard;
    guarded_ = true;
  }
  bool guarded() const { return guarded_; }
  /// Writes to persistent memory pass this buffer. To be called before `start`.
  void persist_in(std::unique_ptr<PersistBuffer> buffer);

  /// Requests to regions that it replicates come to the owner. To be called before `start`.
  ReplicaTable& replicate(ReplicaSets& sets);
  bool replicates() const { return replicates_; }

  /// The owner's ports are connected.
  void start();
  /// Passes on a message that has come in by a port of the owner, charged up to now, unless it is for the
  /// persist buffer.
  void forward(Message& message) {
    if (passes_at_once_) [[likely]] {
      if (Port* const way = ways_[message.destination.index()]) [[likely]]
        return way->send(message, now());
    }
    forward_otherwise(message);
  }
  /// The persist buffer, or the table of replicated writes, waits for it. It is none of the owner's other
  /// parts'.
  bool keeps(const Message& message) const;
  /// Passes a message on by that port, which may be Routes::kNowhere.
  void forward_by(std::uint16_t output, Message& message);
  /// Sends a message of the owner's own, ready now: it queues like one that has come in by a port of its own.
  void inject(Message& message) {
    message.port = inside();
    pass_on(message);
  }
  void wake(std::uint8_t kind, std::uint64_t payload) override;
  /// A message comes soon: fetches what it will touch.
  [[gnu::always_inline]] void foresee_message(const Message& message) const {
    const std::uint16_t output = fixed_ports_[message.destination.index()];
    const ClassVc vc = vc_of(message);
    if (output < port_memory_.size()) port_memory_[output].fetch_for_leaving(vc);
    if (message.port < port_memory_.size()) port_memory_[message.port].fetch_for_release(vc);
    if (arbitrates()) queues_.fetch(message.port, in_order() ? std::uint16_t{0} : output, vc);
  }

  /// The routes have changed. `failed`: it loses what it holds, and what comes.
  void routes_changed(bool failed);
  /// A message that a closed port has not sent, which came in by the port that it names.
  void take_back(Message& message);

  std::string activity() const;
  void report(MeasureSink& sink) const;
  void resources(ResourceSink& sink) const;
  static std::vector<MeasureInfo> measures();

  // For its queues.

  const Component& owner() const { return owner_; }
  Time now() const { return owner_.now(); }
  /// A queue holds messages to any port, in order.
  bool in_order() const { return queueing_ == Queueing::kFifo; }
  VirtualChannels& output(std::uint16_t port) { return *outputs_[port]; }
  /// It is one by which messages come in from outside.
  bool is_port(std::uint16_t input) const { return input != inside(); }
  /// The receive buffer at that input is free from `at` on.
  void release(ClassVc vc, std::uint16_t input, Time at) {
    if (is_port(input)) owner_.port(input).release(vc, at);
  }
  /// The virtual channel by which a message that came in by `input` and its own goes on to `output`.
  std::uint8_t next_virtual_channel(std::uint16_t input, std::uint16_t output, const Message& message) const {
    return turns_ ? turns_->after(input, output, message.virtual_channel, message) : std::uint8_t{0};
  }
  /// The port by which a message leaves that came in by `input` and waited for a port which is closed now;
  /// Routes::kNowhere if there is none.
  std::uint16_t other_output_of(Message& message, std::uint16_t input);
  /// The port by which a message leaves, or Routes::kNowhere.
  std::uint16_t output_of(Message& message);
  /// Answers a request that has come in by a port with an error, or makes an answer one, and passes it on.
  /// All else is lost, where something may be.
  void refuse(Message& message);
  /// Passes it on by another port, if there is one. It is at the input that is its port.
  void forward_anew(Message& message) { forward_by(other_output_of(message, message.port), message); }
  /// A message at the input that is its port, charged up to now, has no way on.
  void nowhere(Message& message);
  /// It holds nothing any more.
  void put_away(InputQueue& queue);
  void wake_when_left(InputQueue& queue, Time at) {
    owner_.kernel().schedule(at, owner_.source(), *this, 0, payload_of(queue));
  }

 private:
  /// Its receive buffer is free when its last byte has been switched.
  void release_whole(const Message& message) { release(vc_of(message), message.port, now() + message.tail); }
  void forward_otherwise(Message& message);
  /// On its way to its destination.
  void pass_on(Message& message);
  /// To leave by that port, at once where nobody is before it.
  void queue_for(std::uint16_t output, Message& message);
  void send_by(std::uint16_t output, Message& message);
  /// The input of the owner's own messages.
  std::uint16_t inside() const { return static_cast<std::uint16_t>(owner_.port_count()); }
  void load_routes();
  void note_sent(const Message& message) const;
  void queue(Message& message, std::uint16_t output) override;
  void passed(const Message& message, std::uint16_t input, Time end) override {
    release(vc_of(message), input, end);
  }
  InputQueue& queue_of(const Message& message, std::uint16_t output);

  // What a message touches without queues is one cache line.
  std::vector<Port*> ways_;  // without queues: by destination, its fixed port or null
  Component& owner_;
  std::unique_ptr<PersistBuffer> persists_;  // none: it passes everything on
  Queueing queueing_;
  bool releases_ = false;  // some link into it counts credits
  bool guarded_ = false;   // there is a guard, whose place is a line that messages do not touch otherwise
  bool failed_ = false;
  bool replicates_ = false;      // there is a table, whose place is another line as well
  bool passes_at_once_ = false;  // every message with a fixed way, as nothing in it waits or is counted
  SystemContext& system_context_;
  const VirtualChannelTurns* turns_ = nullptr;  // none: one virtual channel for each class
  PortGuard* guard_ = nullptr;                  // none: all ports belong together
  std::vector<std::uint16_t> fixed_ports_;      // by destination, or Routes::kVaries
  std::vector<VirtualChannels*> outputs_;       // of the ports, if it arbitrates
  std::vector<PortMemory> port_memory_;         // by port
  PairTable<InputQueue> queues_;           // queues that hold something, or whose last message is leaving
  std::vector<InputQueue*> empty_queues_;  // the last one that became empty is the next to be used
  std::pmr::deque<InputQueue> all_queues_;
  std::unique_ptr<ReplicaTable> replicas_;  // none: it replicates nothing
};

}  // namespace cxloom
