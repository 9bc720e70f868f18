#include "component/request_throttle.hpp"

#include <algorithm>
#include <cmath>

#include "base/schema.hpp"
#include "component/endpoint.hpp"
#include "kernel/kernel.hpp"
#include "kernel/payload.hpp"

namespace cxloom {

namespace {

/// Rates are in so many parts of the full one.
constexpr std::uint32_t kFull = 4096;

std::uint32_t parts(double share) {
  return std::max(1U, static_cast<std::uint32_t>(std::lround(share * kFull)));
}

}  // namespace

struct RequestThrottle::Lane {
  MessageQueue waiting;
  Time next;  ///< the next one may be issued
  RateMeter meter;
  std::uint32_t level = kFull;
  bool armed = false;  ///< an event for `next` is pending
  DevLoad highest = DevLoad::kLight;
  Time window_end{-1};  ///< none is open

  // Measuring.
  bool measured = false;  ///< it was there in the window
  std::uint64_t answers = 0;
  std::uint64_t loads = 0;
  LevelMonitor levels;
  std::uint32_t lowest = kFull;  ///< of the levels that stood for some time
  std::uint32_t largest = 0;
  Time throttled;
  Time since;  ///< it is accounted for up to then

  void account(Time now) {
    if (now == since) return;
    if (level < kFull) throttled += now - since;
    lowest = std::min(lowest, level);
    largest = std::max(largest, level);
    since = now;
  }
};

void ThrottleParams::describe(Schema<ThrottleParams>& schema) {
  constexpr const char* kSource = "CXL 3.x, reference model of QoS telemetry; the value is an own choice";
  schema.doc("Paces requests to each memory by the load that it reports (DevLoad).");
  schema.field("rate", &ThrottleParams::rate)
      .required()
      .where([](const Bandwidth& value) { return !value.rate.unlimited(); }, "a bandwidth")
      .doc("Bytes per second that are issued to a memory at most, while it is not throttled.");
  schema.field("window", &ThrottleParams::window)
      .min(Time{1'000})
      .doc("Time over which the highest reported load counts; then the rate is changed, once.")
      .source(kSource);
  schema.field("normal_delta", &ThrottleParams::normal_delta)
      .fraction([](double value) { return value > 0.0 && value <= 1.0; }, "more than 0, at most 1")
      .doc(
          "Part of the full rate by which it rises after light load, and falls after moderate load; more "
          "than 0.")
      .source(kSource);
  schema.field("severe_delta", &ThrottleParams::severe_delta)
      .fraction([](double value) { return value > 0.0 && value <= 1.0; }, "more than 0, at most 1")
      .doc("Part of the full rate by which it falls after severe load; more than 0.")
      .source(kSource);
  schema.field("least", &ThrottleParams::least)
      .fraction([](double value) { return value > 0.0 && value <= 1.0; }, "more than 0, at most 1")
      .doc("Part of the full rate below which it does not fall; more than 0.")
      .source("own choice");
}

RequestThrottle::RequestThrottle(const ThrottleParams& params, Kernel& kernel, Agent& sender)
    : kernel_(kernel),
      source_(kernel.new_source()),
      sender_(sender),
      rate_(params.rate.rate),
      window_(params.window),
      normal_(parts(params.normal_delta)),
      severe_(parts(params.severe_delta)),
      least_(parts(params.least)) {}

RequestThrottle::~RequestThrottle() = default;

std::string RequestThrottle::name() const { return sender_.name(); }

// What is throttled goes when its turn comes, and may be behind what was sent ahead of time.
void RequestThrottle::start() {
  for (std::size_t i = 0; i < sender_.endpoint().port_count(); ++i) sender_.endpoint().port(i).share();
}

RequestThrottle::Lane& RequestThrottle::lane_of(NodeId memory) {
  if (lanes_.size() <= memory.index()) lanes_.resize(memory.index() + 1);
  std::unique_ptr<Lane>& lane = lanes_[memory.index()];
  if (!lane) {
    lane = std::make_unique<Lane>();
    lane->meter = RateMeter(rate_);
    lane->levels.change({}, static_cast<std::int32_t>(kFull));  // from the beginning on, so in any window
    if (measured_.is_open()) lane->levels.open(measured_.opened());
    lane->measured = measured_.is_open();
    lane->since = kernel_.now();
  }
  return *lane;
}

void RequestThrottle::send(Message& message, Time ready) {
  if (ready > kernel_.now()) {
    kernel_.schedule(ready, source_, *this, kReady, payload_of(message));
  } else {
    enter(message);
  }
}

void RequestThrottle::enter(Message& message) {
  Lane& lane = lane_of(message.destination);
  lane.waiting.push(message);
  issue(lane);
}

void RequestThrottle::issue(Lane& lane) {
  const Time now = kernel_.now();
  while (!lane.waiting.empty() && lane.next <= now) {
    Message& message = lane.waiting.pop();
    message.charge(Segment::kThrottle, now);
    if (lane.next < now) lane.meter.restart();
    lane.next = now + lane.meter.advance(message.size);
    sender_.transmit(message, now);
  }
  if (lane.waiting.empty() || lane.armed) return;
  lane.armed = true;
  kernel_.schedule(lane.next, source_, *this, kTurn, payload_of(lane));
}

void RequestThrottle::wake(std::uint8_t kind, std::uint64_t payload) {
  if (kind == kReady) {
    enter(object_of<Message>(payload));
    return;
  }
  Lane& lane = object_of<Lane>(payload);
  lane.armed = false;
  issue(lane);
}

void RequestThrottle::observe(const Message& answer) {
  const std::uint32_t from = answer.source.index();
  if (answer.failed || from >= lanes_.size() || !lanes_[from]) return;
  Lane& lane = *lanes_[from];
  const Time now = kernel_.now();
  if (measured_.is_open()) {
    ++lane.answers;
    lane.loads += static_cast<std::uint64_t>(answer.load());
  }
  if (lane.window_end >= Time{} && now >= lane.window_end) {
    adapt(lane, now);
    lane.window_end = Time{-1};
  }
  if (lane.window_end < Time{}) {
    lane.window_end = now + window_;
    lane.highest = answer.load();
  } else {
    lane.highest = std::max(lane.highest, answer.load());
  }
}

void RequestThrottle::adapt(Lane& lane, Time now) {
  const auto lowered = [&](std::uint32_t by) {
    return std::max(lane.level > by ? lane.level - by : 0, least_);
  };
  switch (lane.highest) {
    case DevLoad::kLight: set_level(lane, std::min(lane.level + normal_, kFull), now); break;
    case DevLoad::kOptimal: break;
    case DevLoad::kModerate: set_level(lane, lowered(normal_), now); break;
    case DevLoad::kSevere: set_level(lane, lowered(severe_), now); break;
  }
}

void RequestThrottle::set_level(Lane& lane, std::uint32_t level, Time now) {
  if (level == lane.level) return;
  if (measured_.is_open()) lane.account(now);
  lane.levels.change(now, static_cast<std::int32_t>(level) - static_cast<std::int32_t>(lane.level));
  lane.level = level;
  lane.meter = RateMeter(Rate::per_time(rate_.denominator() * level, rate_.numerator() * kFull));
}

void RequestThrottle::open_window(Time now) {
  measured_.open(now);
  for (const auto& lane : lanes_) {
    if (!lane) continue;
    lane->measured = true;
    lane->answers = lane->loads = 0;
    lane->levels.open(now);
    lane->lowest = kFull;
    lane->largest = 0;
    lane->throttled = {};
    lane->since = now;
  }
}

void RequestThrottle::close_window(Time now) {
  measured_.close(now);
  for (const auto& lane : lanes_) {
    if (!lane || !lane->measured) continue;
    lane->levels.close(now);
    lane->account(now);
    if (lane->largest == 0)
      lane->lowest = lane->largest = lane->level;  // it was there for the last instant alone
  }
}

double RequestThrottle::rate_of(double level) const { return rate_.per_second() / 1e9 * level / kFull; }

Value RequestThrottle::report() const {
  Value::Map all;
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    if (!lanes_[i] || !lanes_[i]->measured) continue;
    const Lane& lane = *lanes_[i];
    const ThrottleMeasured measured{
        .load = mean_value(static_cast<double>(lane.loads), static_cast<double>(lane.answers)),
        .throttled = measured_.share(lane.throttled),
        .rate = rate_of(lane.levels.mean()),
        .least = rate_of(lane.lowest),
        .most = rate_of(lane.largest)};
    all.emplace_back(sender_.endpoint().fabric().name_of(NodeId{static_cast<std::uint32_t>(i)}),
                     map_of(kThrottleMeasures, measured));
  }
  return all;
}

}  // namespace cxloom
