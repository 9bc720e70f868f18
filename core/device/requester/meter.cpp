#include "device/requester/meter.hpp"

#include <array>
#include <optional>

#include "base/measure_table.hpp"

namespace cxloom {

namespace {

struct MeterMeasured {
  std::uint64_t requests = 0;
  double bandwidth = 0;
  double in_flight = 0;
  std::optional<std::uint64_t> fences;
  std::optional<Value> fence_wait;
};

constexpr std::array kMeterMeasures{
    measure<&MeterMeasured::requests>("requests", "", "requests answered with data in the window"),
    measure<&MeterMeasured::bandwidth>(
        "bandwidth_gb_per_s", "GB/s",
        "payload bytes exchanged with memory, write-backs and prefetches included / length of the window"),
    measure<&MeterMeasured::in_flight>(
        "in_flight_mean", "", "requests in flight, mean over time, those answered without data among them"),
    measure<&MeterMeasured::fences>(
        "fences", "",
        "accesses behind a fence that were issued in the window. Absent where the work has no fences"),
    measure<&MeterMeasured::fence_wait>("fence_wait_ns", "ns",
                                        "time that an access behind a fence waited for nothing but answers "
                                        "to those before it, mean; null if none "
                                        "was issued"),
};

}  // namespace

void RequesterMeter::passed_fence(Time waited) {
  fenced_ = true;
  if (!measured_.is_open()) return;
  ++fences_;
  fence_wait_ += waited;
}

void RequesterMeter::open_window(Time at) {
  measured_.open(at);
  in_flight_.open(at);
}

void RequesterMeter::close_window(Time at) {
  measured_.close(at);
  in_flight_.close(at);
}

std::vector<MeasureInfo> RequesterMeter::measures() { return infos_of(kMeterMeasures); }

void RequesterMeter::report(MeasureSink& sink) const {
  MeterMeasured measured{.requests = latency_.count(),
                         .bandwidth = measured_.per_ns(static_cast<double>(payload_)),
                         .in_flight = in_flight_.mean(),
                         .fences = {},
                         .fence_wait = {}};
  if (fenced_) {
    measured.fences = fences_;
    measured.fence_wait.emplace();
    if (fences_ > 0) measured.fence_wait.emplace(fence_wait_.ns() / static_cast<double>(fences_));
  }
  report_all(kMeterMeasures, measured, sink);
}

}  // namespace cxloom
