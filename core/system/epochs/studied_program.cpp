#include "system/epochs/studied_program.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "device/requester/requester.hpp"
#include "kernel/kernel.hpp"
#include "protocol/address_map.hpp"
#include "protocol/request_observer.hpp"
#include "system/build/system_builder.hpp"
#include "system/kinds/registry.hpp"
#include "system/model/offered_memory.hpp"
#include "system/run/simulation.hpp"
#include "system/work/objects_of_work.hpp"
#include "system/work/program_nodes.hpp"
#include "system/work/workload_builder.hpp"
#include "workload/pattern/pattern.hpp"
#include "workload/placement/page_shares.hpp"

namespace cxloom {

namespace {

constexpr std::size_t kMostNodes = 255;
constexpr std::uint64_t kMostPages = 1ULL << 32U;

[[noreturn]] void refuse(const char* key, const char* problem, std::string found, const char* allowed) {
  throw InputError({problem, std::move(found), allowed, {}, InputError::Kind::kBetween}, key);
}

void check_workload(const WorkloadParams& params) {
  if (!params.tiering)
    refuse("tiering", "epochs are of a policy that moves pages", "none", "tiering: a kind");
  if (params.trace) {
    refuse("trace", "epochs know how often pages are accessed from a pattern", "a trace",
           "pattern or phases; a trace of seconds runs with cxloom run");
  }
  if (params.touched == Touched::kDuring) {
    refuse("touched", "epochs begin when all pages have been touched", "during", "touched: before");
  }
  if (params.rate) {
    refuse("rate", "epochs are of closed loops: accesses are as fast as memory answers", "an open loop",
           "no rate");
  }
}

}  // namespace

Spec StudiedProgram::within_reach(const Registry& registry, Spec spec) {
  if (spec.workloads.size() != 1) return spec;
  Kernel kernel;
  const System system = build_system(kernel, registry, spec);
  const NodeId from = system.component(spec.workloads.front().device).id();
  std::erase_if(spec.regions, [&](const RegionParams& region) {
    return std::ranges::any_of(region.to, [&](const std::string& name) {
      MemoryTargetInfo memory{.name = name, .id = system.component(name).id(), .capacity = {}};
      memory.ld = static_cast<std::uint8_t>(region.ld.value_or(0));
      return !has_way(system, from, memory);
    });
  });
  return spec;
}

StudiedProgram::StudiedProgram(const Registry& registry, const Spec& spec) {
  check(spec);
  const Spec::Workload& workload = spec.workloads.front();
  device_ = workload.device;
  page_ = workload.params.page;
  threads_ = workload.params.threads;
  find_nodes(registry, spec);
  with_path("workload." + device_, [&] {
    make_policy(registry, workload);
    check_sources();
  });
}

void StudiedProgram::check(const Spec& spec) const {
  if (!spec.tasks.empty()) refuse("tasks", "epochs are of a program's pages", "a graph of tasks", "no tasks");
  if (spec.workloads.size() != 1) {
    refuse("workload", "epochs are of a single program", counted(spec.workloads.size(), "workload"),
           "one workload");
  }
  if (!spec.events.empty()) {
    refuse("events", "events come at times of lines, and epochs know none of them",
           counted(spec.events.size(), "event"), "no events");
  }
  with_path("workload." + spec.workloads.front().device,
            [&] { check_workload(spec.workloads.front().params); });
}

// The system as windows have it: pages are placed when they are touched, as there may be very many.
void StudiedProgram::find_nodes(const Registry& registry, const Spec& spec) {
  Spec built = spec;
  built.outputs = {};
  WorkloadParams& params = built.workloads.front().params;
  params.tiering.reset();
  params.touched = Touched::kDuring;
  NullObserver observer;
  const Simulation simulation(registry, built, {}, observer);
  const System& system = simulation.system();
  nodes_ = ProgramNodes(system, spec.events).of(device_, page_);
  if (nodes_.size() > kMostNodes) {
    refuse("address_map", "too many nodes for a byte of each page", counted(nodes_.size(), "node"),
           "255 nodes at most");
  }
  const Requester& requester = *system.roles().of<Requester>(system.component(device_).id());
  has_cores_ = requester.traits().has_cores;
  has_cache_ = requester.cache() != nullptr;

  const Spec::Workload& workload = spec.workloads.front();
  const WorkloadBuilder builder(registry, built, system, {});
  const std::vector<MemoryOfOther> others =
      memory_of_others(system.address_map_of(system.component(device_).id()), device_);
  with_path("workload." + device_, [&] {
    const std::vector<ObjectRange> objects = objects_in(workload, registry);
    PlacementContext context{nodes_, page_, registry.placements, others, objects};
    placement_ =
        with_path("addresses", [&] { return registry.placements.make(workload.params.addresses, context); });
    placement_->nodes_changed(std::vector<bool>(nodes_.size(), true));
    placement_->restart();

    std::vector<std::vector<PhasedStream::Phase>> threads;
    for (std::uint32_t thread = 0; thread < threads_; ++thread)
      threads.push_back(builder.phases_of(workload, threads_ == 1 ? std::nullopt : std::optional(thread)));
    std::vector<AddressRange> ranges;
    for (const PhasedStream::Phase& phase : builder.phases_of(workload, {})) {
      const std::vector<AddressRange> own = phase.stream->ranges();
      if (own.empty())
        refuse("pattern", "a pattern that does not say where it stays", "none", "one with a footprint");
      ranges.insert(ranges.end(), own.begin(), own.end());
    }
    pages_ = pages_in(std::move(ranges), page_);
    streams_.resize(threads.front().size());
    for (auto& thread : threads) {
      for (std::size_t i = 0; i < thread.size(); ++i) streams_[i].push_back(std::move(thread[i].stream));
    }
  });
  find_demand(registry, spec);
}

void StudiedProgram::find_demand(const Registry& registry, const Spec& spec) {
  const Spec::Workload& workload = spec.workloads.front();
  const bool has_pattern = workload.params.pattern.has_value();
  std::vector<PageDemand::Phase> all;
  std::uint64_t round = 0;
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    phases_.push_back(has_pattern ? workload : read_phase(device_, workload.params.phases[i], registry));
    Spec::Workload& own = phases_.back();
    const std::uint64_t requests = *own.params.requests;
    own.params.page = page_;
    PageDemand::Phase phase{.requests = requests * (has_pattern ? 1 : threads_), .parts = {}};
    round += phase.requests;
    // Threads that draw from the same addresses are one; those that go through them have a place each.
    bool alike = workload.params.shared_footprint || threads_ == 1;
    for (std::uint32_t thread = 0; thread < threads_ && (thread == 0 || !alike); ++thread) {
      std::vector<DemandPart> parts;
      if (!streams_[i][thread]->add_demand(parts)) {
        throw InputError(
            {"this pattern does not say how often it goes to each page, which epochs need",
             "'" + *own.params.pattern + "'",
             "sequential, strided by a divisor of the footprint, random, hot-cold, zipf, pointer-chase, or "
             "objects of these",
             {},
             InputError::Kind::kBetween},
            "workload." + device_ + (has_pattern ? "" : "." + indexed("phases", i)) + ".pattern");
      }
      alike = alike && (threads_ == 1 || std::ranges::none_of(parts, [](const DemandPart& part) {
                          return part.order == DemandPart::Order::kInTurn;
                        }));
      for (DemandPart& part : parts) {
        if (part.order == DemandPart::Order::kInTurn && part.block > page_.count()) {
          refuse("workload", "a stride above a page goes to other pages with each pass",
                 to_text(Bytes{part.block}) + " with pages of " + to_text(page_),
                 "a stride of a page at most");
        }
        part.share /= alike ? 1 : threads_;
        phase.parts.push_back({part, alike ? std::nullopt : std::optional(thread)});
      }
    }
    all.push_back(std::move(phase));
  }
  if (count_of(pages_) > kMostPages)
    refuse("workload", "too many pages", counted(count_of(pages_), "page"), "4294967296 pages at most");
  requests_ = spec.run.warmup + workload.params.requests.value_or(round);
  // A pattern alone goes on for ever: its requests say when it ends, not that it begins anew.
  demand_ = std::make_unique<PageDemand>(std::move(all), pages_, page_);
}

