#include "system/work/workload_builder.hpp"

#include <algorithm>
#include <utility>

#include "base/kind_registry.hpp"
#include "system/kinds/registry.hpp"
#include "system/model/system.hpp"
#include "system/work/checks.hpp"
#include "system/work/pattern_ranges.hpp"
#include "system/work/share_groups.hpp"
#include "workload/pattern/pattern.hpp"
#include "workload/stream/threads.hpp"

namespace cxloom {

namespace {

constexpr std::uint64_t kToItsEnd = ~std::uint64_t{0};

}  // namespace

WorkloadBuilder::WorkloadBuilder(const Registry& registry, const Spec& spec, const System& system,
                                 const TraceOpener& open_trace)
    : registry_(registry),
      workloads_(spec.workloads),
      run_(spec.run),
      system_(system),
      open_trace_(open_trace),
      programs_(registry, spec, system) {
  check_nothing_is_lost(spec);
  programs_.divide_memory(spec, [this](const Spec::Workload& workload) { return pages_of(workload); });
}

Requester::Traits WorkloadBuilder::traits_of(const std::string& device) const {
  const Requester* const requester = system_.roles().of<Requester>(system_.component(device).id());
  return requester ? requester->traits() : Requester::Traits{};
}

bool WorkloadBuilder::has_cache(const std::string& device) const {
  const Requester* const requester = system_.roles().of<Requester>(system_.component(device).id());
  return requester && requester->cache();
}

PageRuns WorkloadBuilder::touched_before(const Spec::Workload& workload) const {
  if (workload.params.trace || workload.params.touched == Touched::kDuring) return {};
  return footprint_of(phases_of(workload), programs_.page()).value_or(PageRuns{});
}

// Without a warm-up nobody makes more than its requests: the window opens at the first request of all. With
// one, whoever is warm goes on until the others are, which may be for any time.
std::optional<PageRuns> WorkloadBuilder::pages_of(const Spec::Workload& workload) const {
  const bool warms_up = run_.warmup > 0 || run_.warmup_time;
  Work work;
  work.requests = workload.params.requests;
  if (workload.params.trace) {
    const TraceFeed feed = with_path("trace", [&] { return open_trace_(workload.device); });
    if (!feed.again) return std::nullopt;
    TraceStream trace(feed.again());  // accesses alone
    return pages_touched(trace, warms_up ? kToItsEnd : work.requests.value_or(kToItsEnd), programs_.page());
  }
  auto footprint = footprint_of(phases_of(workload), programs_.page());
  if (workload.params.touched == Touched::kBefore && footprint) return footprint;
  const auto stream = make_stream(workload, work);
  // Patterns are drawn from only if they may leave pages of their footprint out.
  if (stream->reactive() || warms_up || !work.requests ||
      (footprint && *work.requests >= count_of(*footprint)))
    return footprint;
  return pages_touched(*stream, *work.requests, programs_.page());
}

std::unique_ptr<AccessStream> WorkloadBuilder::make_pattern(const std::string& name,
                                                            const Spec::Workload& workload,
                                                            const Spec::Workload& of,
                                                            std::optional<std::uint32_t> thread) const {
  const Requester::Traits requester = traits_of(of.device);
  PatternContext context{run_.seed, name, has_cache(of.device), &registry_.patterns, requester.queue};
  if (run_.warmup == 0 && !run_.warmup_time) context.accesses = workload.params.requests;
  const AddressMap& map = system_.address_map_of(system_.component(of.device).id());
  context.map = &map;
  context.stores_in_cache = requester.stores_in_cache;
  context.has_cores = requester.has_cores;
  if (shares(workload)) join_share(workload, workloads_, context);
  auto stream = registry_.patterns.make({*workload.params.pattern, workload.pattern}, context);
  const std::vector<AddressRange> ranges = stream->ranges();
  // The addresses of a program whose pages are placed are its own; the memory for them is not.
  // Threads have parts of one range, so that the first one speaks for all.
  if (!ranges.empty() && of.params.places_pages() && thread.value_or(0) == 0)
    programs_.check_pages(of.device, ranges);
  for (const AddressRange& each : ranges) {
    if (of.params.places_pages()) continue;
    check_footprint(each, map, of.device);
    check_apart(of, each, workloads_);
  }
  const auto range = stream->range();
  if (!thread) return stream;
  context.name += ", thread " + std::to_string(*thread);
  KindSpec pattern{*workload.params.pattern, workload.pattern};
  const std::vector<FieldInfo>& fields = registry_.patterns.at(pattern.kind).info.fields;
  const bool divides = std::ranges::find(fields, "footprint", &FieldInfo::name) != fields.end();
  if (range && !of.params.shared_footprint && !divides) {
    throw InputError({"addresses of this pattern are not divided among threads",
                      counted(of.params.threads, "thread"),
                      "shared_footprint: true, or a single thread",
                      {},
                      InputError::Kind::kBetween},
                     "shared_footprint");
  }
  if (range && !of.params.shared_footprint)
    pattern.params = in_range(workload.pattern, part_of(*range, *thread, of.params.threads));
  return registry_.patterns.make(pattern, context);
}

/// A pattern is one phase.
std::vector<PhasedStream::Phase> WorkloadBuilder::phases_of(const Spec::Workload& workload,
                                                            std::optional<std::uint32_t> thread) const {
  const WorkloadParams& params = workload.params;
  std::vector<PhasedStream::Phase> phases;
  if (params.pattern) {
    auto stream = make_pattern(workload.device, workload, workload, thread);
    const std::uint64_t each = stream->per_access();
    phases.push_back({std::move(stream), each});
  }
  for (std::size_t i = 0; i < params.phases.size(); ++i) {
    with_path(indexed("phases", i), [&] {
      const Spec::Workload phase = read_phase(workload.device, params.phases[i], registry_);
      auto stream = make_pattern(workload.device + "/" + std::to_string(i), phase, workload, thread);
      const std::uint64_t requests = given_for(*stream, *phase.params.requests);
      phases.push_back({std::move(stream), requests});
    });
  }
  return phases;
}

std::unique_ptr<AccessStream> WorkloadBuilder::as_stream(const Spec::Workload& workload,
                                                         std::vector<PhasedStream::Phase> phases) {
  if (workload.params.pattern) return std::move(phases.front().stream);
  return std::make_unique<PhasedStream>(std::move(phases));
}

std::unique_ptr<AccessStream> WorkloadBuilder::make_stream(const Spec::Workload& workload, Work& work) const {
  if (workload.params.trace) {
    TraceFeed feed = with_path("trace", [&] { return open_trace_(workload.device); });
    if (!workload.params.repeat.once()) {
      if (!feed.again)
        throw InputError({"a trace that can be read once only", {}, "repeat: 1, or a file", {}}, "repeat");
      return std::make_unique<TraceStream>(feed.again, workload.params.repeat, feed.length,
                                           has_cores(workload.device));
    }
    return std::make_unique<TraceStream>(std::move(feed.refill), feed.length, has_cores(workload.device),
                                         std::move(feed.times), std::move(feed.want));
  }
  const std::uint32_t threads = workload.params.threads;
  std::vector<PhasedStream::Phase> phases = phases_of(workload);
  check_engines(workload, phases, has_cores(workload.device));
  const std::uint64_t round = round_of(phases, threads);
  work.requests = work.requests ? given_for(phases, *work.requests) : round;
  if (shares(workload)) work.requests.reset();  // it ends by itself
  if (threads == 1) return as_stream(workload, std::move(phases));
  if (!has_cores(workload.device)) {
    throw InputError({"threads need cores to run on",
                      counted(threads, "thread"),
                      "devices." + workload.device + ".core: {}, or a single thread",
                      {},
                      InputError::Kind::kBetween},
                     "threads");
  }
  std::vector<std::unique_ptr<AccessStream>> streams;
  for (std::uint32_t thread = 0; thread < threads; ++thread)
    streams.push_back(as_stream(workload, phases_of(workload, thread)));
  return std::make_unique<ThreadedStream>(std::move(streams));
}

Work WorkloadBuilder::make(const Spec::Workload& workload) {
  Work work;
  work.warmup = run_.warmup;
  work.requests = workload.params.requests;
  work.arrivals = workload.params.arrivals;
  work.instruction_gaps = workload.params.trace.has_value();
  work.flushes_anything = workload.params.trace.has_value();
  work.shares = shares(workload);
  work.timestamps = workload.params.replay == Replay::kTimestamps;
  if (workload.params.rate) work.rate = workload.params.rate->rate;
  work.name = "workload." + workload.device;
  work.stream = make_stream(workload, work);
  // The measured ones begin with a whole access.
  const std::uint64_t each = work.stream->per_access();
  work.warmup = (work.warmup + each - 1) / each * each;
  // Without a warm-up the window opens with the first access of all.
  if (run_.warmup == 0 && !run_.warmup_time) work.in_all = work.requests;
  if (workload.params.places_pages()) programs_.place(workload, touched_before(workload), work);
  return work;
}

}  // namespace cxloom
