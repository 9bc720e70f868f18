#include "system/work/workload_builder.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/kind_registry.hpp"
#include "base/random.hpp"
#include "system/kinds/registry.hpp"
#include "system/model/system.hpp"
#include "system/model/touched_memory.hpp"
#include "system/work/checks.hpp"
#include "system/work/objects_of_work.hpp"
#include "system/work/pattern_ranges.hpp"
#include "system/work/share_groups.hpp"
#include "workload/pattern/pattern.hpp"
#include "workload/placement/checked_placement.hpp"
#include "workload/stream/foreseen.hpp"
#include "workload/stream/threads.hpp"
#include "workload/tiering/tiering.hpp"

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
      map_(system.address_map()),
      nodes_(system, spec.events),
      open_trace_(open_trace),
      changes_(std::ranges::any_of(spec.events, [](const EventParams& event) { return !event.move_pages; })) {
  check_nothing_is_lost(spec);
  divide_memory(programs_of(spec));
}

PagePlacement& WorkloadBuilder::restarted(const Placed& placed, const std::vector<std::vector<bool>>& offers,
                                          bool ever) {
  std::vector<bool> has_memory;
  for (const std::vector<bool>& parts : offers)
    has_memory.push_back(ever || std::ranges::find(parts, true) != parts.end());
  placed.placement->nodes_changed(has_memory);
  placed.placement->restart();
  return *placed.placement;
}

void WorkloadBuilder::memory_changed() {
  for (auto& [device, placed] : placed_) {
    if (placed.stream) placed.stream->offer(offered(placed));
  }
}

bool WorkloadBuilder::has_cores(const std::string& device) const {
  const Requester* const requester = system_.roles().of<Requester>(system_.component(device).id());
  return requester && requester->traits().has_cores;
}

std::unique_ptr<PagePlacement> WorkloadBuilder::make_placement(const Placed& placed, const char* key,
                                                               const KindSpec& kinded) const {
  const std::vector<MemoryOfOther> others = memory_of_others(map_, placed.workload->device);
  const std::vector<ObjectRange> objects = objects_in(*placed.workload, registry_);
  PlacementContext context{placed.nodes, page_, registry_.placements, others, objects};
  auto made = with_path(key, [&] { return registry_.placements.make(kinded, context); });
  return std::make_unique<CheckedPlacement>(std::move(made), placed.nodes, key);
}

std::shared_ptr<Tiering> WorkloadBuilder::make_tiering(const Placed& placed) const {
  const WorkloadParams& params = placed.workload->params;
  return with_path("tiering", [&] {
    if (placed.nodes.size() < 2) {
      throw InputError({"there is no other node for its pages to go to",
                        placed.nodes.empty() ? "no node" : "'" + placed.nodes.front().name() + "' alone",
                        "an address_map with two memories for '" + placed.workload->device + "', or more",
                        {},
                        InputError::Kind::kBetween});
    }
    TieringContext context{placed.nodes, page_};
    return std::make_shared<Tiering>(
        Tiering{registry_.tiering.make(*params.tiering, context), params.kernel, placed.nodes, page_});
  });
}

Requester::Traits WorkloadBuilder::traits_of(const std::string& device) const {
  const Requester* const requester = system_.roles().of<Requester>(system_.component(device).id());
  return requester ? requester->traits() : Requester::Traits{};
}

bool WorkloadBuilder::has_cache(const std::string& device) const {
  const Requester* const requester = system_.roles().of<Requester>(system_.component(device).id());
  return requester && requester->cache();
}

std::vector<WorkloadBuilder::Placed*> WorkloadBuilder::programs_of(const Spec& spec) {
  std::vector<Placed*> all;
  for (const Spec::Workload& workload : spec.workloads) {
    if (!workload.params.places_pages()) continue;
    with_path("workload." + workload.device, [&] {
      check_alike(workload, all.empty() ? workload : *all.front()->workload);
      page_ = workload.params.page;
      layout_ = workload.params.frames;
      Placed& placed = placed_[workload.device];
      placed = {.workload = &workload, .nodes = nodes_.of(workload.device, page_)};
      all.push_back(&placed);
    });
  }
  return all;
}

void WorkloadBuilder::check_tables(const std::vector<Placed*>& all) {
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
}

