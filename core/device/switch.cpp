#include "device/switch.hpp"

#include <algorithm>

#include "protocol/message_queue.hpp"

namespace cxloom {

namespace {

constexpr MeasureInfo kMessages{"messages", "", "messages that left the switch in the window"};
constexpr MeasureInfo kQueueMean{"queue_mean", "", "messages waiting for its ports, mean over time"};
constexpr MeasureInfo kWorstQueue{
    "queue_p99_worst_port", "",
    "messages waiting for a port, 99th percentile over time, of the port where it is largest"};
constexpr MeasureInfo kWorstUtilization{"utilization_worst_port", "",
                                        "busy time / length of the window, of the busiest port"};

}  // namespace

void SwitchParams::describe(Schema<SwitchParams>& schema) {
  schema.doc("A switch with any number of ports.");
  schema.field("port_bandwidth", &SwitchParams::port_bandwidth)
      .doc(
          "Bytes a second that a port moves in each direction; a link runs at the slowest of its own "
          "bandwidth and "
          "those of its ports.");
  schema.field("port_delay", &SwitchParams::port_delay)
      .doc("Time to cross a port, where the link does not say.")
      .source("ESF, Table III: PCIe port delay");
  schema.field("switching_time", &SwitchParams::switching_time)
      .doc("Time from a message's arrival (of its head, in cut-through) until it can leave.")
      .source("ESF, Table III");
  schema
      .choice("forwarding", &SwitchParams::forwarding,
              {{"cut-through", Forwarding::kCutThrough}, {"store-and-forward", Forwarding::kStoreAndForward}})
      .doc("Whether a message goes on when its head is in, or only when its last byte is.");
  schema
      .choice("queueing", &SwitchParams::queueing,
              {{"output", Queueing::kOutput}, {"voq", Queueing::kVirtualOutput}, {"fifo", Queueing::kFifo}})
      .doc(
          "output: ideal queues at the outputs, without limit. voq: virtual output queues at the inputs, "
          "which hold "
          "the link's credits. fifo: one queue at each input, whose head blocks the others.");
  schema
      .choice("arbitration", &SwitchParams::arbitration,
              {{"round-robin", Arbitration::kRoundRobin}, {"age", Arbitration::kAge}})
      .doc("Which input a port serves next: each in turn, or the oldest request.");
  schema.rule(
      "arbitration: age needs queues at the inputs: set queueing: voq or fifo",
      [](const SwitchParams& params) {
        return params.arbitration != Arbitration::kAge || params.queueing != Queueing::kOutput;
      },
      "arbitration");
}

/// A queue at an input. With virtual output queues all its messages leave by one port; otherwise each by its own, and
/// the head decides whom the queue asks.
class Switch::InputQueue final : public Feeder {
 public:
  InputQueue(Switch& owner, std::uint16_t input, Channel channel)
      : switch_(owner), input_(input), channel_(channel) {
    set_owner(owner);
  }

  Channel channel() const { return channel_; }

  void push(Message& message, std::uint16_t output) {
    const bool first = queue_.empty() && !leaving_;
    message.port = output;
    queue_.push(message);
    if (switch_.params_.queueing == Queueing::kVirtualOutput) {
      switch_.outputs_[output]->stamp(message);
    } else {
      // Behind another one's head it waits for its own port all the same: the port's queue is whoever is to leave by it.
      message.since = switch_.now();
      switch_.outputs_[output]->count_waiting();
    }
    if (first) ask();
  }

  Message& head() override { return queue_.front(); }

  void taken(Time end) override {
    Message& gone = queue_.pop();
    switch_.port(input_).release(gone, end);
    if (switch_.params_.queueing == Queueing::kFifo && end > switch_.now()) {
      leaving_ = true;  // one message at a time leaves the queue, whatever port it goes to
      switch_.wake_at(end, 0, reinterpret_cast<std::uintptr_t>(this));
    } else if (!queue_.empty()) {
      ask();
    }
  }
  /// The last byte of what was taken is out.
  void left() {
    leaving_ = false;
    if (!queue_.empty()) ask();
  }

