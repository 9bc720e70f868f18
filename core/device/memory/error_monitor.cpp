#include "device/memory/error_monitor.hpp"

#include <cmath>
#include <cstddef>
#include <utility>

#include "base/error.hpp"
#include "base/measure_table.hpp"

namespace cxloom {

namespace {

struct ErrorsMeasured : CorrectedErrorCounts {
  std::uint64_t suspicious = 0;
  std::uint64_t unspared = 0;
  Value threshold_ns;
};

constexpr std::array kErrorMeasures{
    measure<ErrorsMeasured, &ErrorsMeasured::errors>(
        "corrected_errors", "", "errors that it corrected. This and the next three with corrected_errors"),
    measure<&ErrorsMeasured::suspicious>(
        "suspicious_parts", "",
        "parts of which so many errors were corrected as the threshold says, in the whole run"),
    measure<&ErrorsMeasured::unspared>("unspared_parts", "",
                                       "suspicious parts for which no spare part was left"),
    measure<&ErrorsMeasured::threshold_ns>(
        "threshold_ns", "ns", "from the beginning of the run until a part became suspicious, mean of these"),
};

}  // namespace

ErrorMonitor::ErrorMonitor(const CorrectedErrorsParams& params, Kernel& kernel, const Component& owner,
                           Bytes capacity, std::uint64_t seed, Spare spare)
    : kernel_(kernel),
      source_(kernel.new_source()),
      owner_(owner),
      threshold_(params.threshold),
      times_(params.times),
      lines_at_once_(params.buffer.count() / kLineBytes),
      spare_(std::move(spare)),
      counts_(kernel) {
  for (std::size_t i = 0; i < params.parts.size(); ++i) {
    const FaultyPartParams& part = params.parts[i];
    if (part.base.value() >= capacity.count() || part.size.count() > capacity.count() - part.base.value()) {
      throw InputError({"a part that reaches beyond the memory",
                        to_text(part.base) + " + " + to_text(part.size),
                        "addresses of its own, below " + to_text(capacity),
                        {}},
                       "corrected_errors.parts[" + std::to_string(i) + "].base");
    }
    parts_.push_back({part, RandomStream(seed, owner.name(), "corrected errors " + std::to_string(i))});
    schedule(i);
  }
}

// Errors keep no run alive: they occur as long as somebody has work to do.
void ErrorMonitor::schedule(std::size_t number) {
  Part& part = parts_[number];
  Time distance = part.params.every;
  if (times_ == ErrorTimes::kRandom) {
    const double drawn = static_cast<double>(distance.ps()) * part.random.exponential();
    distance = Time{static_cast<std::int64_t>(std::floor(drawn)) + 1};
  }
  kernel_.schedule_background(kernel_.now() + distance, source_, *this, 0, number);
}

// A part that is spared has no more errors.
void ErrorMonitor::wake(std::uint8_t /*kind*/, std::uint64_t number) {
  Part& part = parts_[number];
  ++counts_->errors;
  if (++part.errors == threshold_) {
    ++suspicious_;
    reached_ += kernel_.now();
    if (spare_({part.params.base, part.params.size.count(), lines_at_once_})) return;
    ++unspared_;
  }
  schedule(number);
}

std::vector<MeasureInfo> ErrorMonitor::measures() { return infos_of(kErrorMeasures); }

void ErrorMonitor::report(MeasureSink& sink) const {
  ErrorsMeasured measured{counts_.window()};
  measured.suspicious = suspicious_;
  measured.unspared = unspared_;
  measured.threshold_ns = mean_value(reached_.ns(), static_cast<double>(suspicious_));
  report_all(kErrorMeasures, measured, sink);
}

}  // namespace cxloom
