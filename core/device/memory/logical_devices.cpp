#include "device/memory/logical_devices.hpp"

#include <algorithm>
#include <utility>

#include "component/resource.hpp"
#include "kernel/kernel.hpp"

namespace cxloom {

LogicalDevices::Device::Device(const LogicalDeviceParams& params, Kernel& kernel, const Component& device)
    : component(device),
      limit(params.bandwidth_limit.rate),
      window(params.limit_window),
      places(params.queue),
      counts(kernel) {
  flow.weight = params.allocated_bandwidth;
}

LogicalDevices::LogicalDevices(const std::vector<LogicalDeviceParams>& params, Kernel& kernel,
                               const Component& device, LogicalDeviceServer& server, WaitList& places)
    : kernel_(kernel), source_(kernel.new_source()), device_(device), server_(server), places_(places) {
  Bytes base;
  for (const LogicalDeviceParams& each : params) {
    Device& own = devices_.emplace_back(each, kernel, device);
    kernel.measure(own.level);
    extents_.push_back({base, each.capacity, each.host});
    base = Bytes{base.count() + each.capacity.count()};
  }
}

void LogicalDevices::arrive(Message& message) {
  ensure(message.ld() < devices_.size(), "a request to a logical device that there is not");
  Device& device = devices_[message.ld()];
  if (device.host && *device.host != message.requester) {
    ++device.counts->refused;
    server_.refuse(message);
    return;
  }
  const Time now = kernel_.now();
  if (present_++ == 0) shares_.begin_anew();
  message.since = now;
  // Nobody delayed it while it had no requests: of that time a request is saved up.
  if (device.waiting++ == 0 && device.next + device.spacing < now) device.begin_limit(now);
  device.level.change(now, +1);
  if (device.places && device.taken == *device.places) {
    device.outside.push(message);
  } else {
    ++device.taken;
    device.queue.push(message);
    server_.buffered(message);
  }
  serve();
}

LogicalDevices::Device* LogicalDevices::next_in_turn(Time now) {
  Device* best = nullptr;
  for (Device& each : devices_) {
    if (each.queue.empty() || each.next > now) continue;
    if (!best || shares_.before(each.flow, best->flow)) best = &each;
  }
  return best;
}

void LogicalDevices::let_through(Device& device, Time now) {
  Message& message = device.queue.pop();
  shares_.serve(device.flow, message.size);
  if (!device.limit.rate().unlimited()) {
    // What others delayed is made up for.
    const Time most = std::max(device.window, device.spacing);
    if (device.next + most < now) device.begin_limit(now - most);
    device.spacing = device.limit.advance(message.size);
    device.next += device.spacing;
  }
  --device.waiting;
  ++device.inside;
  device.level.change(now, -1);
  ++device.counts->requests;
  device.counts->bytes += message.size;
  device.counts->waited += now - message.since;
  if (device.outside.empty()) {
    --device.taken;
  } else {
    Message& moved = device.outside.pop();
    device.queue.push(moved);
    server_.buffered(moved);
  }
  server_.take(message);
}

void LogicalDevices::serve() {
  const Time now = kernel_.now();
  while (server_.has_place()) {
    Device* const device = next_in_turn(now);
    if (!device) break;
    let_through(*device, now);
  }
  for (Device& each : devices_) {
    const bool waits = each.waiting > 0;
    if (waits == each.joined) continue;
    each.joined = waits;
    if (waits) {
      places_.join(each, now);
    } else {
      places_.leave(each);
    }
  }
  if (server_.has_place()) wake_for_limits(now);
}

// A place is free, and all that waits does so by its limit.
void LogicalDevices::wake_for_limits(Time now) {
  Time first = Time::max();
  for (const Device& each : devices_) {
    if (each.waiting > 0) first = std::min(first, each.next);
  }
  if (first == Time::max() || (wake_at_ > now && wake_at_ <= first)) return;
  wake_at_ = first;
  kernel_.schedule(first, source_, *this, 0);
}

void LogicalDevices::wake(std::uint8_t /*kind*/, std::uint64_t /*payload*/) { serve(); }

void LogicalDevices::abandon(const std::function<void(Message&, bool)>& give_up) {
  for (Device& each : devices_) {
    if (each.waiting == 0) continue;
    present_ -= each.waiting;
    each.level.change(kernel_.now(), -static_cast<std::int32_t>(each.waiting));
    each.waiting = each.taken = 0;
    if (std::exchange(each.joined, false)) places_.leave(each);
    while (!each.queue.empty()) give_up(each.queue.pop(), true);
    while (!each.outside.empty()) give_up(each.outside.pop(), false);
  }
}

std::size_t LogicalDevices::waiting() const {
  std::size_t waiting = 0;
  for (const Device& each : devices_) waiting += each.waiting;
  return waiting;
}

Value LogicalDevices::report() const {
  Value::Map all;
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    const Device& each = devices_[i];
    LogicalDeviceMeasured measured{each.counts.window()};
    measured.bandwidth = each.counts.measured().per_ns(static_cast<double>(measured.bytes));
    measured.wait = mean_value(measured.waited.ns(), static_cast<double>(measured.requests));
    measured.queue_mean = each.level.mean();
    measured.queue_max = each.level.maximum();
    all.emplace_back(std::to_string(i), map_of(kLogicalDeviceMeasures, measured));
  }
  return all;
}

void LogicalDevices::resources(ResourceSink& sink) const {
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    const Rate& rate = devices_[i].limit.rate();
    if (rate.unlimited()) continue;
    const std::string number = std::to_string(i);
    sink.add({.name = "the bandwidth limit of logical device " + number + " of",
              .stage = Stage::kPlaces,
              .capacity = rate.per_second() / 1e9,
              .occupancy = Occupancy::kBandwidth,
              .measures = {"per_memory.*.logical_devices." + number + ".bandwidth_gb_per_s"},
              .wait = Segment::kMediaQueue,
              .counts = Traffic::kBytes,
              .part = "memory",
              .twice = {{"logical_devices[" + number + "].bandwidth_limit", to_text(Bandwidth{twice(rate)})}},
              .twice_text = "twice the limit"});
  }
}

}  // namespace cxloom
