#include "results/summary.hpp"

#include <optional>
#include <string>
#include <utility>

#include "base/measure_table.hpp"
#include "coherence/cache/agent.hpp"
#include "coherence/common/coherence_counts.hpp"
#include "coherence/common/coherence_home.hpp"
#include "component/delivery_order.hpp"
#include "component/io_roles.hpp"
#include "component/line_versions.hpp"
#include "device/requester/requester.hpp"
#include "device/switch/persist_domain.hpp"
#include "interconnect/link/end.hpp"
#include "interconnect/link/measures.hpp"
#include "interconnect/routing/route_table.hpp"
#include "interconnect/wire/shared_medium.hpp"
#include "memory/memory_owner.hpp"
#include "results/event_results.hpp"
#include "results/notes.hpp"
#include "results/removal_results.hpp"
#include "results/replication_results.hpp"
#include "results/request_measures.hpp"
#include "results/sharing.hpp"
#include "results/task_results.hpp"
#include "results/unlimited.hpp"

namespace cxloom {

namespace {

struct Summary {
  std::uint64_t requests = 0;
  std::uint64_t reads = 0;
  std::uint64_t writes = 0;
  std::optional<std::uint64_t> atomics;
  std::optional<std::uint64_t> flushes;
  std::uint64_t write_backs = 0;
  std::optional<std::uint64_t> prefetches;
  Value errors;
  std::uint64_t failed_write_backs = 0;
  double simulated_time = 0;
  double bandwidth = 0;
  Value bandwidth_ci95;
  Value latency;
  Value breakdown;
  Value mean_hops;
  Value by_hops;
  std::optional<Value> mix_windows;
  std::optional<Value> versions;
  std::optional<Value> sharing;
  Value read;
  Value write;
  std::optional<Value> atomic;
  std::optional<Value> flush;
  Value per_requester;
  Value per_memory;
  Value per_io;
  Value per_link;
  Value per_switch;
  std::optional<Value> per_device;
  Value per_home;
  Value coherence;
  std::optional<Value> tasks;
  std::optional<Value> events;
  std::optional<Value> removals;
  std::optional<Value> replication;
  Value unlimited;
  Value stationary;
  Value completed;
  Value truncated;
  Value stop_reason;
  Value notes;
  std::uint64_t seed = 0;
};

constexpr std::array kSummaryMeasures{
    measure<&Summary::requests>(
        "requests", "",
        "requests answered with data in the measured window, cache hits and completed writes included"),
    measure<&Summary::reads>("reads", "", "reads answered with data in the measured window"),
    measure<&Summary::writes>("writes", "", "writes completed in the measured window"),
    measure<&Summary::atomics>(
        "atomics", "", "atomic operations answered in the measured window. Absent where there were none"),
    measure<&Summary::flushes>(
        "flushes", "",
        "flushes in the measured window, answered when their lines are durable. Absent without "
        "persistent memory, if there are none"),
    measure<&Summary::write_backs>(
        "write_backs", "",
        "dirty lines written back to memory in the window; they are messages, not requests"),
    measure<&Summary::prefetches>("prefetches", "",
                                  "lines that came to caches in the window because they were asked for ahead "
                                  "of their use; they are messages, not "
                                  "requests. Absent where there were none"),
    measure<&Summary::errors>("errors", "",
                              "requests answered without data because a link was down, a part of the system "
                              "had failed, or the memory belongs to another host: apart, for no count, mean, "
                              "percentile or bandwidth has them",
                              parts_of<kAllErrorsMeasures>()),
    measure<&Summary::failed_write_backs>(
        "failed_write_backs", "",
        "dirty lines that were lost because a link on their way to memory was down"),
    measure<&Summary::simulated_time>(
        "simulated_time_ns", "ns",
        "length of the measured window. It opens when every requester is warm, that is, when the last one "
        "issues its first request after the warm-up, and closes when the first requester has run out of "
        "work: as many of its requests have completed since the window opened as it was to measure"),
    measure<&Summary::bandwidth>("bandwidth_gb_per_s", "GB/s",
                                 "payload bytes exchanged with memory by the requests, write-backs and "
                                 "prefetches completed in the window / its "
                                 "length; 10^9 bytes per second; cache hits move nothing"),
    measure<&Summary::bandwidth_ci95>("bandwidth_ci95", "GB/s", kBandwidthInterval),
    measure<&Summary::latency>(
        "latency_ns", "ns",
        "latency of the requests answered with data in the window. The clock starts when the request exists: "
        "at its scheduled time in an open loop, when it takes its queue slot in a closed loop; it stops when "
        "the answer is with the requester",
        parts_of<kLatencyMeasures>()),
    measure<&Summary::breakdown>("breakdown_ns", "ns",
                                 "mean of each segment of the latency; they sum to latency_ns.mean",
                                 kBreakdownParts),
    measure<&Summary::mean_hops>("mean_hops", "", "links crossed by a request and its answer, mean"),
    measure<&Summary::by_hops>("by_hops", "", "of the requests that crossed so many links there and back",
                               parts_of<kHopsMeasures>(true)),
    measure<&Summary::mix_windows>("mix_windows", "",
                                   "how the bandwidth follows the mix of reads and writes. Absent without "
                                   "outputs.mix_windows",
                                   parts_of<kMixMeasures>()),
    measure<&Summary::versions>("versions", "",
                                "old data where there were newer ones, in the whole run. Absent without "
                                "outputs.versions",
                                parts_of<kVersionMeasures>()),
    measure<&Summary::sharing>("sharing", "",
                               "what requesters missed of each other's stores to memory that nobody keeps "
                               "coherent, in the whole run. Absent without outputs.sharing",
                               parts_of<kSharingSummaryMeasures>()),
    measure<&Summary::read>("read", "", "measures of the reads alone", parts_of<kKindMeasures>()),
    measure<&Summary::write>("write", "", "measures of the writes alone", parts_of<kKindMeasures>()),
    measure<&Summary::atomic>("atomic", "",
                              "measures of the atomic operations alone. Absent where there were none",
                              parts_of<kKindMeasures>()),
    measure<&Summary::flush>(
        "flush", "", "measures of the flushes alone. Absent without persistent memory, if there are none",
        parts_of<kKindMeasures>()),
    measure<&Summary::per_requester>(
        "per_requester", "", "measures of each host and accelerator with work: those of its kind, and",
        parts_of<kRequesterMeasures>(true)),
    measure<&Summary::per_memory>("per_memory", "",
                                  "measures of each memory: those of its kind and of its media, and",
                                  parts_of<kServedMeasures>(true)),
    measure<&Summary::per_io>("per_io", "",
                              "measures of each I/O engine, whose payload counts in no other bandwidth but "
                              "those of wires: those of its kind, and",
                              parts_of<kIoMeasures>(true)),
    measure<&Summary::per_link>("per_link", "", "measures of each direction of each link"),
    measure<&Summary::per_switch>("per_switch", "", "measures of each switch and bus: those of its kind"),
    measure<&Summary::per_device>("per_device", "",
                                  "measures of each device of a plug-in besides these: those of its kind. "
                                  "Absent where there is none"),
    measure<&Summary::per_home>("per_home", "", "measures of each coherency agent",
                                parts_of<kHomeMeasures>(true)),
    measure<&Summary::coherence>(
        "coherence", "", "measures of all coherency agents together; empty: no memory is kept coherent",
        parts_of<kCoherenceTotals>()),
    measure<&Summary::tasks>("tasks", "", "what became of the graph of tasks. Absent where the spec has none",
                             parts_of<kGraphMeasures>()),
    measure<&Summary::events>(
        "events", "",
        "what failed and was repaired, in the whole run, by time and action, the second equal one with (2) "
        "behind; counts go from an event to the next. Absent where the spec has no such events",
        parts_of<kEventMeasures>(true)),
    measure<&Summary::removals>(
        "removals", "",
        "how memories were taken out of use, by time and action as in `events`. Absent where no such event "
        "happened",
        parts_of<kRemovalMeasures>(true)),
    measure<&Summary::replication>(
        "replication", "",
        "what became of each replicated region, in the whole run, by the names of its memories. Absent where "
        "there is none",
        parts_of<kReplicationMeasures>(true)),
    measure<&Summary::unlimited>(
        "unlimited", "",
        "what carried messages and had no limit of bandwidth: directions of links, buses, memories",
        parts_of<kUnlimitedMeasures>()),
    measure<&Summary::stationary>(
        "stationary", "",
        "whether the mean latencies of the halves of the window agree: differ by less than 1 %, or by less "
        "than chance makes them in 99 of 100 steady runs; null where there are too few requests to decide"),
    measure<&Summary::completed>("completed", "", "whether every request was answered"),
    measure<&Summary::truncated>(
        "truncated", "", "whether the run was stopped before its end: the measures cover what there was"),
    measure<&Summary::stop_reason>("stop_reason", "", "why the run ended"),
    measure<&Summary::notes>("notes", "", "what the user should know of the run, a sentence each"),
    measure<&Summary::seed>("seed", "", "of all random streams"),
};

bool has_persistent(const AddressMap& map) {
  return !map.persistent_targets(Persistence::kMedia).empty() ||
         !map.persistent_targets(Persistence::kController).empty();
}

Value all_errors(const System& system, const RequestStatistics& all, const Collector& collector) {
  AllErrorsMeasured measured{.requests = all.errors.count(), .latency = latency_of(all.errors), .first = {}};
  if (const auto& first = collector.first_error()) {
    const auto name = [&](NodeId node) { return system.components()[node.index()]->name(); };
    measured.first = map_of(kFirstErrorMeasures, {.address = to_text(first->address),
                                                  .requester = name(first->requester),
                                                  .answered_by = name(first->answered_by),
                                                  .at = first->at.ns()});
  }
  return map_of(kAllErrorsMeasures, measured);
}

std::optional<Value> versions_of(const Simulation& simulation) {
  const System& system = simulation.system();
  const LineVersions* const versions = system.versions();
  if (!versions) return std::nullopt;
  const auto has_way = [&](NodeId memory) {
    return std::ranges::any_of(system.roles().all<Requester>(), [&](const auto& each) {
      return system.routes().distance(each.component->id().index(), memory.index()) !=
             RouteTable::kUnreachable;
    });
  };
  VersionsMeasured measured = versions->measured();
  // What was in a memory that was emptied is elsewhere.
  measured.unreachable_lines = versions->settled_lines([&](LineAddress line) {
    const NodeId memory = system.address_map().find(line.address())->home;
    return !has_way(memory) && !is_emptied(simulation, memory);
  });
  return map_of(kVersionMeasures, measured);
}

// What components measure, by the groups of a summary.
struct Groups {
  Value::Map requesters;
  Value::Map memories;
  Value::Map engines;
  Value::Map switches;
  Value::Map others;
};

/// The number of segments of requests: with those of persist buffers where there are some.
std::size_t segments_with(const Roles& roles) {
  return roles.all<PersistDomain>().empty() ? kSegmentCount - kPersistSegments : kSegmentCount;
}

void add_io(const Component& component, const IoInitiator& initiator, std::size_t segments, Groups& groups) {
  MapSink own;
  initiator.report_io(own);
  report_all(kIoMeasures,
             {.latency = latency_of(initiator.latency()),
              .breakdown = breakdown_of(initiator.segment_sums_ps(), initiator.latency().count(), segments)},
             own);
  groups.engines.emplace_back(component.name(), own.take());
}

void add_requester(const Component& component, const Requester& requester, Groups& groups) {
  MapSink own;
  requester.report_requests(own);
  report_all(kRequesterMeasures,
             {.latency = latency_of(requester.latency(), requester.batches()),
              .errors = errors_of(requester.errors())},
             own);
  groups.requesters.emplace_back(component.name(), own.take());
}

void add_memory(const Component& component, const MemoryOwner& owner, const MemoryStatistics& served,
                double length, std::size_t segments, Groups& groups) {
  MapSink own;
  owner.report_memory(own);
  report_served(served, length, segments, own);
  groups.memories.emplace_back(component.name(), own.take());
}

Value homes_of(const System& system) {
  Value::Map homes;
  for (const auto& [component, home] : system.roles().all<CoherenceHome>()) {
    CoherenceMeasured measured(home->coherence_counts());
    measured.transactions_mean = home->transactions_mean();
    measured.fails = system.system_context().failures != nullptr;
    MapSink own;
    report_all(kHomeMeasures, measured, own);
    homes.emplace_back(component->name(), own.take());
  }
  return homes;
}

Value coherence_of(const System& system) {
  if (system.roles().all<CoherenceHome>().empty()) return Value::Map{};
  CoherenceCounts counts;
  for (const auto& [component, home] : system.roles().all<CoherenceHome>())
    counts = sum_of(counts, home->coherence_counts());
  CoherenceMeasured all(counts);
  all.fails = system.system_context().failures != nullptr;
  std::uint64_t live = 0;
  for (const auto& [component, requester] : system.roles().all<Requester>())
    live += requester->cache() ? requester->cache()->lines_lost() : 0;
  all.lines_invalidated_live = live;
  MapSink own;
  report_all(kCoherenceTotals, all, own);
  return own.take();
}

// What a component measures in each of its roles, and what it measures besides.
void add_component(const Component& component, const Roles& roles, const Collector& collector, double length,
                   Groups& groups) {
  const NodeId node = component.id();
  const Requester* requester = roles.of<Requester>(node);
  const MemoryOwner* owner = roles.of<MemoryOwner>(node);
  const IoInitiator* initiator = roles.of<IoInitiator>(node);
  if (requester && requester->has_work()) add_requester(component, *requester, groups);
  if (owner && owner->memory_capacity() > Bytes{})
    add_memory(component, *owner, collector.of_memory(node), length, segments_with(roles), groups);
  if (initiator) add_io(component, *initiator, segments_with(roles), groups);
  const bool is_switch = component.is_switch() || roles.of<SharedMedium>(node);
  MapSink own;
  component.report(own);
  if (is_switch) {
    groups.switches.emplace_back(component.name(), own.take());
  } else if (!own.empty()) {
    groups.others.emplace_back(component.name(), own.take());
  }
}

}  // namespace

std::vector<MeasureInfo> summary_measures() { return infos_of(kSummaryMeasures); }

Value summarize_link(const Simulation& simulation, const System::LinkView& link) {
  const double length = simulation.window().length().ns();
  const auto direction = [&](const LinkEnd& end) {
    MapSink own;
    report_link(end, link.shared, length, own);
    return own.take();
  };
  return Value::Map{{link.forward->name(), direction(*link.forward)},
                    {link.backward->name(), direction(*link.backward)}};
}

Value summarize(const Simulation& simulation, const Collector& collector) {
  Value::Map links;
  for (const System::LinkView& link : simulation.system().links())
    links.emplace_back(link.name, summarize_link(simulation, link));
  Value summary = summarize_without_links(simulation, collector);
  summary.set("per_link", std::move(links));
  return summary;
}

Value summarize_without_links(const Simulation& simulation, const Collector& collector) {
  const double length = simulation.window().length().ns();
  const RequestStatistics all = collector.all();
  const RequestStatistics atomics = collector.atomics();
  const RequestStatistics flushes = collector.flushes();
  const std::size_t segments = segments_with(simulation.system().roles());
  const bool has_atomics = atomics.latency.count() + atomics.errors.count() > 0;
  const bool flushable = has_persistent(simulation.system().address_map()) ||
                         flushes.latency.count() + flushes.errors.count() > 0;
  Groups groups;
  for (const auto& component : simulation.system().components())
    add_component(*component, simulation.system().roles(), collector, length, groups);
  const Unlimited unlimited = find_unlimited(simulation.system(), &collector);
  const auto halves = all.batches.halves(all.latency.count());
  const bool finished = simulation.state() == Simulation::State::kFinished;
  return map_of(
      kSummaryMeasures,
      {.requests = all.latency.count(),
       .reads = collector.reads().latency.count(),
       .writes = collector.writes().latency.count(),
       .atomics = has_atomics ? std::optional(atomics.latency.count()) : std::nullopt,
       .flushes = flushable ? std::optional(flushes.latency.count()) : std::nullopt,
       .write_backs = collector.write_backs(),
       .prefetches = collector.prefetches() > 0 ? std::optional(collector.prefetches()) : std::nullopt,
       .errors = all_errors(simulation.system(), all, collector),
       .failed_write_backs = collector.failed_write_backs(),
       .simulated_time = length,
       .bandwidth = rate(all.payload, length),
       .bandwidth_ci95 = bandwidth_interval(rate(all.payload, length), all.latency.count(), all.batches),
       .latency = latency_of_many(all.latency, all.batches),
       .breakdown = breakdown_of(all.segment_sums_ps, all.latency.count(), segments),
       .mean_hops = mean_hops_of(collector.by_hops()),
       .by_hops = hops_summary(collector.by_hops()),
       .mix_windows =
           collector.mix_windows().kept() ? std::optional(collector.mix_windows().report()) : std::nullopt,
       .versions = versions_of(simulation),
       .sharing = simulation.spec().outputs.sharing ? sharing_of(simulation.system()) : std::nullopt,
       .read = kind_summary(collector.reads(), length, segments),
       .write = kind_summary(collector.writes(), length, segments),
       .atomic = has_atomics ? std::optional(kind_summary(atomics, length, segments)) : std::nullopt,
       .flush = flushable ? std::optional(kind_summary(flushes, length, segments)) : std::nullopt,
       .per_requester = std::move(groups.requesters),
       .per_memory = std::move(groups.memories),
       .per_io = std::move(groups.engines),
       .per_link = Value::Map{},
       .per_switch = std::move(groups.switches),
       .per_device = groups.others.empty() ? std::nullopt : std::optional<Value>(std::move(groups.others)),
       .per_home = homes_of(simulation.system()),
       .coherence = coherence_of(simulation.system()),
       .tasks = tasks_of(simulation),
       .events = events_of(simulation),
       .removals = removals_of(simulation),
       .replication = replication_of(simulation),
       .unlimited = unlimited.to_value(),
       .stationary = halves ? Value(!halves->differ) : Value(),
       .completed = finished,
       .truncated = !finished,
       .stop_reason = simulation.stop_reason(),
       .notes = notes_of(simulation, collector, all, unlimited, length),
       .seed = simulation.spec().run.seed});
}

Value measures_of(const System& system) {
  Value::Map all;
  for (const auto& component : system.components()) {
    MapSink own;
    const NodeId node = component->id();
    if (const auto* requester = system.roles().of<Requester>(node)) requester->report_requests(own);
    if (const auto* owner = system.roles().of<MemoryOwner>(node)) owner->report_memory(own);
    if (const auto* initiator = system.roles().of<IoInitiator>(node)) initiator->report_io(own);
    component->report(own);
    all.emplace_back(component->name(), own.take());
  }
  for (const System::LinkView& link : system.links()) {
    for (const LinkEnd* end : {link.forward, link.backward}) {
      MapSink own;
      report_link(*end, link.shared, 1.0, own);
      all.emplace_back(end->name(), own.take());
    }
  }
  return all;
}

}  // namespace cxloom
