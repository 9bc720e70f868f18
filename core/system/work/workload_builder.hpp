// Turns workloads as a person describes them into work for requesters: patterns, traces, phases.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device/requester/requester.hpp"
#include "protocol/address_map.hpp"
#include "system/spec/spec.hpp"
#include "system/work/placed_programs.hpp"
#include "workload/placement/page_runs.hpp"
#include "workload/stream/phases.hpp"
#include "workload/trace/stream.hpp"
#include "workload/work.hpp"

namespace cxloom {

/// A trace opened by the outside.
struct TraceFeed {
  TraceStream::Refill refill;
  std::optional<std::uint64_t> length;
  std::function<TraceStream::Refill()> again;   ///< begins the trace again; none: it can be read once only
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
                                             std::optional<std::uint32_t> thread = {}) const;
  /// Sentences on the work that was made so far.
  const std::vector<std::string>& notes() const { return programs_.notes(); }
  /// Ways or extents have changed: programs whose pages are placed find other memory from now on.
  void memory_changed() { programs_.memory_changed(); }

 private:
  /// That device has a cache.
  bool has_cache(const std::string& device) const;
  /// How its requester is made.
  Requester::Traits traits_of(const std::string& device) const;
  /// Cores make the accesses of that device.
  bool has_cores(const std::string& device) const { return traits_of(device).has_cores; }
  /// The pages that it has touched before it runs; none: it touches them while it runs.
  PageRuns touched_before(const Spec::Workload& workload) const;
  /// The pages that it touches at most, as far as they are known.
  std::optional<PageRuns> pages_of(const Spec::Workload& workload) const;
  std::unique_ptr<AccessStream> make_stream(const Spec::Workload& workload, Work& work) const;
  static std::unique_ptr<AccessStream> as_stream(const Spec::Workload& workload,
                                                 std::vector<PhasedStream::Phase> phases);
  std::unique_ptr<AccessStream> make_pattern(const std::string& name, const Spec::Workload& workload,
                                             const Spec::Workload& of,
                                             std::optional<std::uint32_t> thread) const;

  const Registry& registry_;
  const std::vector<Spec::Workload>& workloads_;
  const RunParams& run_;
  const System& system_;
  TraceOpener open_trace_;
  PlacedPrograms programs_;
};

}  // namespace cxloom