void StudiedProgram::make_policy(const Registry& registry, const Spec::Workload& workload) {
  with_path("tiering", [&] {
    TieringContext context{nodes_, page_};
    if (nodes_.size() < 2) refuse_equally_near(context);
    tiering_.policy = registry.tiering.make(*workload.params.tiering, context);
  });
  tiering_.costs = workload.params.kernel;
  tiering_.nodes = nodes_;
  tiering_.page = page_;
}

void StudiedProgram::check_sources() const {
  const TieringSources sources = tiering_.policy->sources();
  if (sources.foresees > 0 && threads_ > 1) {
    refuse("tiering", "a policy that knows the future knows it of one thread", counted(threads_, "thread"),
           "threads: 1, or another policy");
  }
  if (sources.sample_every == 0) return;
  if (has_cache_) {
    refuse("tiering",
           "which pages miss in a cache is not known of a page, and a policy that samples sees no others",
           "samples, and a cache of '" + device_ + "'", "a host without a cache, or a policy of hint faults");
  }
  for (std::size_t i = 0; i < phases_.size(); ++i) {
    if (!demand_->can_draw(i)) {
      refuse("tiering", "a policy that samples needs accesses that are all in turn, or all drawn",
             "objects of both, some of zipf", "objects without zipf, or a policy of hint faults");
    }
  }
}

