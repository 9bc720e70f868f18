// What a persist buffer measures.
#pragma once

#include <array>
#include <cstdint>

#include "base/measure_table.hpp"
#include "base/value.hpp"
#include "kernel/distribution.hpp"
#include "kernel/kernel.hpp"
#include "kernel/windowed.hpp"

namespace cxloom {

class PersistEntries;
class ResourceSink;
struct PersistBufferParams;

/// What a persist buffer counts.
struct PersistCounts {
  std::uint64_t persists = 0;
  std::uint64_t coalesced = 0;
  std::uint64_t drains = 0;
  std::uint64_t drained = 0;
  std::uint64_t drain_errors = 0;
  std::uint64_t refused = 0;
  std::uint64_t read_hits = 0;
  std::uint64_t detours = 0;
  std::uint64_t held_reads = 0;
  std::uint64_t stalls = 0;
};

struct PersistMeasured : PersistCounts {
  std::uint64_t resident_before = 0;
  std::uint64_t resident = 0;
  std::uint64_t lost_acknowledged = 0;
  double full_mean = 0;
  double dirty_mean = 0;
  double drain_mean = 0;
  double queue_mean = 0;
  double queue_max = 0;
};

inline constexpr std::array kPersistMeasures{
    measure<PersistMeasured, &PersistMeasured::persists>("persists", "", "writes that it took"),
    measure<PersistMeasured, &PersistMeasured::coalesced>(
        "coalesced", "",
        "writes that it took to a line that was Dirty there, and entries whose drain failed that a newer one "
        "of their line took in"),
    measure<PersistMeasured, &PersistMeasured::drains>("drains", "",
                                                       "lines that it began to write to memory"),
    measure<PersistMeasured, &PersistMeasured::drained>("drained", "", "lines that memory has answered for"),
    measure<PersistMeasured, &PersistMeasured::drain_errors>(
        "drain_errors", "",
        "drains that found no way, were lost, or were answered with an error: their lines are Dirty again"),
    measure<PersistMeasured, &PersistMeasured::refused>(
        "refused", "",
        "requests that it answered with an error, as no entry could become Empty, or none of the line be "
        "drained"),
    measure<&PersistMeasured::resident_before>("resident_before", "",
                                               "entries that were not Empty when the window opened"),
    measure<&PersistMeasured::resident>(
        "resident", "",
        "entries that were not Empty when it closed: resident_before + persists = coalesced + drained + "
        "resident"),
    measure<&PersistMeasured::lost_acknowledged>(
        "lost_acknowledged", "",
        "entries that were not Empty when the run ended, in a switch that had failed: lines that it had "
        "answered for, and that are lost with it as it was not repaired"),
    measure<PersistMeasured, &PersistMeasured::read_hits>("read_hits", "", "reads that it answered"),
    measure<PersistMeasured, &PersistMeasured::detours>(
        "detours", "",
        "reads and atomic operations that came for a line which was gone when their turn came"),
    measure<PersistMeasured, &PersistMeasured::held_reads>(
        "held_reads", "",
        "reads of a line of which it had a part, and atomic operations, that waited until it was drained"),
    measure<PersistMeasured, &PersistMeasured::stalls>(
        "stalls", "", "writes that found no Empty entry when their turn came"),
    measure<PersistMeasured, &PersistMeasured::full_mean>("entries_mean", "",
                                                          "entries that are not Empty, mean over time"),
    measure<PersistMeasured, &PersistMeasured::dirty_mean>("dirty_mean", "", "Dirty entries, mean over time"),
    measure<PersistMeasured, &PersistMeasured::drain_mean>("drain_mean", "",
                                                           "entries in Drain, mean over time"),
    measure<PersistMeasured, &PersistMeasured::queue_mean>(
        "queue_mean", "", "messages that wait in its input queue, mean over time"),
    measure<PersistMeasured, &PersistMeasured::queue_max>(
        "queue_max", "", "messages that wait in its input queue, largest number"),
};

/// The counts and levels of one buffer, in the window.
class PersistMeasures {
 public:
  explicit PersistMeasures(Kernel& kernel) : kernel_(kernel), counts_(kernel) {}

  PersistCounts* operator->() { return counts_.operator->(); }
  /// To be called when it is made: the levels are those of the window.
  template <class Buffer>
  void join_window(Buffer& buffer) {
    kernel_.measure(buffer, full_, dirty_, drain_, queue_);
  }
  /// Entries have changed their states.
  void count(const PersistEntries& entries);
  /// So many messages more are in the input queue.
  void queued(std::int32_t more);
  void open(Time at, const PersistEntries& entries);
  void close(Time at, const PersistEntries& entries);
  /// `lost`: entries that are lost with their switch, as it has failed.
  Value report(std::uint64_t lost) const;
  /// Places of which there are only so many.
  static void resources(const PersistBufferParams& params, ResourceSink& sink);

 private:
  Kernel& kernel_;
  Windowed<PersistCounts> counts_;
  std::uint64_t resident_before_ = 0;  // when the window opened
  std::uint64_t resident_ = 0;         // when it closed
  LevelMonitor full_;
  LevelMonitor dirty_;
  LevelMonitor drain_;
  LevelMonitor queue_;
};

}  // namespace cxloom
