#include "system/work/placed_programs.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/kind_registry.hpp"
#include "base/random.hpp"
#include "protocol/address_map.hpp"
#include "system/kinds/registry.hpp"
#include "system/model/system.hpp"
#include "system/model/touched_memory.hpp"
#include "system/work/objects_of_work.hpp"
#include "workload/placement/checked_placement.hpp"
#include "workload/stream/foreseen.hpp"
#include "workload/tiering/tiering.hpp"

namespace cxloom {

namespace {

/// Where the frames of a node are among those of all nodes, to which new ones are added. Two programs have a
/// node in common whose first frame is the same, unless it is in extents.
std::size_t place_among(std::vector<Frames>& all, const NumaNode& node) {
  const auto known = std::ranges::find_if(all, [&](const Frames& each) {
    return !node.in_extents && !each.empty() && !node.frames.empty() &&
           each.front().base == node.frames.front().base;
  });
  const auto place = static_cast<std::size_t>(known - all.begin());
  if (known == all.end()) all.push_back(node.frames);
  return place;
}

/// Whether there is any part of each node.
std::vector<bool> any_part(const std::vector<std::vector<bool>>& offers) {
  std::vector<bool> any;
  for (const std::vector<bool>& parts : offers) any.push_back(std::ranges::find(parts, true) != parts.end());
  return any;
}

}  // namespace

PlacedPrograms::PlacedPrograms(const Registry& registry, const Spec& spec, const System& system)
    : registry_(registry),
      run_(spec.run),
      system_(system),
      nodes_(system, spec.events),
      changes_(std::ranges::any_of(spec.events, [](const EventParams& event) { return !event.move_pages; })) {
}

std::vector<PlacedPrograms::Placed*> PlacedPrograms::programs_of(const Spec& spec) {
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

void PlacedPrograms::check_alike(const Spec::Workload& workload, const Spec::Workload& first) const {
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

void PlacedPrograms::divide_memory(const Spec& spec, const PagesTouched& pages_of) {
  const std::vector<Placed*> all = programs_of(spec);
  std::vector<Frames> frames;  // of all nodes of any of them
  std::vector<PlacedProgram> programs;
  for (Placed* const placed : all) {
    PlacedProgram program;
    const std::vector<std::vector<bool>> offers = offered(*placed);
    program.has_memory = any_part(offers);
    for (const NumaNode& node : placed->nodes) program.nodes.push_back(place_among(frames, node));
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

void PlacedPrograms::check_tables(const std::vector<Placed*>& all) {
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

// All programs have one order of a node, whatever else there is in the system.
std::shared_ptr<const FrameOrder> PlacedPrograms::order_of(const Frames& frames) const {
  std::optional<std::uint64_t> key;
  if (layout_ == FrameLayout::kScattered && !frames.empty())
    key = RandomStream(run_.seed, "node at " + to_text(frames.front().base), "frames").next();
  return std::make_shared<const FrameOrder>(frames, page_, key);
}

ProgramMemory::Parts::value_type PlacedPrograms::parts_in_extents(const NumaNode& node) const {
  std::vector<FrameSlice> parts;
  for (const FrameRun& run : node.frames) parts.push_back({order_of({run}), 0, run.count});
  return parts;
}

std::unique_ptr<PagePlacement> PlacedPrograms::make_placement(const Placed& placed, const char* key,
                                                              const KindSpec& kinded) const {
  const std::vector<MemoryOfOther> others = memory_of_others(
      system_.address_map_of(system_.component(placed.workload->device).id()), placed.workload->device);
  const std::vector<ObjectRange> objects = objects_in(*placed.workload, registry_);
  PlacementContext context{placed.nodes, page_, registry_.placements, others, objects};
  auto made = with_path(key, [&] { return registry_.placements.make(kinded, context); });
  return std::make_unique<CheckedPlacement>(std::move(made), placed.nodes, key);
}

PagePlacement& PlacedPrograms::restarted(const Placed& placed, const std::vector<std::vector<bool>>& offers,
                                         bool ever) {
  placed.placement->nodes_changed(ever ? std::vector<bool>(offers.size(), true) : any_part(offers));
  placed.placement->restart();
  return *placed.placement;
}

void PlacedPrograms::note_missing_memory(const Placed& placed, const char* key,
                                         const PagePlacement& placement,
                                         const std::vector<std::vector<bool>>& offers) {
  const std::string& device = placed.workload->device;
  std::string note = note_on_missing_memory(device, "workload." + device + "." + key, placed.nodes,
                                            any_part(offers), placement);
  if (!note.empty()) notes_.push_back(std::move(note));
}

void PlacedPrograms::memory_changed() {
  for (auto& [device, placed] : placed_) {
    if (placed.stream) placed.stream->offer(offered(placed));
  }
}

// Pages of a footprint that have no place in all of the memory have none in a share of it.
void PlacedPrograms::check_pages(const std::string& device, const std::vector<AddressRange>& ranges) const {
  const Placed& placed = placed_.at(device);
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
    if (frames == 0 && (node.in_extents || !node.frames.empty())) without.push_back(node.name());
    program.nodes.push_back(free.size());
    free.push_back(frames);
  }
  // No node can be full before the last page, wherever the placement puts them.
  const std::uint64_t count = count_of(pages);
  const bool room = std::ranges::all_of(free, [&](std::uint64_t frames) { return frames >= count; });
  if (room && placed.placement->sure_of() >= count) return;
  program.placement = &restarted(placed, offers, later);
  program.pages = pages;
  const std::vector<std::uint64_t> taken = share_out(free, {&program, 1}).front();
  const std::uint64_t fit = std::accumulate(taken.begin(), taken.end(), std::uint64_t{0});
  if (fit == count) return;
  std::string allowed =
      "at most " + to_text(Bytes{fit * page_.count()}) + " in whole pages of " + to_text(page_);
  if (!without.empty())
    allowed += "; '" + device + "' has no way to, or no extent of its own of, " + list_names(without);
  throw InputError({"the footprint is larger than the memory that its pages may be in",
                    to_text(Bytes{ranges.size() * ranges.front().bytes}),
                    allowed,
                    {},
                    InputError::Kind::kBetween},
                   "footprint");
}

std::shared_ptr<Tiering> PlacedPrograms::make_tiering(const Placed& placed) const {
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

void PlacedPrograms::foresee(const Spec::Workload& workload, Tiering& tiering, Work& work) const {
  const auto far = tiering.policy->sources().foresees;
  if (far == 0) return;
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
  auto foreseen = std::make_unique<ForeseenStream>(
      std::move(work.stream), far, ends ? work.warmup + *work.requests : ~std::uint64_t{0}, page_);
  tiering.foreseen = foreseen.get();
  work.stream = std::move(foreseen);
}

void PlacedPrograms::place(const Spec::Workload& workload, const PageRuns& touched, Work& work) {
  Placed& placed = placed_.at(workload.device);
  std::vector<std::string> names;
  for (const NumaNode& node : placed.nodes) names.push_back(node.name());
  if (workload.params.tiering) {
    const auto tiering = make_tiering(placed);
    foresee(workload, *tiering, work);
    work.tiering = tiering;
  }
  const std::optional<KindSpec>& tables = workload.params.page_tables;
  const std::vector<std::vector<bool>> offers = offered(placed);
  note_missing_memory(placed, "addresses", restarted(placed, offers), offers);
  auto in_tables = tables ? make_placement(placed, "page_tables", *tables) : nullptr;
  if (in_tables) note_missing_memory(placed, "page_tables", *in_tables, offers);
  auto stream =
      std::make_unique<PlacedStream>(std::move(work.stream), std::move(placed.placement),
                                     ProgramMemory(placed.frames, placed.spare, changes_), std::move(names),
                                     page_, division_, work.name + ".addresses", std::move(in_tables));
  stream->order_nodes(nearest_first(placed.nodes));
  stream->offer(offers);
  stream->touch(touched);
  placed.stream = stream.get();
  touch_memory(system_, *stream);
  work.stream = std::move(stream);
}

}  // namespace cxloom
