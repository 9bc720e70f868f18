#include "memory/curve/media.hpp"

#include <algorithm>
#include <cmath>

#include "base/measure_table.hpp"
#include "base/schema.hpp"
#include "base/value.hpp"
#include "component/resource.hpp"
#include "kernel/event_handler.hpp"
#include "kernel/kernel.hpp"
#include "protocol/request.hpp"

namespace cxloom {

namespace {

struct CurveMediaMeasured {
  Value load = {};
  Value reads = {};
  Value throttled = {};
};

constexpr std::array kCurveMediaMeasures{
    measure<&CurveMediaMeasured::load>("curve_load", "",
                                       "offered bandwidth / the largest of the curve, as estimated at each "
                                       "access, mean; null if there were none"),
    measure<&CurveMediaMeasured::reads>(
        "curve_reads", "", "share of reads, as estimated at each access, mean; null if there were none"),
    measure<&CurveMediaMeasured::throttled>("throttled", "",
                                            "share of the accesses that the largest bandwidth delayed beyond "
                                            "their latency; null if there were none"),
};

CurveTable table_of(const CurveMediaParams& params) {
  return params.file ? CurveTable::from_file(*params.file) : CurveTable(params.points);
}

}  // namespace

void CurveMediaParams::describe(Schema<CurveMediaParams>& schema) {
  schema.doc(
      "Media whose latency is that of a measured curve, at the bandwidth and share of reads of the moment.");
  schema.field("points", &CurveMediaParams::points)
      .default_text("those in `file`")
      .doc("The measured points; of each share of reads at least two, of rising bandwidth.");
  schema.field("file", &CurveMediaParams::file)
      .file()
      .default_text("")
      .doc(
          "A table of the points, relative to the spec's folder: CSV or TSV with a header and the columns "
          "bandwidth_gb_per_s, latency_ns and (for more than one share) reads.");
  schema.field("elsewhere", &CurveMediaParams::elsewhere)
      .doc(
          "The part of the measured latencies that the rest of the system adds here, such as the way from "
          "the core to the memory: it is taken off.");
  schema.field("window", &CurveMediaParams::window)
      .min(1)
      .max(1U << 20U)
      .doc("Accesses over which the offered bandwidth and the share of reads are taken.");
  schema.rule("exactly one of points and file is needed", [](const CurveMediaParams& params) {
    return params.points.empty() == params.file.has_value();
  });
}

CurveMedia::CurveMedia(const CurveMediaParams& params, const MediaContext& context)
    : kernel_(context.kernel),
      client_(context.client),
      source_(context.kernel.new_source()),
      table_(table_of(params)),
      arrivals_(params.window),
      elsewhere_(params.elsewhere.ns()),
      unloaded_(table_.least_latency()) {
  if (unloaded_ <= elsewhere_) {
    throw InputError({"nothing is left of the curve's latencies",
                      to_text(params.elsewhere),
                      "less than the least latency, " + Value(unloaded_).described() + " ns",
                      {}},
                     "elsewhere");
  }
  kernel_.measure(sums_);
}

// The largest bandwidth bounds when accesses start, one after the other. A measured latency has the waiting
// in it that goes with its load: so the wait for a start counts only as far as it is longer than that, and
// the least latency comes after the start in any case.
void CurveMedia::access(Message& message, Address /*address*/, Time ready) {
  arrivals_.add(ready, message.size, message.opcode != Opcode::kMemWr);
  const double reads = arrivals_.reads();
  const double capacity = table_.capacity(reads);
  const double load = arrivals_.load(capacity);
  const double start = std::max(free_, ready.ns());
  free_ = start + message.size / capacity;
  const double by_curve = ready.ns() + table_.latency(reads, load);
  const double by_start = start + unloaded_;
  const Time done{std::llround((std::max(by_curve, by_start) - elsewhere_) * 1000.0)};
  if (sums_.is_open()) {
    ++sums_->accesses;
    sums_->throttled += by_start > by_curve ? 1U : 0U;
    sums_->load += load;
    sums_->reads += reads;
  }
  message.charge(Segment::kMediaQueue, std::min(Time{std::llround(start * 1000.0)}, done));
  message.charge(Segment::kMedia, done);
  kernel_.schedule(done, source_, *this, 0, payload_of(message));
}

void CurveMedia::wake(std::uint8_t /*kind*/, std::uint64_t payload) {
  client_.media_done(object_of<Message>(payload), kernel_.now());
}

std::vector<MeasureInfo> CurveMedia::measures() { return infos_of(kCurveMediaMeasures); }

void CurveMedia::resources(ResourceSink& sink) const { sink.add(waiting_for_media("the curve media of")); }

void CurveMedia::report(MeasureSink& sink) const {
  const auto accesses = static_cast<double>(sums_->accesses);
  report_all(kCurveMediaMeasures,
             {.load = mean_value(sums_->load, accesses),
              .reads = mean_value(sums_->reads, accesses),
              .throttled = mean_value(static_cast<double>(sums_->throttled), accesses)},
             sink);
}

}  // namespace cxloom
