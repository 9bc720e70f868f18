#include "system/work_maker.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "device/sequencer.hpp"
#include "interconnect/route_table.hpp"
#include "system/registry.hpp"
#include "system/system.hpp"
#include "workload/pattern.hpp"

namespace cxloom {

namespace {

constexpr std::uint64_t kToItsEnd = ~std::uint64_t{0};

/// Pages that the patterns stay in, as far as that is known.
std::optional<PageRuns> footprint_of(const std::vector<PhasedStream::Phase>& phases, Bytes page) {
  std::vector<AddressRange> ranges;
  for (const PhasedStream::Phase& phase : phases) {
    const auto range = phase.stream->range();
    if (!range) return std::nullopt;
    ranges.push_back(*range);
  }
  return pages_in(std::move(ranges), page);
}

/// What a line of data takes from one device to another, unloaded, by the first of the ways that there are.
Time time_between(const System& system, NodeId from, NodeId to) {
  const Topology& topology = system.topology();
  Time sum;
  for (std::uint32_t at = from.index(), hops = 0; at != to.index() && hops < topology.size(); ++hops) {
    const auto ports = system.routes().next_hops(at, to.index());
    if (ports.empty()) return Time::max();
    const auto all = topology.hops(at);
    const auto hop = std::ranges::find(all, ports.front(), &Topology::Hop::port);
    sum += hop->crossing.latency + hop->crossing.serialization;
    at = hop->to;
    if (at != to.index()) sum += topology.node(at).transit;
  }
  return sum;
}

}  // namespace

WorkMaker::WorkMaker(const Registry& registry, const Spec& spec, const System& system,
                     const TraceOpener& open_trace)
    : registry_(registry),
      run_(spec.run),
      system_(system),
      map_(system.address_map()),
      open_trace_(open_trace) {
  divide_memory(spec);
}

std::vector<NumaNode> WorkMaker::nodes_of(const std::string& device) const {
  const NodeId from = system_.component(device).id();
  return numa_nodes(map_, device, page_, [&](NodeId memory) { return time_between(system_, from, memory); });
}

bool WorkMaker::has_cores(const std::string& device) const {
  const Sequencer* const requester = system_.roles().requesters.of(system_.component(device).id());
  return requester && requester->has_cores();
}

std::unique_ptr<PagePlacement> WorkMaker::make_placement(const Placed& placed) const {
  PlacementContext context{placed.nodes, page_, registry_.placements};
  return below("addresses",
               [&] { return registry_.placements.make(placed.workload->params.addresses, context); });
}

std::unique_ptr<PagePlacement> WorkMaker::make_table_placement(const Placed& placed) const {
  const std::optional<Kinded>& kinded = placed.workload->params.page_tables;
  if (!kinded) return nullptr;
  PlacementContext context{placed.nodes, page_, registry_.placements};
  return below("page_tables", [&] { return registry_.placements.make(*kinded, context); });
}

bool WorkMaker::has_cache(const std::string& device) const {
  const Sequencer* const requester = system_.roles().requesters.of(system_.component(device).id());
  return requester && requester->cache();
}

void WorkMaker::divide_memory(const Spec& spec) {
  std::vector<Placed*> all;
  for (const Spec::Workload& workload : spec.workloads) {
    if (!workload.params.places_pages()) continue;
    below("workload." + workload.device, [&] {
      if (all.empty()) page_ = workload.params.page;
      if (workload.params.page != page_) {
        throw InputError({"programs that share memory have pages of one size",
                          to_text(workload.params.page),
                          to_text(page_) + ", as 'workload." + all.front()->workload->device + "' has",
                          {},
                          InputError::Kind::kBetween},
                         "page");
      }
      Placed& placed = placed_[workload.device];
      placed = {&workload, nodes_of(workload.device), {}};
      all.push_back(&placed);
    });
  }
  // All nodes of any of them, by the address of their first frame.
  std::vector<Frames> frames;
  std::vector<PlacedProgram> programs;
  std::vector<std::unique_ptr<PagePlacement>> placements;
  for (Placed* const placed : all) {
    PlacedProgram program;
    for (const NumaNode& node : placed->nodes) {
      const auto same = [&](const Frames& known) {
        return !known.empty() && !node.frames.empty() && known.front().base == node.frames.front().base;
      };
      const auto known = std::ranges::find_if(frames, same);
      program.nodes.push_back(static_cast<std::size_t>(known - frames.begin()));
      if (known == frames.end()) frames.push_back(node.frames);
    }
    below("workload." + placed->workload->device, [&] {
      placements.push_back(make_placement(*placed));
      if (all.size() > 1) program.pages = pages_of(*placed->workload);
    });
    program.placement = placements.back().get();
    programs.push_back(std::move(program));
  }
  const auto with_tables = std::ranges::find_if(
      all, [](const Placed* each) { return each->workload->params.page_tables.has_value(); });
  if (all.size() > 1 && with_tables != all.end()) {
    throw InputError({"memory is not divided by where page tables go",
                      std::to_string(all.size()) + " programs whose pages are placed",
                      "page_tables of a program that is alone in memory",
                      {},
                      InputError::Kind::kBetween},
                     "workload." + (*with_tables)->workload->device + ".page_tables");
  }
  std::vector<std::uint64_t> free;
  for (const Frames& node : frames) free.push_back(count_of(node));
  division_ = {std::accumulate(free.begin(), free.end(), std::uint64_t{0}), all.size()};
  if (all.size() == 1) {
    for (const NumaNode& node : all.front()->nodes) all.front()->frames.push_back(node.frames);
    return;
  }
  auto shares = share_out(free, programs);
  for (const auto& share : shares) {
    for (std::size_t node = 0; node < free.size(); ++node) free[node] -= share[node];
  }
  // What nobody needs is there for pages that are moved, an equal part for each.
  for (std::uint64_t& left : free) left /= all.size();
  for (std::size_t i = 0; i < all.size(); ++i) {
    programs.push_back(programs[i]);
    shares.push_back(free);
  }
  auto cut = cut_frames(frames, programs, shares, page_);
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i]->frames = std::move(cut[i]);
    all[i]->spare = std::move(cut[all.size() + i]);
  }
}

