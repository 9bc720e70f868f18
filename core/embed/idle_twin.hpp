// A second system of the same spec, in which one access at a time is made: what it takes when nothing else is
// under way.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "base/units.hpp"
#include "results/collector.hpp"
#include "system/run/simulation.hpp"
#include "workload/stream/access_stream.hpp"
#include "workload/stream/tagged_answers.hpp"

namespace cxloom {

/// What media and caches remember of an access they remember for the next ones.
class IdleTwin final : private TaggedAnswers {
 public:
  /// It has the spec's devices, and none of its workloads, tasks and events.
  IdleTwin(const Registry& registry, Spec spec);
  ~IdleTwin();

  /// The latency of an access of a device. Throws InputError for one that nobody can serve, and
  /// SimulationError if it is not answered, or without data.
  Time latency(NodeId device, const Access& access);

 private:
  /// A cache outside that holds nothing.
  class EmptyCache;

  Time make(DrivenRequester& driven, const Access& access);
  void answered(std::uint64_t tag, const Request& request, Time now) override;

  Collector collector_{false};
  Simulation simulation_;
  std::vector<std::unique_ptr<EmptyCache>> caches_;
  std::optional<Time> latency_;
  bool failed_ = false;
};

}  // namespace cxloom