std::vector<std::string> StudiedProgram::node_names() const {
  std::vector<std::string> names;
  for (const NumaNode& node : nodes_) names.push_back(node.name());
  return names;
}

std::vector<std::uint64_t> StudiedProgram::frames() const {
  std::vector<std::uint64_t> frames;
  for (const NumaNode& node : nodes_) frames.push_back(count_of(node.frames));
  return frames;
}

std::uint64_t StudiedProgram::number_of(std::uint64_t page) const {
  std::uint64_t before = 0;
  for (const PageRun& run : pages_) {
    if (page >= run.first && page < run.first + run.count) return before + page - run.first;
    before += run.count;
  }
  throw InternalError("an access that leaves the pages of its program");
}

std::vector<std::uint8_t> StudiedProgram::placed() const {
  std::vector<std::uint64_t> free = frames();
  std::vector<std::uint8_t> nodes;
  nodes.reserve(count_of(pages_));
  for (PageRun run : pages_) {
    while (run.count > 0) {
      const auto choice = placement_->place(run.first, run.count, free);
      ensure(choice && choice->pages > 0 && choice->node < free.size() && choice->pages <= free[choice->node],
             "pages placed where no frames are left");
      nodes.insert(nodes.end(), choice->pages, static_cast<std::uint8_t>(choice->node));
      free[choice->node] -= choice->pages;
      run.first += choice->pages;
      run.count -= choice->pages;
    }
  }
  return nodes;
}

PageAccess StudiedProgram::draw(std::size_t phase, double accesses, RandomStream& random) const {
  auto thread = static_cast<std::uint32_t>(random.below(threads_));
  if (demand_->has_turns(phase)) {
    const PageDemand::Drawn drawn = demand_->draw(phase, accesses, random);
    return {.page = drawn.page,
            .thread = drawn.thread.value_or(thread),
            .write = !random.chance(drawn.reads),
            .latency = {}};
  }
  Access access;
  const bool more = streams_[phase][thread]->next(access);
  ensure(more, "a pattern that ends");
  return {.page = number_of(access.address.value() / page_.count()),
          .thread = thread,
          .write = access.kind != AccessKind::kRead,
          .latency = {}};
}

}  // namespace cxloom