// Without a warm-up nobody makes more than its requests: the window opens at the first request of all. With one, whoever is
// warm goes on until the others are, which may be for any time.
std::optional<PageRuns> WorkMaker::pages_of(const Spec::Workload& workload) const {
  const bool warms_up = run_.warmup > 0 || run_.warmup_time;
  Work work;
  work.requests = workload.params.requests;
  if (workload.params.trace) {
    const TraceFeed feed = below("trace", [&] { return open_trace_(workload.device); });
    if (!feed.again) return std::nullopt;
    TraceStream trace(feed.again());  // accesses alone
    return pages_touched(trace, warms_up ? kToItsEnd : work.requests.value_or(kToItsEnd), page_);
  }
  auto footprint = footprint_of(make_phases(workload), page_);
  const auto stream = make_stream(workload, work);
  // Patterns are drawn from only if they may leave pages of their footprint out.
  if (warms_up || !work.requests || (footprint && *work.requests >= count_of(*footprint))) return footprint;
  return pages_touched(*stream, *work.requests, page_);
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

// Pages of a footprint that have no place in all of the memory have none in a share of it.
void WorkMaker::check_pages(const Placed& placed, const AddressRange& range) const {
  const PageRuns pages = pages_in({range}, page_);
  PlacedProgram program;
  std::vector<std::uint64_t> free;
  for (const NumaNode& node : placed.nodes) {
    program.nodes.push_back(free.size());
    free.push_back(count_of(node.frames));
  }
  const auto placement = make_placement(placed);
  program.placement = placement.get();
  program.pages = pages;
  const std::vector<std::uint64_t> taken = share_out(free, {&program, 1}).front();
  const std::uint64_t fit = std::accumulate(taken.begin(), taken.end(), std::uint64_t{0});
  if (fit == count_of(pages)) return;
  throw InputError({"the footprint is larger than the memory that its pages may be in",
                    to_text(Bytes{range.bytes}),
                    "at most " + to_text(Bytes{fit * page_.count()}) + " in whole pages of " + to_text(page_),
                    {},
                    InputError::Kind::kBetween},
                   "footprint");
}

void WorkMaker::check_range(const AddressRange& range, const Spec::Workload& of) const {
  // The addresses are the program's own; the memory for them is not.
  if (of.params.places_pages()) return check_pages(placed_.at(of.device), range);
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
  PatternContext context{run_.seed, name, has_cache(of.device)};
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
    if (!workload.params.repeat.once()) {
      if (!feed.again)
        throw InputError({"a trace that can be read once only", {}, "repeat: 1, or a file", {}}, "repeat");
      return std::make_unique<TraceStream>(feed.again, workload.params.repeat, feed.length,
                                           has_cores(workload.device));
    }
    return std::make_unique<TraceStream>(std::move(feed.refill), feed.length, has_cores(workload.device),
                                         std::move(feed.times), std::move(feed.want));
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
  work.flushes_anything = workload.params.trace.has_value();
  work.timestamps = workload.params.replay == Replay::kTimestamps;
  if (workload.params.rate) work.rate = workload.params.rate->rate;
  work.name = "workload." + workload.device;
  work.stream = make_stream(workload, work);
  // Without a warm-up the window opens with the first access of all.
  if (run_.warmup == 0 && !run_.warmup_time) work.in_all = work.requests;
  if (workload.params.places_pages()) {
    const Placed& placed = placed_.at(workload.device);
    std::vector<std::string> names;
    for (const NumaNode& node : placed.nodes) names.push_back(node.name());
    work.stream = std::make_unique<PlacedStream>(
        std::move(work.stream), make_placement(placed), ProgramMemory(placed.frames, page_, placed.spare),
        std::move(names), page_, division_, work.name + ".addresses", make_table_placement(placed));
  }
  return work;
}

}  // namespace cxloom
