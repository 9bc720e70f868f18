#include "device/switch/root_port.hpp"

#include "base/measure_table.hpp"
#include "base/schema.hpp"
#include "component/component_time.hpp"
#include "component/resource.hpp"
#include "device/switch/core.hpp"

namespace cxloom {

namespace {

SwitchParams as_switch(const RootPortParams& params) {
  SwitchParams all;
  all.port_delay = params.port_delay;
  all.switching_time = params.pass_time;
  all.queueing = Queueing::kVirtualOutput;
  return all;
}

}  // namespace

void RootPortParams::describe(Schema<RootPortParams>& schema) {
  schema.doc(
      "The port of a processor before a link to memory: requests of all classes wait there in one queue, in "
      "the order in which they came. Answers, snoops and CXL.io pass by it.");
  schema.field("depth", &RootPortParams::depth)
      .min(1)
      .max(1U << 20U)
      .default_text("unlimited")
      .doc(
          "Requests that the queue holds. More wait in the buffers before it, and the requesters that have "
          "some there take turns.");
  schema.field("rate", &RootPortParams::rate).doc("Requests that leave the queue per second at most.");
  schema.field("pass_time", &RootPortParams::pass_time).doc("Time to cross it, in each direction.");
  schema.field("port_delay", &RootPortParams::port_delay)
      .doc("Time to cross a port of it, where the link does not say.");
}

RootPort::RootPort(const RootPortParams& params, const DeviceContext& context)
    : SwitchingDevice(as_switch(params), context),
      params_(params),
      requests_(params.depth, params.rate.rate, core(), *this) {}

void RootPort::receive(Message& message) {
  message.charge(Segment::kSwitching, now());
  if (RequestOrder::takes(message)) {
    requests_.arrive(message);
  } else {
    core().forward(message);
  }
}

std::string RootPort::activity() const {
  if (requests_.held() == 0) return SwitchingDevice::activity();
  return counted(requests_.held(), "request") + " in its queue or before it";
}

void RootPort::report(MeasureSink& sink) const {
  SwitchingDevice::report(sink);
  requests_.report(sink);
}

void RootPort::resources(ResourceSink& sink) const {
  SwitchingDevice::resources(sink);
  if (params_.depth) {
    sink.add({.name = "the request queue of",
              .stage = Stage::kWay,
              .capacity = *params_.depth,
              .occupancy = Occupancy::kLevel,
              .measures = {"per_switch.*.request_queue_mean"},
              .wait = Segment::kSwitchQueue,
              .counts = Traffic::kMessages,
              .twice = {doubled("depth", *params_.depth)},
              .twice_text = std::to_string(2 * std::uint64_t{*params_.depth}) + " requests"});
  }
  if (!params_.rate.rate.unlimited()) {
    const Rate& rate = params_.rate.rate;
    sink.add({.name = "the rate of",
              .stage = Stage::kWay,
              .capacity = rate.per_second(),
              .occupancy = Occupancy::kRate,
              .measures = {"per_switch.*.requests"},
              .wait = Segment::kSwitchQueue,
              .counts = Traffic::kMessages,
              .twice = {{"rate", to_text(Frequency{twice(rate)})}},
              .twice_text = "twice the rate"});
  }
}

std::vector<MeasureInfo> RootPort::measures() {
  return joined(SwitchingDevice::measures(), RequestOrder::measures());
}

}  // namespace cxloom
