#include "device/requester/large_accesses.hpp"

#include <algorithm>
#include <array>

#include "base/measure_table.hpp"
#include "base/value.hpp"
#include "kernel/kernel.hpp"
#include "workload/stream/reactive.hpp"

namespace cxloom {

namespace {

struct LargeMeasured : LargeCounts {
  Value time_mean = {};
};

constexpr std::array kLargeMeasures{
    measure<LargeMeasured, &LargeMeasured::accesses>(
        "large_accesses", "",
        "accesses above 4 KiB, which are made as their lines, or descriptors of a copy engine, whose last "
        "line was answered in the window; of a device that copies by DMA its copies of any size that were "
        "whole. Absent where the work has none, and with cores"),
    measure<&LargeMeasured::time_mean>(
        "large_access_ns", "ns",
        "time from the issue of the first line of such an access, or in an open loop from when it became "
        "ready, or from when the submission of a descriptor began, to the answer to its last line, mean; of "
        "a copy by DMA from its call to its end; null if none was completed"),
};

}  // namespace

LargeAccesses::LargeAccesses(Kernel& kernel, const ReactiveStream* engine)
    : engine_(engine), counts_(kernel) {}

void LargeAccesses::issued(std::uint64_t number, bool continues, Time created) {
  if (engine_) return;
  if (under_way_.empty() || under_way_.back().whole) {
    if (!continues) return;  // one of a phase of small ones
    under_way_.push_back(
        {.first = number, .last = number, .unanswered = 0, .since = created, .whole = false});
  }
  LargeAccess& access = under_way_.back();
  access.last = number;
  ++access.unanswered;
  access.whole = !continues;
}

void LargeAccesses::answered(std::uint64_t number, Time now) {
  if (engine_) {
    if (const auto since = engine_->completed()) completed(*since, now);
    return;
  }
  const auto found = std::ranges::lower_bound(under_way_, number, {}, &LargeAccess::last);
  if (found == under_way_.end() || number < found->first) return;
  if (--found->unanswered == 0 && found->whole) completed(found->since, now);
  while (!under_way_.empty() && under_way_.front().unanswered == 0 && under_way_.front().whole)
    under_way_.pop_front();
}

void LargeAccesses::completed(Time since, Time now) {
  ++counts_->accesses;
  counts_->time += now - since;
}

std::vector<MeasureInfo> LargeAccesses::measures() { return infos_of(kLargeMeasures); }

void LargeAccesses::report(MeasureSink& sink) const {
  LargeMeasured measured{counts_.window()};
  measured.time_mean = mean_value(measured.time.ns(), static_cast<double>(measured.accesses));
  report_all(kLargeMeasures, measured, sink);
}

}  // namespace cxloom
