#include "device/bus.hpp"

namespace cxloom {

namespace {

struct DirectionMeasures {
  MeasureInfo utilization;
  MeasureInfo payload;
  MeasureInfo queue_mean;
  MeasureInfo queue_p99;
  MeasureInfo queue_max;
};

constexpr std::array<DirectionMeasures, 2> kDirections{{
    {{"downstream_utilization", "", "busy time of the downstream direction / length of the window"},
     {"downstream_payload_gb_per_s", "GB/s", "payload bytes that went downstream / length of the window"},
     {"downstream_queue_mean", "", "messages waiting to go downstream, mean over time"},
     {"downstream_queue_p99", "", "the same, 99th percentile over time"},
     {"downstream_queue_max", "", "the same, largest number"}},
    {{"upstream_utilization", "", "busy time of the upstream direction / length of the window"},
     {"upstream_payload_gb_per_s", "GB/s", "payload bytes that went upstream / length of the window"},
     {"upstream_queue_mean", "", "messages waiting to go upstream, mean over time"},
     {"upstream_queue_p99", "", "the same, 99th percentile over time"},
     {"upstream_queue_max", "", "the same, largest number"}},
}};
constexpr MeasureInfo kUtility{"utilization", "",
                               "bus utility: busy time / time, the mean of the directions"};
constexpr MeasureInfo kEfficiency{"efficiency", "",
                                  "transmission efficiency: payload bytes / bytes on the wire"};

}  // namespace

void BusParams::describe(Schema<BusParams>& schema) {
  schema.doc("A shared medium between an upstream side and many endpoints.");
  schema.field("bandwidth", &BusParams::bandwidth)
      .doc("Bytes a second in each direction; a half-duplex bus shares it between the two.");
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
      fabric_(context.fabric),
      bus_time_(params.bus_time),
      port_delay_(params.port_delay),
      cost_{params.header, params.data_header},
      shared_(params.duplex == Duplex::kHalf),
      wires_{Wire(params.bandwidth.rate, params.turnaround), Wire(params.bandwidth.rate, params.turnaround)} {
  fabric_.roles.shared_media.declare(*this, id(), *this);
}

void Bus::receive(Message& message) {
  const Direction direction = fabric_.goes_downstream(message) ? kDownstream : kUpstream;
  if (!shared_ || wires_[0].unlimited()) {
    pass(message, direction, now());  // first come, first served: its turn is known at once
    return;
  }
  message.since = now();
  monitors_[direction].queue().change(now(), +1);
  waiting_[direction].push(message);
  arrange();
}

// Takes the message over the medium, as soon as that is free after `ready`.
void Bus::pass(Message& message, Direction direction, Time ready) {
  const std::uint64_t payload = message.payload();
  const std::uint64_t bytes = cost_.bytes(payload);
  Wire::Use use{ready, ready + message.tail};
  if (!wires_[0].unlimited()) use = wire(direction).carry(bytes, ready, use.end, direction);
  const Time free = wires_[0].unlimited() ? use.start : use.end;  // without a limit it is never busy
  monitors_[direction].book(
      {ready, use.start, free, static_cast<std::uint32_t>(bytes), static_cast<std::uint16_t>(payload)},
      now());
  message.tail = use.end - use.start;
  message.charge(Segment::kBusQueue, use.start);
  message.charge(Segment::kBus, use.start + bus_time_);
  port(message.port).release(message, use.end);
  const std::uint16_t out = fabric_.routes->port(message, id());
  const Time crossed = use.start + bus_time_;
  // Both directions may feed one port (an accelerator's), so what is ready later must not be handed over ahead of time
  // to a port that has a queue.
  if (port(out).queues()) {
    wake_at(crossed, kForward, reinterpret_cast<std::uintptr_t>(&message));
  } else {
    port(out).send(message, crossed);
  }
}

// Of a shared medium: sees to it that somebody's turn comes, at the end of this instant or when it is free.
void Bus::arrange() {
  if (arranged_) return;
  arranged_ = true;
  if (wires_[0].free_at() > now()) {
    wake_at(wires_[0].free_at(), kMediumFree);
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
  monitors_[turn].queue().change(now(), -1);
  pass(message, turn, now());
  if (!waiting_[kDownstream].empty() || !waiting_[kUpstream].empty()) arrange();
}

void Bus::wake(std::uint8_t kind, std::uint64_t payload) {
  if (kind == kMediumFree) {
    kernel().at_end_of_instant(*this);
    return;
  }
  auto& message = *reinterpret_cast<Message*>(payload);
  port(fabric_.routes->port(message, id())).send(message, now());
}

void Bus::open_window(Time at) {
  opened_ = at;
  for (WireMonitor& monitor : monitors_) monitor.open(at);
}

void Bus::close_window(Time at) {
  closed_ = at;
  for (WireMonitor& monitor : monitors_) monitor.close(at);
}

std::vector<MeasureInfo> Bus::measures() {
  std::vector<MeasureInfo> all;
  for (const DirectionMeasures& way : kDirections) {
    for (const MeasureInfo& measure :
         {way.utilization, way.payload, way.queue_mean, way.queue_p99, way.queue_max}) {
      all.push_back(measure);
    }
  }
  all.push_back(kUtility);
  all.push_back(kEfficiency);
  return all;
}

void Bus::report(MeasureSink& sink) const {
  const double length = (closed_ - opened_).ns();
  if (length <= 0.0) return;
  double busy = 0.0;
  WireTotals both;
  for (std::size_t i = 0; i < kDirections.size(); ++i) {
    const WireTotals& totals = monitors_[i].closed_totals();
    const LevelMonitor& queue = monitors_[i].queue();
    busy += totals.busy.ns();
    both.bytes += totals.bytes;
    both.payload += totals.payload;
    sink.add(kDirections[i].utilization, totals.busy.ns() / length);
    sink.add(kDirections[i].payload, static_cast<double>(totals.payload) / length);
    sink.add(kDirections[i].queue_mean, queue.mean());
    sink.add(kDirections[i].queue_p99, queue.quantile(0.99));
    sink.add(kDirections[i].queue_max, queue.maximum());
  }
  sink.add(kUtility, busy / length / (shared_ ? 1.0 : 2.0));
  sink.add(kEfficiency, both.efficiency());
}

}  // namespace cxloom
