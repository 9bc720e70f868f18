#include "system/work_maker.hpp"

#include <utility>

#include "system/registry.hpp"
#include "workload/pattern.hpp"

namespace cxloom {

namespace {

constexpr std::uint64_t kToItsEnd = ~std::uint64_t{0};

/// Pages that the patterns stay in, as far as that is known.
std::optional<std::uint64_t> footprint_of(const std::vector<PhasedStream::Phase>& phases) {
  std::vector<AddressRange> ranges;
  for (const PhasedStream::Phase& phase : phases) {
    const auto range = phase.stream->range();
    if (!range) return std::nullopt;
    ranges.push_back(*range);
  }
  return pages_in(std::move(ranges));
}

}  // namespace

WorkMaker::WorkMaker(const Registry& registry, const Spec& spec, const AddressMap& map,
                     const TraceOpener& open_trace)
    : registry_(registry), run_(spec.run), map_(map), open_trace_(open_trace), memory_(frames_of(map)) {
  if (!map.empty()) divide_memory(spec);
}

void WorkMaker::divide_memory(const Spec& spec) {
  std::vector<const Spec::Workload*> placed;
  for (const Spec::Workload& workload : spec.workloads) {
    if (workload.params.addresses == Addresses::kFirstTouch) placed.push_back(&workload);
  }
  std::vector<std::optional<std::uint64_t>> pages(placed.size());
  for (std::size_t i = 0; placed.size() > 1 && i < placed.size(); ++i) {
    below("workload", [&] { below(placed[i]->device, [&] { pages[i] = pages_of(*placed[i]); }); });
  }
  const std::vector<Frames> shares = divide(memory_, pages);
  for (std::size_t i = 0; i < placed.size(); ++i) shares_[placed[i]->device] = shares[i];
}

// Without a warm-up nobody makes more than its requests: the window opens at the first request of all. With one, whoever is
// warm goes on until the others are, which may be for any time.
std::optional<std::uint64_t> WorkMaker::pages_of(const Spec::Workload& workload) const {
  const bool warms_up = run_.warmup > 0 || run_.warmup_time;
  Work work;
  work.requests = workload.params.requests;
  if (workload.params.trace) {
    const TraceFeed feed = below("trace", [&] { return open_trace_(workload.device); });
    if (!feed.again) return std::nullopt;
    TraceStream trace(feed.again());
    return pages_touched(trace, warms_up ? kToItsEnd : work.requests.value_or(kToItsEnd));
  }
  const auto footprint = footprint_of(make_phases(workload));
  const auto stream = make_stream(workload, work);
  // Patterns are drawn from only if they may leave pages of their footprint out.
  if (warms_up || !work.requests || *work.requests >= footprint.value_or(count_of(memory_))) return footprint;
  return pages_touched(*stream, *work.requests);
}

// What is certain to be answered with an error is a mistake. Of a trace the addresses show only during the run.
void WorkMaker::check_owners(const AddressRange& range, const std::string& device) const {
  const auto other = map_.foreign(range.base, range.bytes, device);
  if (!other) return;
  throw InputError(
      {"the footprint reaches memory that belongs to another device",
       to_text(range.base) + " + " + to_text(Bytes{range.bytes}),
       "addresses outside of logical device " + std::to_string(other->ld) + " of '" + other->memory +
           "', which belongs to '" + other->owner + "': it has " + to_text(other->at),
       {},
       InputError::Kind::kBetween},
      other->at == range.base ? "base" : "footprint");
}

void WorkMaker::check_pages(const std::string& device) const {
  for (const AddressMap::Extent& extent : map_.extents()) {
    const auto other = map_.foreign(extent.base, extent.bytes, device);
    if (!other) continue;
    throw InputError({"pages are placed in all of the memory, and some of it belongs to another device",
                      "logical device " + std::to_string(other->ld) + " of '" + other->memory +
                          "', which belongs to '" + other->owner + "'",
                      "addresses: as-is, or logical devices without a host",
                      {}},
                     "addresses");
  }
}

void WorkMaker::check_range(const AddressRange& range, const Spec::Workload& of) const {
  if (of.params.addresses ==
      Addresses::kFirstTouch) {  // the addresses are the program's own; the memory for them is not
    if (pages_in({range}) <= count_of(memory_)) return;
    throw InputError({"the footprint is larger than the memory",
                      to_text(Bytes{range.bytes}),
                      "at most " + to_text(Bytes{count_of(memory_) * kPageBytes}) + " in whole pages of " +
                          to_text(Bytes{kPageBytes}),
                      {},
                      InputError::Kind::kBetween},
                     "footprint");
  }
  const std::uint64_t start = range.base.value() - map_.base().value();
  const std::uint64_t mapped = map_.contiguous_bytes();
  if (range.base >= map_.base() && start <= mapped && range.bytes <= mapped - start) {
    check_owners(range, of.device);
    return;
  }
  const bool below_all = range.base < map_.base();
  const bool fits = range.bytes <= mapped;  // elsewhere
  throw InputError({"the footprint runs out of the address map",
                    to_text(range.base) + " + " + to_text(Bytes{range.bytes}),
                    "addresses in " + map_.described() +
                        (below_all ? "; set base: " + to_text(map_.base()) : std::string()),
                    {},
                    InputError::Kind::kBetween},
                   below_all || fits ? "base" : "footprint");
}

std::unique_ptr<AccessStream> WorkMaker::make_pattern(const std::string& name, const Spec::Workload& workload,
                                                      const Spec::Workload& of) const {
  PatternContext context{run_.seed, name};
  auto stream = registry_.patterns.make({*workload.params.pattern, workload.pattern}, context);
  if (const auto range = stream->range()) check_range(*range, of);
  return stream;
}

/// A pattern is one phase.
std::vector<PhasedStream::Phase> WorkMaker::make_phases(const Spec::Workload& workload) const {
  const WorkloadParams& params = workload.params;
  std::vector<PhasedStream::Phase> phases;
  if (params.pattern) phases.push_back({make_pattern(workload.device, workload, workload), 1});
  for (std::size_t i = 0; i < params.phases.size(); ++i) {
    below(indexed("phases", i), [&] {
      const Spec::Workload phase = read_workload(workload.device, params.phases[i], registry_);
      if (!phase.params.pattern) throw InputError({"a phase needs a pattern", {}, {}, {}});
      phases.push_back(
          {make_pattern(workload.device + "/" + std::to_string(i), phase, workload), *phase.params.requests});
    });
  }
  return phases;
}

std::unique_ptr<AccessStream> WorkMaker::make_stream(const Spec::Workload& workload, Work& work) const {
  if (workload.params.trace) {
    TraceFeed feed = below("trace", [&] { return open_trace_(workload.device); });
    return std::make_unique<TraceStream>(std::move(feed.refill), feed.length);
  }
  std::vector<PhasedStream::Phase> phases = make_phases(workload);
  if (workload.params.pattern) return std::move(phases.front().stream);
  std::uint64_t round = 0;
  for (const PhasedStream::Phase& phase : phases) round += phase.requests;
  if (!work.requests) work.requests = round;
  return std::make_unique<PhasedStream>(std::move(phases));
}

Work WorkMaker::make(const Spec::Workload& workload) const {
  Work work;
  work.warmup = run_.warmup;
  work.requests = workload.params.requests;
  work.arrivals = workload.params.arrivals;
  work.instruction_gaps = workload.params.trace.has_value();
  work.timestamps = workload.params.replay == Replay::kTimestamps;
  if (workload.params.rate) work.rate = workload.params.rate->rate;
  work.name = "workload." + workload.device;
  work.stream = make_stream(workload, work);
  // Without a warm-up the window opens with the first access of all.
  if (run_.warmup == 0 && !run_.warmup_time) work.in_all = work.requests;
  if (workload.params.addresses == Addresses::kFirstTouch) {
    check_pages(workload.device);
    work.stream = std::make_unique<FirstTouchStream>(std::move(work.stream), shares_.at(workload.device),
                                                     Division{count_of(memory_), shares_.size()},
                                                     work.name + ".addresses");
  }
  return work;
}

}  // namespace cxloom
