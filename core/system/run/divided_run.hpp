// A simulation whose parts run side by side in threads. What comes out is that of a run in one queue of
// events, to the byte.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "kernel/divided_kernels.hpp"
#include "kernel/measured_window.hpp"
#include "kernel/shared_state.hpp"
#include "protocol/request_observer.hpp"
#include "system/run/livelock_watch.hpp"
#include "system/run/part_observer.hpp"
#include "system/run/thread_division.hpp"
#include "system/run/whole_run.hpp"
#include "system/run/window_forecast.hpp"

namespace cxloom {

class System;

/// Plays windows as long as the lookahead. In most of them parts run side by side. Where something may happen
/// that concerns all of them (the measured window opens or closes, the run ends, the mean may be known well
/// enough, somebody watches), or little happens, the window is merged: one thread plays the events of all
/// parts in the order of a single queue.
class DividedRun {
 public:
  /// Why one thread plays all parts in a window: of several reasons the first one.
  enum class Merged : std::uint8_t {
    kSystemEvents,  ///< there is an event of the system in it, or what one has done is not over
    kWatched,       ///< somebody looks at all that happens
    kFewInWindow,   ///< a part has too few events in a window, or it is one of the first, which show how many
    kNearAnEnd,     ///< the measured window, the run or a task may begin or end in it
    kMeanLookedAt,  ///< the mean may be known well enough in it
  };
  static constexpr std::array<std::string_view, 5> kMergedNames{"system_events", "watched", "few_in_a_window",
                                                                "near_an_end", "mean_looked_at"};

  /// How it went, for who wants to know what the threads brought.
  struct Cost {
    std::uint64_t windows = 0;
    std::uint64_t side_by_side = 0;         ///< of these
    std::uint64_t events_side_by_side = 0;  ///< in these
    std::uint64_t events_of_busiest = 0;    ///< sum over these of the events of the part that had most
    std::array<std::uint64_t, kMergedNames.size()> events_merged{};  ///< in the others, by `Merged`
  };

  explicit DividedRun(ThreadDivision division);

  DividedKernels& kernels() { return kernels_; }
  const DividedKernels& kernels() const { return kernels_; }
  const ThreadDivision& division() const { return division_; }
  const Cost& cost() const { return cost_; }
  /// By node.
  std::vector<Kernel*> kernel_of_nodes();
  /// By part.
  std::vector<const Kernel*> kernel_of_parts() const;

  /// The system is built, with these kernels. `observer` is what all observers of parts come together in;
  /// `run` hears of what concerns the whole run. Throws InternalError if `observer` cannot be divided.
  void attach(WholeRun& whole, RequestObserver& run, RequestObserver& observer, const MeasuredWindow& window,
              LivelockWatch& livelock_watch);
  /// To be called once requesters have their work.
  void begin(const System& system);
  PartObserver& observer_at(NodeId node) { return *observers_[division_.part_of[node.index()]]; }

  /// What the system has of this, once its versions are kept.
  void share_of(System& system);
  /// Parts share it; it outlives this.
  void share(SharedState& state) { shared_.push_back(&state); }

  /// Somebody watches every event, in the order of one queue; null ends it.
  void watch(EventWatcher* watcher);
  /// All windows are merged from now on, or are not any more.
  void stay_merged(bool merged) { stay_merged_ = merged; }

  /// As Kernel::run. It may run some more events than `most`: those of a window.
  std::uint64_t run(Time limit, std::uint64_t most, Time stop);
  /// Requests completed since the last call, warm-up included.
  std::uint64_t take_completed();
  /// The rows of what was measured so far go to the observer.
  void take_rows();
  /// All else does: nothing more is measured.
  void take_in();

 private:
  std::optional<Merged> merged_because(Time end);
  void play_window(Time end, std::uint64_t most);
  void play_side_by_side(Time end);
  void gather_notes();
  void tell_notes();
  void tell_answers();
  void measured(std::size_t part, AccessKind kind, Time latency, std::uint64_t moved, Time now, bool failed);

  ThreadDivision division_;
  DividedKernels kernels_;
  WholeRun* whole_ = nullptr;
  RequestObserver* observer_ = nullptr;
  LivelockWatch* livelock_watch_ = nullptr;
  std::unique_ptr<WindowForecast> forecast_;
  std::vector<std::unique_ptr<PartObserver>> observers_;  // by part
  std::vector<std::uint64_t> events_before_;              // of each part, while a window is played
  // Measured answers of the last window side by side that were not told yet, by part.
  std::vector<SharedState*> shared_;
  std::vector<std::vector<PartObserver::Answer>> untold_;
  std::uint64_t untold_count_ = 0;
  bool watched_ = false;
  bool stay_merged_ = false;
  bool within_window_ = false;               // it was broken off
  Merged merged_as_ = Merged::kFewInWindow;  // the latest merged window
  double events_a_window_ = 0.0;             // lately
  std::optional<std::size_t> first_failed_;  // part whose request was the first to be answered without data
  Cost cost_;
};

}  // namespace cxloom
