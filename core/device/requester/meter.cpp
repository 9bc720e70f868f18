#include "device/requester/meter.hpp"

#include <array>

#include "base/measure_table.hpp"
#include "base/value.hpp"
#include "kernel/kernel.hpp"

namespace cxloom {

namespace {

struct MeterMeasured : MeterCounts {
  std::uint64_t requests = 0;
  double bandwidth = 0;
  Value bandwidth_ci95 = {};
  double in_flight = 0;
  bool fenced = false;
  Value fence_wait_mean = {};
};

constexpr std::array kMeterMeasures{
    measure<&MeterMeasured::requests>("requests", "", "requests answered with data in the window"),
    measure<&MeterMeasured::bandwidth>(
        "bandwidth_gb_per_s", "GB/s",
        "payload bytes exchanged with memory, write-backs and prefetches included / length of the window"),
    measure<&MeterMeasured::bandwidth_ci95>(
        "bandwidth_ci95", "GB/s",
        "the ends of its 95 % interval, by what batches of requests moved and the times they took; null "
        "where there are too few to decide"),
    measure<&MeterMeasured::in_flight>(
        "in_flight_mean", "", "requests in flight, mean over time, those answered without data among them"),
    measure<MeterMeasured, &MeterMeasured::poisoned, &MeterMeasured::poisoned>(
        "poison_consumed", "",
        "requests that ended with poison: the latest data of their lines are lost. Absent where there were "
        "none"),
    measure<MeterMeasured, &MeterMeasured::fences, &MeterMeasured::fenced>(
        "fences", "",
        "accesses behind a fence that were issued in the window, those above 4 KiB among them that depend on "
        "the one before. Absent where the work has no fences"),
    measure<MeterMeasured, &MeterMeasured::fence_wait_mean, &MeterMeasured::fenced>(
        "fence_wait_ns", "ns",
        "time that an access behind a fence waited for nothing but answers to those before it, mean; null if "
        "none was issued"),
};

}  // namespace

RequesterMeter::RequesterMeter(Kernel& kernel) : counts_(kernel) { kernel.measure(in_window_, in_flight_); }

void RequesterMeter::passed_fence(Time waited) {
  fenced_ = true;
  ++counts_->fences;
  counts_->fence_wait += waited;
}

std::vector<MeasureInfo> RequesterMeter::measures() { return infos_of(kMeterMeasures); }

void RequesterMeter::report(MeasureSink& sink) const {
  MeterMeasured measured{counts_.window()};
  measured.requests = latency().count();
  measured.bandwidth = counts_.measured().per_ns(static_cast<double>(measured.payload));
  if (const auto ends = batches().rate_interval(measured.bandwidth, measured.requests))
    measured.bandwidth_ci95 = Value::List{ends->low, ends->high};
  measured.in_flight = in_flight_.mean();
  measured.fenced = fenced_;
  measured.fence_wait_mean = mean_value(measured.fence_wait.ns(), static_cast<double>(measured.fences));
  report_all(kMeterMeasures, measured, sink);
}

}  // namespace cxloom