void WorkloadBuilder::divide_memory(const std::vector<Placed*>& all) {
  // All nodes of any of them, by the address of their first frame.
  std::vector<Frames> frames;
  std::vector<PlacedProgram> programs;
  for (Placed* const placed : all) {
    PlacedProgram program;
    const std::vector<std::vector<bool>> offers = offered(*placed);
    for (std::size_t i = 0; i < placed->nodes.size(); ++i) {
      const NumaNode& node = placed->nodes[i];
      program.has_memory.push_back(std::ranges::find(offers[i], true) != offers[i].end());
      const auto same = [&](const Frames& known) {
        return !node.in_extents && !known.empty() && !node.frames.empty() &&
               known.front().base == node.frames.front().base;
      };
      const auto known = std::ranges::find_if(frames, same);
      program.nodes.push_back(static_cast<std::size_t>(known - frames.begin()));
      if (known == frames.end()) frames.push_back(node.frames);
    }
    with_path("workload." + placed->workload->device, [&] {
      placed->placement = make_placement(*placed, "addresses", placed->workload->params.addresses);
      if (all.size() > 1) program.pages = pages_of(*placed->workload);
    });
    program.placement = &restarted(*placed, offers);
    program.path = "workload." + placed->workload->device;
    programs.push_back(std::move(program));
  }
  check_tables(all);
  std::vector<std::uint64_t> free;
  for (const Frames& node : frames) free.push_back(count_of(node));
  division_ = {std::accumulate(free.begin(), free.end(), std::uint64_t{0}), all.size()};
  std::vector<std::shared_ptr<const FrameOrder>> orders;
  for (const Frames& node : frames) orders.push_back(order_of(node));
  const auto parts_of = [&](const Placed& placed, const PlacedProgram& program,
                            const std::vector<NodeShare>& shares, bool spare) {
    ProgramMemory::Parts parts;
    for (std::size_t i = 0; i < shares.size(); ++i) {
      if (placed.nodes[i].in_extents) {
        parts.push_back(spare ? std::vector<FrameSlice>{} : parts_in_extents(placed.nodes[i]));
      } else {
        parts.push_back({{orders[program.nodes[i]], shares[i].first, shares[i].count}});
      }
    }
    return parts;
  };
  std::vector<std::vector<std::uint64_t>> shares(1, free);  // of one alone
  if (all.size() != 1) shares = share_out(free, programs);
  for (const auto& share : shares) {
    for (std::size_t node = 0; node < free.size(); ++node) free[node] -= share[node];
  }
  // What nobody needs is there for pages that are moved, an equal part for each.
  for (std::uint64_t& left : free) left /= std::max<std::size_t>(all.size(), 1);
  for (std::size_t i = 0; i < all.size(); ++i) {
    programs.push_back(programs[i]);
    shares.push_back(free);
  }
  const auto laid = lay_out(programs, shares);
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i]->frames = parts_of(*all[i], programs[i], laid[i], false);
    all[i]->spare = parts_of(*all[i], programs[i], laid[all.size() + i], true);
  }
}

ProgramMemory::Parts::value_type WorkloadBuilder::parts_in_extents(const NumaNode& node) const {
  std::vector<FrameSlice> parts;
  for (const FrameRun& run : node.frames) parts.push_back({order_of({run}), 0, run.count});
  return parts;
}

void WorkloadBuilder::check_alike(const Spec::Workload& workload, const Spec::Workload& first) const {
  const auto refuse = [&](const char* key, const char* problem, const std::string& one,
                          const std::string& other) {
    throw InputError(
        {problem, one, other + ", as 'workload." + first.device + "' has", {}, InputError::Kind::kBetween},
        key);
  };
  if (workload.params.page != first.params.page) {
    refuse("page", "programs that share memory have pages of one size", to_text(workload.params.page),
           to_text(first.params.page));
  }
  if (workload.params.frames != first.params.frames) {
    const auto name = [](FrameLayout layout) {
      return layout == FrameLayout::kScattered ? "scattered" : "contiguous";
    };
    refuse("frames", "programs that share memory take its frames in one order", name(workload.params.frames),
           name(first.params.frames));
  }
}

// All programs have one order of a node, whatever else there is in the system.
std::shared_ptr<const FrameOrder> WorkloadBuilder::order_of(const Frames& frames) const {
  std::optional<std::uint64_t> key;
  if (layout_ == FrameLayout::kScattered && !frames.empty())
    key = RandomStream(run_.seed, "node at " + to_text(frames.front().base), "frames").next();
  return std::make_shared<const FrameOrder>(frames, page_, key);
}

PageRuns WorkloadBuilder::touched_before(const Spec::Workload& workload) const {
  if (workload.params.trace || workload.params.touched == Touched::kDuring) return {};
  return footprint_of(make_phases(workload), page_).value_or(PageRuns{});
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
    return pages_touched(trace, warms_up ? kToItsEnd : work.requests.value_or(kToItsEnd), page_);
  }
  auto footprint = footprint_of(make_phases(workload), page_);
  if (workload.params.touched == Touched::kBefore && footprint) return footprint;
  const auto stream = make_stream(workload, work);
  // Patterns are drawn from only if they may leave pages of their footprint out.
  if (stream->reactive() || warms_up || !work.requests ||
      (footprint && *work.requests >= count_of(*footprint)))
    return footprint;
  return pages_touched(*stream, *work.requests, page_);
}