 private:
  void ask() {
    Message& message = queue_.front();
    VirtualChannels& output = *switch_.outputs_[message.port];
    if (switch_.params_.queueing == Queueing::kFifo) {
      // It waited for its turn at the head; from here on it waits for the output. Its tail has kept coming in.
      message.charge(Segment::kSwitchQueue, switch_.now());
      const Time waited = switch_.now() - message.since;
      message.tail = message.tail > waited ? message.tail - waited : Time{};
      output.stamp(message, true);
    }
    output.ask(*this, channel_);
  }

  Switch& switch_;
  std::uint16_t input_;
  Channel channel_;
  bool leaving_ = false;
  MessageQueue queue_;
};

Switch::Switch(const SwitchParams& params, const DeviceContext& context)
    : Component(context),
      arbitrates_(params.queueing != Queueing::kOutput),
      fabric_(context.fabric),
      params_(params) {}

Switch::~Switch() = default;

void Switch::start() {
  for (std::size_t i = 0; i < port_count(); ++i) {
    ends_.push_back(&dynamic_cast<LinkEnd&>(port(i)));
    releases_ |= port(i).returns_credits();
  }
  fixed_ports_ = fabric_.routes->fixed_ports(id());
  if (!arbitrates()) {
    for (const std::uint16_t way : fixed_ports_)
      ways_.push_back(way == Routes::kVaries ? nullptr : &port(way));
    return;
  }
  for (const LinkEnd* end : ends_) {
    outputs_.push_back(end->channels());
    ensure(outputs_.back() != nullptr, "a switch with queues at its inputs needs ports with arbitration");
  }
}

Switch::InputQueue& Switch::queue_of(const Message& message, std::uint16_t output) {
  const bool virtual_output = params_.queueing == Queueing::kVirtualOutput;
  InputQueue*& queue = queues_.at(message.port, virtual_output ? output : std::uint16_t{0},
                                  static_cast<std::uint8_t>(message.channel));
  if (!queue) {
    all_queues_.push_back(std::make_unique<InputQueue>(*this, message.port, message.channel));
    queue = all_queues_.back().get();
  }
  return *queue;
}

std::uint16_t Switch::output_of(const Message& message) {
  const std::uint16_t fixed = fixed_ports_[message.destination.index()];
  return fixed != Routes::kVaries ? fixed : fabric_.routes->port(message, id());
}

void Switch::receive(Message& message) {
  message.charge(Segment::kSwitching, now());
  if (arbitrates_) {
    const std::uint16_t output = output_of(message);
    queue_of(message, output).push(message, output);
    return;
  }
  if (releases_) port(message.port).release(message, now());
  Port* way = ways_[message.destination.index()];
  if (!way) way = &port(output_of(message));
  way->send(message, now());
}

void Switch::wake(std::uint8_t /*kind*/, std::uint64_t payload) {
  reinterpret_cast<InputQueue*>(payload)->left();
}

std::vector<MeasureInfo> Switch::measures() {
  return {kMessages, kQueueMean, kWorstQueue, kWorstUtilization};
}

void Switch::report(MeasureSink& sink) const {
  const double length = (closed_ - opened_).ns();
  std::uint64_t messages = 0;
  double queue = 0.0;
  double worst_queue = 0.0;
  double worst_utilization = 0.0;
  for (const LinkEnd* end : ends_) {
    const WireTotals& totals = end->monitor().closed_totals();
    messages += totals.messages;
    queue += end->monitor().queue().mean();
    worst_queue = std::max(worst_queue, end->monitor().queue().quantile(0.99));
    if (length > 0.0) worst_utilization = std::max(worst_utilization, totals.busy.ns() / length);
  }
  sink.count(kMessages, messages);
  sink.add(kQueueMean, queue);
  sink.add(kWorstQueue, worst_queue);
  sink.add(kWorstUtilization, worst_utilization);
}

}  // namespace cxloom
