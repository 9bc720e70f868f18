// Turns workloads as a person describes them into work for requesters: patterns, traces, phases.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device/requester/requester.hpp"
#include "protocol/address_map.hpp"
#include "system/spec/spec.hpp"
#include "system/work/program_nodes.hpp"
#include "workload/placement/page_shares.hpp"
#include "workload/placement/placed_stream.hpp"
#include "workload/stream/phases.hpp"
#include "workload/trace/stream.hpp"
#include "workload/work.hpp"

namespace cxloom {

/// A trace opened by the outside.
struct TraceFeed {
  TraceStream::Refill refill;
  std::optional<std::uint64_t> length;
  std::function<TraceStream::Refill()>
      again;  ///< the same trace from its beginning; none: it can be read once only
  std::shared_ptr<BatchTimes> times = nullptr;  ///< told of the answers; none: nobody wants to know
  TraceStream::Want want = {};                  ///< it has a choice which thread's records it gives first
};

/// Opens the trace of a workload, by the name of its device.
using TraceOpener = std::function<TraceFeed(const std::string& device)>;

class System;

class WorkloadBuilder {
 public:
  /// Makes the work of the requesters of the system that `spec` describes; it all outlives this. Where
  /// several place their pages, their accesses are looked at once to see how much memory each needs.
  WorkloadBuilder(const Registry& registry, const Spec& spec, const System& system,
                  const TraceOpener& open_trace);

  /// Throws InputError with the path below the workload's device.
  Work make(const Spec::Workload& workload);
  /// The phases of a workload's thread, or of all of them; a pattern is one. Throws InputError as `make`
  /// does.
  std::vector<PhasedStream::Phase> phases_of(const Spec::Workload& workload,
                                             std::optional<std::uint32_t> thread) const {
    return make_phases(workload, thread);
  }
  /// Ways or extents have changed: programs whose pages are placed find other memory from now on.
  void memory_changed();

 private:
  /// A workload whose pages are placed.
  struct Placed {
    const Spec::Workload* workload;
    std::vector<NumaNode> nodes;
    std::unique_ptr<PagePlacement> placement = {};  ///< its stream's, once that is made
    ProgramMemory::Parts frames = {};               ///< its own
    ProgramMemory::Parts spare = {};                ///< those that its pages can be moved to besides
    PlacedStream* stream = nullptr;                 ///< of its requester
  };

  /// The workloads whose pages are placed, with their nodes.
  std::vector<Placed*> programs_of(const Spec& spec);
  static void check_tables(const std::vector<Placed*>& all);
  /// Each program gets its part of the nodes that it shares with others.
  void divide_memory(const std::vector<Placed*>& all);
  /// Throws InputError below this key.
  std::unique_ptr<PagePlacement> make_placement(const Placed& placed, const char* key,
                                                const KindSpec& kinded) const;
  std::shared_ptr<Tiering> make_tiering(const Placed& placed) const;
  /// That device has a cache.
  bool has_cache(const std::string& device) const;
  /// Requests that it has in flight at most.
  Requester::Traits traits_of(const std::string& device) const;
  /// Cores make the accesses of that device.
  bool has_cores(const std::string& device) const;
  /// Which parts of its nodes it has now.
  std::vector<std::vector<bool>> offered(const Placed& placed) const {
    return nodes_.offered(placed.workload->device, placed.nodes, page_);
  }
  /// The placement, which has placed nothing yet, and knows which nodes have memory now; `ever`: all that
  /// will have some.
  static PagePlacement& restarted(const Placed& placed, const std::vector<std::vector<bool>>& offers,
                                  bool ever = false);
  /// Every program that shares memory with others says the same of `page` and `frames`.
  void check_alike(const Spec::Workload& workload, const Spec::Workload& first) const;
  std::shared_ptr<const FrameOrder> order_of(const Frames& frames) const;
  /// A node that is one device's alone: who else has it has other frames.
  ProgramMemory::Parts::value_type parts_in_extents(const NumaNode& node) const;
  /// The pages that it has touched before it runs; none: it touches them while it runs.
  PageRuns touched_before(const Spec::Workload& workload) const;
  /// The pages that it touches at most, as far as they are known.
  std::optional<PageRuns> pages_of(const Spec::Workload& workload) const;
  void check_pages(const Placed& placed, const std::vector<AddressRange>& ranges) const;
  std::unique_ptr<AccessStream> make_stream(const Spec::Workload& workload, Work& work) const;
  /// What the threads of a workload do, all of them or one.
  std::vector<PhasedStream::Phase> make_phases(const Spec::Workload& workload,
                                               std::optional<std::uint32_t> thread = {}) const;
  static std::unique_ptr<AccessStream> as_stream(const Spec::Workload& workload,
                                                 std::vector<PhasedStream::Phase> phases);
  std::unique_ptr<AccessStream> make_pattern(const std::string& name, const Spec::Workload& workload,
                                             const Spec::Workload& of,
                                             std::optional<std::uint32_t> thread) const;

  const Registry& registry_;
  const std::vector<Spec::Workload>& workloads_;
  const RunParams& run_;
  const System& system_;
  const AddressMap& map_;
  ProgramNodes nodes_;
  TraceOpener open_trace_;
  Bytes page_;
  FrameLayout layout_ = FrameLayout::kScattered;
  std::map<std::string, Placed> placed_;  // by device
  Division division_;
  bool changes_ = false;  // memory may come and go for programs
};

}  // namespace cxloom
