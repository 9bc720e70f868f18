#include "component/request_throttle.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/mean_value.hpp"
#include "base/measure_table.hpp"
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

// The measures of the requests to one memory.
struct ThrottleMeasured {
  Value load = {};
  double throttled = 0;
  double rate = 0;
  double least = 0;
  double most = 0;
};

constexpr std::array kThrottleMeasures{
    measure<&ThrottleMeasured::load>("devload_mean", "",
                                     "DevLoad of the memory's answers in the window, mean: 0 light, 1 "
                                     "optimal, 2 moderate, 3 severe; null if none came"),
    measure<&ThrottleMeasured::throttled>(
        "throttled", "", "time in the window at less than the full rate / length of the window"),
    measure<&ThrottleMeasured::rate>("rate_gb_per_s", "GB/s",
                                     "bytes per second that may be issued, mean over time"),
    measure<&ThrottleMeasured::least>("rate_min_gb_per_s", "GB/s",
                                      "bytes per second that may be issued, smallest"),
    measure<&ThrottleMeasured::most>("rate_max_gb_per_s", "GB/s",
                                     "bytes per second that may be issued, largest"),
};

struct RequesterThrottleMeasured {
  Value throttle;
};

constexpr std::array kRequesterThrottleMeasures{
    measure<&RequesterThrottleMeasured::throttle>(
        "throttle", "",
        "measures of its requests to each memory, by the memory's name. Absent without a throttle",
        parts_of<kThrottleMeasures>(true)),
};

}  // namespace

struct RequestThrottle::ClassVc {
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

// A throttled request goes when its turn comes, maybe behind requests that were sent ahead of time.
void RequestThrottle::start() {
  for (std::size_t i = 0; i < sender_.endpoint().port_count(); ++i) sender_.endpoint().port(i).share();
}

RequestThrottle::ClassVc& RequestThrottle::vc_of(NodeId memory) {
  if (vcs_.size() <= memory.index()) vcs_.resize(memory.index() + 1);
  std::unique_ptr<ClassVc>& vc = vcs_[memory.index()];
  if (!vc) {
    vc = std::make_unique<ClassVc>();
    vc->meter = RateMeter(rate_);
    vc->levels.change({}, static_cast<std::int32_t>(kFull));  // from the beginning on, so in any window
    if (measured_.is_open()) vc->levels.open(measured_.opened());
    vc->measured = measured_.is_open();
    vc->since = kernel_.now();
  }
  return *vc;
}

void RequestThrottle::send(Message& message, Time ready) {
  if (ready > kernel_.now()) {
    kernel_.schedule(ready, source_, *this, kReady, payload_of(message));
  } else {
    enter(message);
  }
}

void RequestThrottle::enter(Message& message) {
  ClassVc& vc = vc_of(message.destination);
  vc.waiting.push(message);
  issue(vc);
}

void RequestThrottle::issue(ClassVc& vc) {
  const Time now = kernel_.now();
  while (!vc.waiting.empty() && vc.next <= now) {
    Message& message = vc.waiting.pop();
    message.charge(Segment::kThrottle, now);
    if (vc.next < now) vc.meter.restart();
    vc.next = now + vc.meter.advance(message.size);
    sender_.transmit(message, now);
  }
  if (vc.waiting.empty() || vc.armed) return;
  vc.armed = true;
  kernel_.schedule(vc.next, source_, *this, kTurn, payload_of(vc));
}

void RequestThrottle::wake(std::uint8_t kind, std::uint64_t payload) {
  if (kind == kReady) {
    enter(object_of<Message>(payload));
    return;
  }
  ClassVc& vc = object_of<ClassVc>(payload);
  vc.armed = false;
  issue(vc);
}

void RequestThrottle::observe(const Message& answer) {
  const std::uint32_t from = answer.source.index();
  if (answer.failed || from >= vcs_.size() || !vcs_[from]) return;
  ClassVc& vc = *vcs_[from];
  const Time now = kernel_.now();
  if (measured_.is_open()) {
    ++vc.answers;
    vc.loads += static_cast<std::uint64_t>(answer.load());
  }
  if (vc.window_end >= Time{} && now >= vc.window_end) {
    adapt(vc, now);
    vc.window_end = Time{-1};
  }
  if (vc.window_end < Time{}) {
    vc.window_end = now + window_;
    vc.highest = answer.load();
  } else {
    vc.highest = std::max(vc.highest, answer.load());
  }
}

void RequestThrottle::adapt(ClassVc& vc, Time now) {
  const auto lowered = [&](std::uint32_t by) { return std::max(vc.level > by ? vc.level - by : 0, least_); };
  switch (vc.highest) {
    case DevLoad::kLight: set_level(vc, std::min(vc.level + normal_, kFull), now); break;
    case DevLoad::kOptimal: break;
    case DevLoad::kModerate: set_level(vc, lowered(normal_), now); break;
    case DevLoad::kSevere: set_level(vc, lowered(severe_), now); break;
  }
}

void RequestThrottle::set_level(ClassVc& vc, std::uint32_t level, Time now) {
  if (level == vc.level) return;
  if (measured_.is_open()) vc.account(now);
  vc.levels.change(now, static_cast<std::int32_t>(level) - static_cast<std::int32_t>(vc.level));
  vc.level = level;
  vc.meter = RateMeter(Rate::per_time(rate_.denominator() * level, rate_.numerator() * kFull));
}

void RequestThrottle::open_window(Time now) {
  measured_.open(now);
  for (const auto& vc : vcs_) {
    if (!vc) continue;
    vc->measured = true;
    vc->answers = vc->loads = 0;
    vc->levels.open(now);
    vc->lowest = kFull;
    vc->largest = 0;
    vc->throttled = {};
    vc->since = now;
  }
}

void RequestThrottle::close_window(Time now) {
  measured_.close(now);
  for (const auto& vc : vcs_) {
    if (!vc || !vc->measured) continue;
    vc->levels.close(now);
    vc->account(now);
    if (vc->largest == 0) vc->lowest = vc->largest = vc->level;  // it was there for the last instant alone
  }
}

double RequestThrottle::rate_of(double level) const { return rate_.per_second() / 1e9 * level / kFull; }

// A map for each memory, by its name.
Value RequestThrottle::by_memory() const {
  Value::Map all;
  for (std::size_t i = 0; i < vcs_.size(); ++i) {
    if (!vcs_[i] || !vcs_[i]->measured) continue;
    const ClassVc& vc = *vcs_[i];
    const ThrottleMeasured measured{
        .load = mean_value(static_cast<double>(vc.loads), static_cast<double>(vc.answers)),
        .throttled = measured_.share(vc.throttled),
        .rate = rate_of(vc.levels.mean()),
        .least = rate_of(vc.lowest),
        .most = rate_of(vc.largest)};
    all.emplace_back(sender_.endpoint().system_context().name_of(NodeId{static_cast<std::uint32_t>(i)}),
                     map_of(kThrottleMeasures, measured));
  }
  return all;
}

std::vector<MeasureInfo> RequestThrottle::measures() { return infos_of(kRequesterThrottleMeasures); }

void RequestThrottle::report(MeasureSink& sink) const {
  report_all(kRequesterThrottleMeasures, {by_memory()}, sink);
}

}  // namespace cxloom
