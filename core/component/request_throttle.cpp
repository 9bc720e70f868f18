#include "component/request_throttle.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/measure_table.hpp"
#include "base/value.hpp"
#include "component/endpoint.hpp"
#include "kernel/event_handler.hpp"
#include "kernel/kernel.hpp"
#include "kernel/windowed.hpp"

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

struct RequestThrottle::MemoryThrottle {
  MessageQueue waiting;
  Time next;  ///< the next one may be issued
  RateMeter meter;
  std::uint32_t level = kFull;
  bool armed = false;  ///< an event for `next` is pending
  DevLoad highest = DevLoad::kLight;
  Time window_end{-1};  ///< none is open

  // Measuring.
  struct Counts {
    std::uint64_t answers = 0;
    std::uint64_t loads = 0;
    Time throttled;
  };
  /// The levels that stood for some time.
  struct Extremes {
    std::uint32_t lowest = kFull;
    std::uint32_t largest = 0;
  };
  Windowed<Counts> counts{OpenedByOwner{}};
  EntriesInWindow<Extremes> extremes;
  LevelMonitor levels;
  Time since;  ///< it is accounted for up to then

  bool measured() const { return counts.measured().has_opened(); }
  void account(Time now) {
    if (now == since) return;
    if (level < kFull) counts->throttled += now - since;
    if (extremes.is_open()) {
      extremes->lowest = std::min(extremes->lowest, level);
      extremes->largest = std::max(extremes->largest, level);
    }
    since = now;
  }
  void open(Time at) {
    counts.open(at);
    extremes.open(at);
    levels.open(at);
  }
  void close(Time at) {
    account(at);
    if (extremes->largest == 0)
      extremes->lowest = extremes->largest = level;  // it was there for the last instant alone
    counts.close(at);
    extremes.close(at);
    levels.close(at);
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
      least_(parts(params.least)) {
  kernel.measure(*this);
}

RequestThrottle::~RequestThrottle() = default;

std::string RequestThrottle::name() const { return sender_.name(); }

// A throttled request goes when its turn comes, maybe behind requests that were sent ahead of time.
void RequestThrottle::start() {
  for (std::size_t i = 0; i < sender_.endpoint().port_count(); ++i) sender_.endpoint().port(i).share();
}

RequestThrottle::MemoryThrottle& RequestThrottle::throttle_of(NodeId memory) {
  if (throttles_.size() <= memory.index()) throttles_.resize(memory.index() + 1);
  std::unique_ptr<MemoryThrottle>& throttle = throttles_[memory.index()];
  if (!throttle) {
    throttle = std::make_unique<MemoryThrottle>();
    throttle->meter = RateMeter(rate_);
    throttle->levels.change({}, static_cast<std::int32_t>(kFull));  // from the beginning on, so in any window
    throttle->since = kernel_.now();
    if (measured_.is_open()) throttle->open(measured_.opened());
  }
  return *throttle;
}

void RequestThrottle::send(Message& message, Time ready) {
  if (ready > kernel_.now()) {
    kernel_.schedule(ready, source_, *this, kReady, payload_of(message));
  } else {
    enter(message);
  }
}

void RequestThrottle::enter(Message& message) {
  MemoryThrottle& throttle = throttle_of(message.destination);
  throttle.waiting.push(message);
  issue(throttle);
}

void RequestThrottle::issue(MemoryThrottle& throttle) {
  const Time now = kernel_.now();
  while (!throttle.waiting.empty() && throttle.next <= now) {
    Message& message = throttle.waiting.pop();
    message.charge(Segment::kThrottle, now);
    if (throttle.next < now) throttle.meter.restart();
    throttle.next = now + throttle.meter.advance(message.size);
    sender_.transmit(message, now);
  }
  if (throttle.waiting.empty() || throttle.armed) return;
  throttle.armed = true;
  kernel_.schedule(throttle.next, source_, *this, kTurn, payload_of(throttle));
}

void RequestThrottle::wake(std::uint8_t kind, std::uint64_t payload) {
  if (kind == kReady) {
    enter(object_of<Message>(payload));
    return;
  }
  MemoryThrottle& throttle = object_of<MemoryThrottle>(payload);
  throttle.armed = false;
  issue(throttle);
}

void RequestThrottle::observe(const Message& answer) {
  const std::uint32_t from = answer.source.index();
  if (answer.failed || from >= throttles_.size() || !throttles_[from]) return;
  MemoryThrottle& throttle = *throttles_[from];
  const Time now = kernel_.now();
  ++throttle.counts->answers;
  throttle.counts->loads += static_cast<std::uint64_t>(answer.load());
  if (throttle.window_end >= Time{} && now >= throttle.window_end) {
    adapt(throttle, now);
    throttle.window_end = Time{-1};
  }
  if (throttle.window_end < Time{}) {
    throttle.window_end = now + window_;
    throttle.highest = answer.load();
  } else {
    throttle.highest = std::max(throttle.highest, answer.load());
  }
}

void RequestThrottle::adapt(MemoryThrottle& throttle, Time now) {
  const auto lowered = [&](std::uint32_t by) {
    return std::max(throttle.level > by ? throttle.level - by : 0, least_);
  };
  switch (throttle.highest) {
    case DevLoad::kLight: set_level(throttle, std::min(throttle.level + normal_, kFull), now); break;
    case DevLoad::kOptimal: break;
    case DevLoad::kModerate: set_level(throttle, lowered(normal_), now); break;
    case DevLoad::kSevere: set_level(throttle, lowered(severe_), now); break;
  }
}

void RequestThrottle::set_level(MemoryThrottle& throttle, std::uint32_t level, Time now) {
  if (level == throttle.level) return;
  throttle.account(now);
  throttle.levels.change(now, static_cast<std::int32_t>(level) - static_cast<std::int32_t>(throttle.level));
  throttle.level = level;
  throttle.meter = RateMeter(Rate::per_time(rate_.denominator() * level, rate_.numerator() * kFull));
}

void RequestThrottle::open(Time at) {
  measured_.open(at);
  for (const auto& throttle : throttles_) {
    if (!throttle) continue;
    throttle->account(at);
    throttle->open(at);
  }
}

void RequestThrottle::close(Time at) {
  measured_.close(at);
  for (const auto& throttle : throttles_) {
    if (throttle && throttle->measured()) throttle->close(at);
  }
}

double RequestThrottle::rate_of(double level) const { return rate_.per_second() / 1e9 * level / kFull; }

// A map for each memory, by its name.
Value RequestThrottle::by_memory() const {
  Value::Map all;
  for (std::size_t i = 0; i < throttles_.size(); ++i) {
    if (!throttles_[i] || !throttles_[i]->measured()) continue;
    const MemoryThrottle& throttle = *throttles_[i];
    const MemoryThrottle::Counts counts = throttle.counts.window();
    const ThrottleMeasured measured{
        .load = mean_value(static_cast<double>(counts.loads), static_cast<double>(counts.answers)),
        .throttled = throttle.counts.measured().share(counts.throttled),
        .rate = rate_of(throttle.levels.mean()),
        .least = rate_of(throttle.extremes->lowest),
        .most = rate_of(throttle.extremes->largest)};
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
