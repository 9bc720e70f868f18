// Turns workloads as a person describes them into work for requesters: patterns, traces, phases.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "protocol/address_map.hpp"
#include "system/spec.hpp"
#include "workload/trace_stream.hpp"
#include "workload/work.hpp"

namespace cxloom {

/// A trace opened by the outside.
struct TraceFeed {
  TraceStream::Refill refill;
  std::optional<std::uint64_t> length;
};

/// Opens the trace of a workload, by the name of its device.
using TraceOpener = std::function<TraceFeed(const std::string& device)>;

class WorkMaker {
 public:
  /// Makes the work of the requesters of the system that `spec` describes; it all outlives this.
  WorkMaker(const Registry& registry, const Spec& spec, const AddressMap& map, const TraceOpener& open_trace);

  /// Throws InputError with the path below the workload's device.
  Work make(const Spec::Workload& workload);

 private:
  std::unique_ptr<AccessStream> make_stream(const Spec::Workload& workload, Work& work);
  std::unique_ptr<AccessStream> make_pattern(const std::string& device, const std::string& kind,
                                             const Value& params) const;

  const Registry& registry_;
  const RunParams& run_;
  const AddressMap& map_;
  TraceOpener open_trace_;
  std::uint32_t programs_ = 0;  // that place their pages by first touch
  std::uint32_t placed_ = 0;    // of these
};

}  // namespace cxloom
