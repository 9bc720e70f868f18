#include "device/switch/core.hpp"

#include <algorithm>

#include "base/arena.hpp"
#include "base/measure_table.hpp"
#include "component/failures.hpp"
#include "device/switch/persist_buffer.hpp"
#include "device/switch/persist_domain.hpp"
#include "device/switch/replica_table.hpp"
#include "protocol/error_answer.hpp"
#include "protocol/protocol_observer.hpp"

namespace cxloom {

namespace {

struct SwitchCoreMeasured {
  std::uint64_t messages = 0;
  double queue_mean = 0;
  double worst_queue = 0;
  double worst_utilization = 0;
  std::optional<Value> persist_buffer;
  std::optional<Value> replication;
};

constexpr std::array kSwitchCoreMeasures{
    measure<&SwitchCoreMeasured::messages>("messages", "", "messages that left the switch in the window"),
    measure<&SwitchCoreMeasured::queue_mean>("queue_mean", "",
                                             "messages waiting for its ports, mean over time"),
    measure<&SwitchCoreMeasured::worst_queue>(
        "queue_p99_worst_port", "",
        "messages waiting for a port, 99th percentile over time, of the port where it is largest"),
    measure<&SwitchCoreMeasured::worst_utilization>("utilization_worst_port", "",
                                                    "busy time / length of the window, of the busiest port"),
    measure<&SwitchCoreMeasured::persist_buffer>(
        "persist_buffer", "", "what its persist buffer did in the window. Absent without one",
        parts_of<kPersistMeasures>()),
    measure<&SwitchCoreMeasured::replication>(
        "replication", "",
        "what it did in the window for regions that it replicates. Absent where there are none",
        parts_of<kReplicaTableMeasures>()),
};

/// Out of the way of switches without a buffer.
[[gnu::noinline]] bool is_kept(PersistBuffer& buffer, Message& message) { return buffer.take(message); }

}  // namespace

SwitchCore::SwitchCore(const SwitchParams& params, Component& owner, SystemContext& system_context)
    : owner_(owner),
      queueing_(params.queueing),
      system_context_(system_context),
      all_queues_(&owner.kernel().arena().memory()) {
  if (params.persist_buffer) {
    persist_in(std::make_unique<PersistBuffer>(*params.persist_buffer, params.switching_time, *this, owner,
                                               system_context));
  }
}

void SwitchCore::persist_in(std::unique_ptr<PersistBuffer> buffer) {
  system_context_.roles.declare<PersistDomain>(owner_, owner_.id(), *buffer);
  persists_ = std::move(buffer);
}

ReplicaTable& SwitchCore::replicate(ReplicaSets& sets) {
  if (!replicas_) replicas_ = std::make_unique<ReplicaTable>(sets, *this, owner_, system_context_);
  replicates_ = true;
  return *replicas_;
}

SwitchCore::~SwitchCore() = default;

void SwitchCore::start() {
  for (std::size_t i = 0; i < owner_.port_count(); ++i) {
    releases_ |= owner_.port(i).returns_credits();
    port_memory_.push_back(owner_.port(i).memory());
  }
  load_routes();
  passes_at_once_ = !arbitrates() && !releases_ && !persists_ && !replicates_;
  if (!arbitrates()) return;
  for (std::size_t i = 0; i < owner_.port_count(); ++i) {
    outputs_.push_back(VirtualChannels::of(owner_.port(i)));
    ensure(outputs_.back() != nullptr, "a switch with queues at its inputs needs ports with arbitration");
  }
}

void SwitchCore::load_routes() {
  turns_ = system_context_.routes->turns(owner_.id());
  fixed_ports_ = system_context_.routes->fixed_ports(owner_.id());
  if (failed_) std::fill(fixed_ports_.begin(), fixed_ports_.end(), Routes::kVaries);
  if (arbitrates()) return;
  ways_.clear();
  for (const std::uint16_t way : fixed_ports_)
    ways_.push_back(way == Routes::kVaries ? nullptr : &owner_.port(way));
}

void SwitchCore::routes_changed(bool failed) {
  failed_ = failed;
  load_routes();
  if (replicas_) replicas_->set_failed(failed);
  if (persists_) persists_->routes_changed(failed);
}

// A queue has a key while it holds something. So the queues in use are as many as the messages that wait, at
// most, and not as many as the pairs of ports that talk: what a message touches has been used a short time
// ago.
InputQueue& SwitchCore::queue_of(const Message& message, std::uint16_t output) {
  const InputQueue::Key key{message.port, in_order() ? std::uint16_t{0} : output, vc_of(message)};
  InputQueue*& queue = queues_.at(key.input, key.output, key.vc);
  if (queue) return *queue;
  if (empty_queues_.empty()) {
    queue = &all_queues_.emplace_back(*this);
  } else {
    queue = empty_queues_.back();
    empty_queues_.pop_back();
  }
  queue->move_to(key);
  return *queue;
}

void SwitchCore::put_away(InputQueue& queue) {
  const InputQueue::Key& key = queue.key();
  queues_.remove(key.input, key.output, key.vc);
  empty_queues_.push_back(&queue);
}

std::uint16_t SwitchCore::output_of(Message& message) {
  const std::uint16_t fixed = fixed_ports_[message.destination.index()];
  if (fixed != Routes::kVaries) return fixed;
  return failed_ ? Routes::kNowhere : system_context_.routes->port(message, owner_.id());
}

void SwitchCore::forward_otherwise(Message& message) {
  if (persists_) [[unlikely]] {
    if (is_kept(*persists_, message)) return;
  }
  if (replicates_) [[unlikely]] {
    if (replicas_->came(message)) return;
  }
  pass_on(message);
}

bool SwitchCore::keeps(const Message& message) const {
  return (persists_ && persists_->owns(message)) || (replicas_ && replicas_->owns(message));
}

void SwitchCore::pass_on(Message& message) {
  if (arbitrates()) return queue_for(output_of(message), message);
  if (releases_) release_whole(message);
  if (Port* const way = ways_[message.destination.index()]) [[likely]] {
    way->send(message, now());
  } else {
    send_by(output_of(message), message);
  }
}

void SwitchCore::forward_by(std::uint16_t output, Message& message) {
  if (arbitrates()) return queue_for(output, message);
  if (releases_) release_whole(message);
  send_by(output, message);
}

// A call of it would be 12 instructions a hop.
[[gnu::always_inline]] inline void SwitchCore::queue_for(std::uint16_t output, Message& message) {
  if (output == Routes::kNowhere) [[unlikely]]
    return nowhere(message);
  // In a FIFO one message leaves at a time: its output may be idle while the one before still leaves by
  // another. Where there are several virtual channels, the queue knows by which one a message has come in.
  if (in_order() || turns_ || !outputs_[output]->bypass(message, *this)) queue(message, output);
}

void SwitchCore::send_by(std::uint16_t output, Message& message) {
  if (output == Routes::kNowhere) [[unlikely]]
    return nowhere(message);
  owner_.port(output).send(message, now());
}

std::uint16_t SwitchCore::other_output_of(Message& message, std::uint16_t input) {
  const std::uint16_t output = output_of(message);
  if (output == Routes::kNowhere) return output;
  if (guard_ && is_port(input) && !guard_->admits(message, input, output)) {
    if (!is_answer(message)) return Routes::kNowhere;
    guard_->refused_answer();
    system_context_.failures->refuses(message, now());
    make_error_answer(message, owner_.id());
    note_sent(message);
  }
  system_context_.failures->rerouted(now());
  return output;
}

// It has left its receive buffer. Without queues it keeps the port by which it came in, for the guard: the
// next port may close, too.
void SwitchCore::take_back(Message& message) {
  const std::uint16_t output = other_output_of(message, message.port);
  if (!arbitrates()) return send_by(output, message);
  message.port = inside();
  queue_for(output, message);
}

void SwitchCore::refuse(Message& message) {
  release_whole(message);
  message.port = inside();
  message.virtual_channel = 0;
  if (system_context_.failures && !system_context_.failures->refuses(message, now())) return;
  make_error_answer(message, owner_.id());
  note_sent(message);
  pass_on(message);
}

// It is the owner's own from now on.
void SwitchCore::note_sent(const Message& message) const {
  if (system_context_.observer) system_context_.observer->sent(message, now());
}

void SwitchCore::nowhere(Message& message) {
  ensure(system_context_.failures != nullptr, "a message to a device that no way leads to");
  if (arbitrates()) release_whole(message);
  message.port = inside();
  message.virtual_channel = 0;
  if (persists_ && persists_->owns(message)) return persists_->has_no_way(message);
  if (failed_) {
    system_context_.failures->lose(message, now());
  } else if (system_context_.failures->answers(message, owner_.id(), now())) {
    if (replicates_ && replicas_->owns(message)) return replicas_->answered_here(message);
    pass_on(message);
  }
}

void SwitchCore::queue(Message& message, std::uint16_t output) {
  queue_of(message, output).push(message, output);
}

void SwitchCore::wake(std::uint8_t /*kind*/, std::uint64_t payload) { object_of<InputQueue>(payload).left(); }

std::vector<MeasureInfo> SwitchCore::measures() { return infos_of(kSwitchCoreMeasures); }

std::string SwitchCore::activity() const {
  const std::string own = replicas_ ? replicas_->activity() : std::string();
  const std::string kept = persists_ ? persists_->activity() : std::string();
  return own.empty() || kept.empty() ? kept + own : kept + "; " + own;
}

void SwitchCore::resources(ResourceSink& sink) const {
  if (persists_) persists_->resources(sink);
  if (replicas_) replicas_->resources(sink);
}

void SwitchCore::report(MeasureSink& sink) const {
  SwitchCoreMeasured measured;
  for (std::size_t i = 0; i < owner_.port_count(); ++i) {
    const WireMonitor& monitor = owner_.port(i).monitor();
    const WireTotals totals = monitor.closed_totals();
    measured.messages += totals.messages;
    measured.queue_mean += monitor.queue().mean();
    measured.worst_queue = std::max(measured.worst_queue, monitor.queue().quantile(0.99));
    measured.worst_utilization = std::max(measured.worst_utilization, monitor.measured().share(totals.busy));
  }
  if (persists_) measured.persist_buffer = persists_->report();
  if (replicas_) measured.replication = replicas_->report();
  report_all(kSwitchCoreMeasures, measured, sink);
}

}  // namespace cxloom