// Pages of a footprint that have no place in all of the memory have none in a share of it.
void WorkloadBuilder::check_pages(const Placed& placed, const std::vector<AddressRange>& ranges) const {
  const PageRuns pages = pages_in(ranges, page_);
  PlacedProgram program;
  std::vector<std::uint64_t> free;
  const std::vector<std::vector<bool>> offers = offered(placed);
  // What comes later is there for pages that are touched during the run.
  const bool later = changes_ && placed.workload->params.touched == Touched::kDuring;
  std::vector<std::string> without;
  for (std::size_t i = 0; i < placed.nodes.size(); ++i) {
    const NumaNode& node = placed.nodes[i];
    std::uint64_t frames = 0;
    for (std::size_t run = 0; run < node.frames.size(); ++run)
      frames += later || offers[i][node.in_extents ? run : 0] ? node.frames[run].count : 0;
    if (frames == 0) without.push_back(node.name());
    program.nodes.push_back(free.size());
    free.push_back(frames);
  }
  program.placement = &restarted(placed, offers, later);
  program.pages = pages;
  const std::vector<std::uint64_t> taken = share_out(free, {&program, 1}).front();
  const std::uint64_t fit = std::accumulate(taken.begin(), taken.end(), std::uint64_t{0});
  if (fit == count_of(pages)) return;
  std::string allowed =
      "at most " + to_text(Bytes{fit * page_.count()}) + " in whole pages of " + to_text(page_);
  if (!without.empty())
    allowed += "; '" + placed.workload->device + "' has no way to, or no extent of, " + list_names(without);
  throw InputError({"the footprint is larger than the memory that its pages may be in",
                    to_text(Bytes{ranges.size() * ranges.front().bytes}),
                    allowed,
                    {},
                    InputError::Kind::kBetween},
                   "footprint");
}

std::unique_ptr<AccessStream> WorkloadBuilder::make_pattern(const std::string& name,
                                                            const Spec::Workload& workload,
                                                            const Spec::Workload& of,
                                                            std::optional<std::uint32_t> thread) const {
  const Requester::Traits requester = traits_of(of.device);
  PatternContext context{run_.seed, name, has_cache(of.device), &registry_.patterns, requester.queue};
  if (run_.warmup == 0 && !run_.warmup_time) context.accesses = workload.params.requests;
  context.map = &map_;
  context.stores_in_cache = requester.stores_in_cache;
  context.has_cores = requester.has_cores;
  if (shares(workload)) join_share(workload, workloads_, context);
  auto stream = registry_.patterns.make({*workload.params.pattern, workload.pattern}, context);
  const std::vector<AddressRange> ranges = stream->ranges();
  // The addresses of a program whose pages are placed are its own; the memory for them is not.
  // Threads have parts of one range, so that the first one speaks for all.
  if (!ranges.empty() && of.params.places_pages() && thread.value_or(0) == 0)
    check_pages(placed_.at(of.device), ranges);
  for (const AddressRange& each : ranges) {
    if (of.params.places_pages()) continue;
    check_footprint(each, map_, of.device);
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
std::vector<PhasedStream::Phase> WorkloadBuilder::make_phases(const Spec::Workload& workload,
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
  std::vector<PhasedStream::Phase> phases = make_phases(workload);
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
    streams.push_back(as_stream(workload, make_phases(workload, thread)));
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
  if (workload.params.places_pages()) {
    Placed& placed = placed_.at(workload.device);
    std::vector<std::string> names;
    for (const NumaNode& node : placed.nodes) names.push_back(node.name());
    const auto tiering = workload.params.tiering ? make_tiering(placed) : nullptr;
    if (tiering && tiering->policy->sources().foresees > 0) {
      if (workload.params.threads > 1 || work.stream->reactive()) {
        throw InputError({"a policy that knows the future knows it of one thread, and of no copy engine",
                          work.stream->reactive() ? "pattern: " + *workload.params.pattern
                                                  : counted(workload.params.threads, "thread"),
                          "threads: 1 and another pattern, or another policy",
                          {},
                          InputError::Kind::kBetween},
                         "tiering");
      }
      const bool ends = work.requests && !run_.warmup_time;
      auto foreseen =
          std::make_unique<ForeseenStream>(std::move(work.stream), tiering->policy->sources().foresees,
                                           ends ? work.warmup + *work.requests : ~std::uint64_t{0}, page_);
      tiering->foreseen = foreseen.get();
      work.stream = std::move(foreseen);
    }
    work.tiering = tiering;
    const PageRuns touched = touched_before(workload);
    const std::optional<KindSpec>& tables = workload.params.page_tables;
    const std::vector<std::vector<bool>> offers = offered(placed);
    restarted(placed, offers);
    auto stream = std::make_unique<PlacedStream>(
        std::move(work.stream), std::move(placed.placement),
        ProgramMemory(placed.frames, placed.spare, changes_), std::move(names), page_, division_,
        work.name + ".addresses", tables ? make_placement(placed, "page_tables", *tables) : nullptr);
    stream->offer(offers);
    stream->touch(touched);
    placed.stream = stream.get();
    touch_memory(system_, *stream);
    work.stream = std::move(stream);
  }
  return work;
}

}  // namespace cxloom
