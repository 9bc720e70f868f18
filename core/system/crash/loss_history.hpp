// The shortest history that shows a loss: requests are left out, and the rest runs again, until nothing more
// can be left out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "system/crash/history_recorder.hpp"
#include "system/crash/power_loss.hpp"
#include "system/spec/spec.hpp"
#include "system/work/workload_builder.hpp"
#include "workload/stream/access_stream.hpp"

namespace cxloom {

struct Registry;

class Simulation;

/// How many requests each workload has made so far, in the order of the spec.
std::vector<std::uint64_t> requests_issued(const Simulation& simulation, const Spec& spec);

/// A request of a run, by its requester.
struct HistoryRequest {
  std::size_t requester = 0;  ///< among the workloads of the spec
  Access access;
};

/// A loss: with this order of recovery, if the power fails, or if that switch is lost.
struct LossKind {
  std::optional<std::string> lost_switch;
  const RecoveryOrder* order = &kRecoveryOrder;
};

/// A loss that a run comes to.
struct LossShown {
  Time at;                            ///< the first instant at which something is lost
  std::vector<LostLine> lines;        ///< that are lost then
  std::vector<std::uint64_t> issued;  ///< by workload, the requests that had been made
  std::vector<HistoryStep> steps;
};

/// Delta debugging (Zeller and Hildebrandt 2002) over the requests of a run. Each step is a run, which is the
/// same each time.
class LossSearch {
 public:
  /// Begins with the first `issued` requests of each workload of `spec`, in its order: those that a run had
  /// made when the loss was seen. `open_trace` gives each trace from its beginning.
  LossSearch(const Registry& registry, const Spec& spec, const TraceOpener& open_trace,
             const std::vector<std::uint64_t>& issued, LossKind kind);

  /// One more run; true once no request can be left out any more, or if the requests do not show a loss at
  /// all. What `look` throws ends the run as if it had not begun.
  bool step(const Look& look = [] {});
  /// Null: none of the runs has lost anything.
  const LossShown* shown() const { return shown_ ? &*shown_ : nullptr; }
  /// The requests left. Once no step is left, nothing is lost without any one of them.
  std::vector<HistoryRequest> requests() const;
  std::uint64_t runs() const { return runs_; }
  const Spec& spec() const { return spec_; }

  /// What these of the requests come to alone, by their numbers; none: nothing is lost. A fence before a
  /// request that is left out stays where it is; who depends on it alone depends on nothing.
  std::optional<LossShown> play(const std::vector<std::size_t>& left, const Look& look = [] {}) const;
  /// The numbers of the requests left.
  const std::vector<std::size_t>& left() const { return left_; }

 private:
  bool try_with(const std::vector<std::size_t>& left, const Look& look);
  bool cut_behind(const Look& look);
  bool leave_out_part(const Look& look);

  const Registry& registry_;
  Spec spec_;
  LossKind kind_;
  std::vector<HistoryRequest> all_;  // a requester's in their order
  std::vector<std::size_t> left_;
  std::optional<LossShown> shown_;
  std::uint64_t runs_ = 0;
  std::size_t parts_ = 2;       // in which they are left out
  std::size_t part_ = 0;        // the next of them
  bool shorter_ = false;        // since the first of them
  bool behind_needed_ = false;  // requests that are made after the loss change it all the same
};

}  // namespace cxloom
