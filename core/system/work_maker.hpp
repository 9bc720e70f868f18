// Turns workloads as a person describes them into work for requesters: patterns, traces, phases.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "protocol/address_map.hpp"
#include "system/spec.hpp"
#include "workload/first_touch.hpp"
#include "workload/phases.hpp"
#include "workload/trace_stream.hpp"
#include "workload/work.hpp"

namespace cxloom {

/// A trace opened by the outside.
struct TraceFeed {
  TraceStream::Refill refill;
  std::optional<std::uint64_t> length;
  std::function<TraceStream::Refill()>
      again;  ///< the same trace from its beginning; none: it can be read once only
};

/// Opens the trace of a workload, by the name of its device.
using TraceOpener = std::function<TraceFeed(const std::string& device)>;

class WorkMaker {
 public:
  /// Makes the work of the requesters of the system that `spec` describes; it all outlives this. Where several place their
  /// pages by first touch, their accesses are looked at once to see how much memory each needs.
  WorkMaker(const Registry& registry, const Spec& spec, const AddressMap& map, const TraceOpener& open_trace);

  /// Throws InputError with the path below the workload's device.
  Work make(const Spec::Workload& workload) const;

 private:
  void divide_memory(const Spec& spec);
  /// How many different pages it touches at most, as far as that is known.
  std::optional<std::uint64_t> pages_of(const Spec::Workload& workload) const;
  std::unique_ptr<AccessStream> make_stream(const Spec::Workload& workload, Work& work) const;
  std::vector<PhasedStream::Phase> make_phases(const Spec::Workload& workload) const;
  std::unique_ptr<AccessStream> make_pattern(const std::string& name, const Spec::Workload& workload,
                                             const Spec::Workload& of) const;
  void check_range(const AddressRange& range, const Spec::Workload& of) const;
  void check_owners(const AddressRange& range, const std::string& device) const;
  void check_pages(const std::string& device) const;

  const Registry& registry_;
  const RunParams& run_;
  const AddressMap& map_;
  TraceOpener open_trace_;
  Frames memory_;
  std::map<std::string, Frames> shares_;  // of it, by the devices whose pages are placed by first touch
};

}  // namespace cxloom
