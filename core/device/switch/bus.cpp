#include "device/switch/bus.hpp"

#include "base/measure_table.hpp"
#include "base/schema.hpp"
#include "component/component_time.hpp"
#include "component/failures.hpp"
#include "component/resource.hpp"
#include "interconnect/wire/shared_medium.hpp"

namespace cxloom {

namespace {

struct DirectionMeasured {
  double utilization = 0;
  double payload_rate = 0;
  double queue_mean = 0;
  double queue_p99 = 0;
  double queue_max = 0;
};

constexpr std::array kDownstreamMeasures{
    measure<&DirectionMeasured::utilization>("downstream_utilization", "",
                                             "busy time of the downstream direction / length of the window"),
    measure<&DirectionMeasured::payload_rate>("downstream_payload_gb_per_s", "GB/s",
                                              "payload bytes that went downstream / length of the window"),
    measure<&DirectionMeasured::queue_mean>("downstream_queue_mean", "",
                                            "messages waiting to go downstream, mean over time"),
    measure<&DirectionMeasured::queue_p99>("downstream_queue_p99", "",
                                           "messages waiting to go downstream, 99th percentile over time"),
    measure<&DirectionMeasured::queue_max>("downstream_queue_max", "",
                                           "messages waiting to go downstream, largest number"),
};
constexpr std::array kUpstreamMeasures{
    measure<&DirectionMeasured::utilization>("upstream_utilization", "",
                                             "busy time of the upstream direction / length of the window"),
    measure<&DirectionMeasured::payload_rate>("upstream_payload_gb_per_s", "GB/s",
                                              "payload bytes that went upstream / length of the window"),
    measure<&DirectionMeasured::queue_mean>("upstream_queue_mean", "",
                                            "messages waiting to go upstream, mean over time"),
    measure<&DirectionMeasured::queue_p99>("upstream_queue_p99", "",
                                           "messages waiting to go upstream, 99th percentile over time"),
    measure<&DirectionMeasured::queue_max>("upstream_queue_max", "",
                                           "messages waiting to go upstream, largest number"),
};

struct BothMeasured {
  double utilization = 0;
  std::optional<double> turnaround;
  Value efficiency = {};
};

constexpr std::array kBothMeasures{
    measure<&BothMeasured::utilization>(
        "utilization", "", "bus utility: busy time / time; of full duplex the mean of the directions"),
    measure<&BothMeasured::turnaround>("turnaround", "",
                                       "time in which the medium that both directions share turned / length "
                                       "of the window. Absent of full duplex"),
    measure<&BothMeasured::efficiency>(
        "efficiency", "",
        "transmission efficiency: payload bytes / bytes on the wire; null if there were none"),
};

DirectionMeasured way_of(const WireMonitor& monitor) {
  const MeasuredWindow& measured = monitor.measured();
  const WireTotals totals = monitor.closed_totals();
  const LevelMonitor& queue = monitor.queue();
  return {.utilization = measured.share(totals.busy),
          .payload_rate = measured.per_ns(static_cast<double>(totals.payload)),
          .queue_mean = queue.mean(),
          .queue_p99 = queue.quantile(0.99),
          .queue_max = queue.maximum()};
}

}  // namespace

void BusParams::describe(Schema<BusParams>& schema) {
  schema.doc("A shared medium between an upstream side and many endpoints.");
  schema.field("bandwidth", &BusParams::bandwidth)
      .doc("Bytes per second in each direction; a half-duplex bus shares it between the two.");
  schema.field("bus_time", &BusParams::bus_time).doc("Time to cross the bus.").source("ESF, Table III");
  schema.choice("duplex", &BusParams::duplex, {{"full", Duplex::kFull}, {"half", Duplex::kHalf}})
      .doc("Whether the two directions have a medium each or share one.");
  schema.field("turnaround", &BusParams::turnaround)
      .doc("Of a half-duplex bus: idle time when the direction changes.");
  MessageCost::describe_in(schema, &BusParams::header, &BusParams::data_header);
  schema.field("port_delay", &BusParams::port_delay)
      .doc("Time to cross a port of the bus, where the link does not say.");
  schema.rule(
      "a full-duplex bus has no turnaround: set duplex: half",
      [](const BusParams& bus) { return bus.duplex == Duplex::kHalf || bus.turnaround == Time{}; },
      "turnaround");
}

Bus::Bus(const BusParams& params, const DeviceContext& context)
    : Component(context),
      system_context_(context.system_context),
      bus_time_(params.bus_time),
      port_delay_(params.port_delay),
      headers_{params.header.count(), params.data_header.count()},
      shared_(params.duplex == Duplex::kHalf),
      wires_{Wire(params.bandwidth.rate, params.turnaround), Wire(params.bandwidth.rate, params.turnaround)},
      media_{&wires_[0], &wires_[shared_ ? 0 : 1]} {
  system_context_.roles.declare<SharedMedium>(*this, id(), *this);
  kernel().measure(monitors_[0], monitors_[1], turns_);
}

// Takes the message over the medium, as soon as that is free after `ready`.
inline void Bus::pass(Message& message, Direction direction, Time ready) {
  const std::uint64_t payload = message.payload();
  const std::uint64_t bytes = message_bytes(payload);
  Wire& medium = *media_[direction];
  WireMonitor& monitor = monitors_[direction];
  Wire::Use use{.start = ready, .end = ready + message.tail, .turn = {}};
  if (medium.unlimited()) {  // never busy
    monitor.count_at_once(bytes, payload);
  } else {
    use = medium.carry(bytes, ready, use.end, direction);
    if (use.turn > Time{}) [[unlikely]]
      turns_.book_turn(use.turn, use.start, now());
    monitor.book(
        {ready, use.start, use.end, static_cast<std::uint32_t>(bytes), static_cast<std::uint16_t>(payload)},
        now());
    message.tail = use.end - use.start;
  }
  const Time left = use.start + bus_time_;
  if (Account* const account = message.account) {
    account->charge(Segment::kBusQueue, use.start);
    account->charge(Segment::kBus, left);
  }
  if (returns_credits_) port(message.port).release(message, use.end);
  if (Port* const way = ways_[message.destination.index()]) [[likely]] {
    way->send(message, left);
  } else {
    leave(message, left);
  }
}

[[gnu::hot]] void Bus::receive(Message& message) {
  const Direction direction = system_context_.goes_downstream(message) ? kDownstream : kUpstream;
  if (!shared_ || wires_[0].unlimited()) {
    pass(message, direction, now());  // first come, first served: its turn is known at once
    return;
  }
  message.since = now();
  monitors_[direction].count_waiting(now(), +1);
  waiting_[direction].push(message);
  arrange();
}

// A port that leads nowhere any more answers by itself: its errors need no turn on the medium.
void Bus::leave(Message& message, Time ready) {
  Port* way = ways_[message.destination.index()];
  if (!way) [[unlikely]] {
    const std::uint16_t index = system_context_.routes->port(message, id());
    if (index == Routes::kNowhere) {
      ensure(system_context_.failures != nullptr, "a message to a device that no way leads to");
      if (system_context_.failures->answers(message, id(), ready)) leave(message, ready);
      return;
    }
    way = &port(index);
  }
  way->send(message, ready);
}

void Bus::take_back(Message& message) {
  if (ways_[message.destination.index()] || system_context_.routes->port(message, id()) != Routes::kNowhere)
    system_context_.failures->rerouted(now());
  leave(message, now());
}

// Sees to the next turn on a shared medium, at the end of this instant or when it is free.
void Bus::arrange() {
  if (arranged_) return;
  arranged_ = true;
  if (wires_[0].free_at() > now()) {
    wake_at(wires_[0].free_at(), 0);
  } else {
    kernel().at_end_of_instant(*this);
  }
}

// The directions take turns as long as both want the medium.
void Bus::settle() {
  arranged_ = false;
  const Direction other = wires_[0].last_direction() == kDownstream ? kUpstream : kDownstream;
  const Direction turn = waiting_[other].empty() ? (other == kUpstream ? kDownstream : kUpstream) : other;
  Message& message = waiting_[turn].pop();
  // The tail has kept coming in while the head waited.
  const Time waited = now() - message.since;
  message.tail = message.tail > waited ? message.tail - waited : Time{};
  monitors_[turn].count_waiting(now(), -1);
  pass(message, turn, now());
  if (!waiting_[kDownstream].empty() || !waiting_[kUpstream].empty()) arrange();
}

// The medium is free.
void Bus::wake(std::uint8_t /*kind*/, std::uint64_t /*payload*/) { kernel().at_end_of_instant(*this); }

// BothMeasured directions may feed one port, such as an accelerator's.
void Bus::start() {
  for (std::size_t i = 0; i < port_count(); ++i) {
    port(i).share();
    returns_credits_ |= port(i).returns_credits();
  }
  routes_changed(false);
}

void Bus::routes_changed(bool /*failed*/) {
  ways_.clear();
  for (const std::uint16_t way : system_context_.routes->fixed_ports(id()))
    ways_.push_back(way == Routes::kVaries ? nullptr : &port(way));
}

std::vector<MeasureInfo> Bus::measures() {
  return joined(infos_of(kDownstreamMeasures), joined(infos_of(kUpstreamMeasures), infos_of(kBothMeasures)));
}

void Bus::resources(ResourceSink& sink) const {
  const Rate rate = wires_[0].rate();
  const auto way = [&](std::string direction, std::vector<std::string> measures) {
    Resource bus{.name = "the bus",
                 .stage = Stage::kWay,
                 .capacity = std::nullopt,
                 .occupancy = Occupancy::kShare,
                 .measures = std::move(measures),
                 .wait = Segment::kBusQueue,
                 .counts = Traffic::kBytes,
                 .direction = std::move(direction),
                 .part = "bus",
                 .twice_text = "twice the bandwidth",
                 .full_from = 0.95};
    if (takes_turns()) {
      bus.measures.emplace_back("per_switch.*.turnaround");
      bus.remark = "per_switch.*.turnaround";
      bus.remark_text = "in turnarounds";
    }
    if (!rate.unlimited()) {
      bus.capacity = 1;
      bus.twice = {{"bandwidth", to_text(Bandwidth{twice(rate)})}};
    }
    sink.add(std::move(bus));
  };
  const std::string down = "per_switch.*.downstream_utilization";
  const std::string up = "per_switch.*.upstream_utilization";
  if (shared_) return way("", {down, up});
  way("downstream", {down});
  way("upstream", {up});
}

void Bus::report(MeasureSink& sink) const {
  const MeasuredWindow& measured = monitors_[0].measured();
  if (measured.length() <= Time{}) return;
  double busy = 0.0;
  WireTotals both;
  for (const WireMonitor& monitor : monitors_) {
    const WireTotals totals = monitor.closed_totals();
    busy += totals.busy.ns();
    both.bytes += totals.bytes;
    both.payload += totals.payload;
  }
  const double turning = takes_turns() ? measured.share(turns_.closed_totals().busy) : 0.0;
  report_all(kDownstreamMeasures, way_of(monitors_[kDownstream]), sink);
  report_all(kUpstreamMeasures, way_of(monitors_[kUpstream]), sink);
  report_all(kBothMeasures,
             {.utilization = measured.per_ns(busy) / (shared_ ? 1.0 : 2.0),
              .turnaround = shared_ ? std::optional(turning) : std::nullopt,
              .efficiency = both.efficiency()},
             sink);
}

}  // namespace cxloom
