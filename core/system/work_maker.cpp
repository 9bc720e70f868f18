#include "system/work_maker.hpp"

#include <utility>

#include "workload/pattern.hpp"
#include "workload/phases.hpp"

namespace cxloom {

WorkMaker::WorkMaker(const Registry& registry, const Spec& spec, const AddressMap& map,
                     const TraceOpener& open_trace)
    : registry_(registry), run_(spec.run), map_(map), open_trace_(open_trace) {
  for (const Spec::Workload& workload : spec.workloads) {
    if (workload.params.addresses == Addresses::kFirstTouch) ++programs_;
  }
}

std::unique_ptr<AccessStream> WorkMaker::make_pattern(const std::string& device, const std::string& kind,
                                                      const Value& params) const {
  PatternContext context{run_.seed, device};
  auto stream = registry_.patterns.make({kind, params}, context);
  if (const auto range = stream->range()) {
    const std::uint64_t start = range->base.value() - map_.base().value();
    const std::uint64_t mapped = map_.contiguous_bytes();
    if (range->base < map_.base() || start > mapped || range->bytes > mapped - start) {
      const bool below_all = range->base < map_.base();
      const bool fits = range->bytes <= mapped;  // elsewhere
      throw InputError({"the footprint runs out of the address map",
                        to_text(range->base) + " + " + to_text(Bytes{range->bytes}),
                        "addresses in " + map_.described() +
                            (below_all ? "; set base: " + to_text(map_.base()) : std::string()),
                        {},
                        InputError::Kind::kBetween},
                       below_all || fits ? "base" : "footprint");
    }
  }
  return stream;
}

std::unique_ptr<AccessStream> WorkMaker::make_stream(const Spec::Workload& workload, Work& work) {
  const WorkloadParams& params = workload.params;
  if (params.pattern) return make_pattern(workload.device, *params.pattern, workload.pattern);
  if (params.trace) {
    TraceFeed feed = below("trace", [&] { return open_trace_(workload.device); });
    return std::make_unique<TraceStream>(std::move(feed.refill), feed.length);
  }
  std::vector<PhasedStream::Phase> phases;
  std::uint64_t round = 0;
  for (std::size_t i = 0; i < params.phases.size(); ++i) {
    below(indexed("phases", i), [&] {
      const Spec::Workload phase = read_workload(workload.device, params.phases[i], registry_);
      if (!phase.params.pattern) throw InputError({"a phase needs a pattern", {}, {}, {}});
      phases.push_back(
          {make_pattern(workload.device + "/" + std::to_string(i), *phase.params.pattern, phase.pattern),
           *phase.params.requests});
      round += *phase.params.requests;
    });
  }
  if (!work.requests) work.requests = round;
  return std::make_unique<PhasedStream>(std::move(phases));
}

Work WorkMaker::make(const Spec::Workload& workload) {
  Work work;
  work.warmup = run_.warmup;
  work.requests = workload.params.requests;
  work.arrivals = workload.params.arrivals;
  work.timestamps = workload.params.replay == Replay::kTimestamps;
  if (workload.params.rate) work.rate = workload.params.rate->rate;
  work.name = "workload." + workload.device;
  work.stream = make_stream(workload, work);
  if (workload.params.addresses == Addresses::kFirstTouch) {
    work.stream = std::make_unique<FirstTouchStream>(
        std::move(work.stream), FirstTouchStream::Share{placed_++, programs_, map_.base()});
  }
  return work;
}

}  // namespace cxloom
