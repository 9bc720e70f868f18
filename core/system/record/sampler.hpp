// Utilisation and queue occupancy over time, of every direction of links and buses and of every memory,
// sampled at equal intervals inside the measured window; and the share of a tiered program's accesses that
// its nearest node answers.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "base/columns.hpp"
#include "base/units.hpp"
#include "kernel/event_handler.hpp"
#include "kernel/event_source.hpp"

namespace cxloom {

class Kernel;
class System;

/// Columns of the samples since they were last taken.
struct SeriesTable {
  std::vector<std::int64_t> time_ps;
  std::vector<std::uint32_t> probe;  ///< index of what was sampled
  std::vector<float> utilization;    ///< not a number: none
  std::vector<float> turnaround;     ///< not a number: none
  std::vector<float> queue;
};

inline constexpr std::tuple kSeriesColumns{
    column<&SeriesTable::time_ps>("time_ps", "ps", "end of the interval, from the opening of the window"),
    column<&SeriesTable::probe>(
        "name", "",
        "direction of a link or bus, or memory, that was sampled; with tiering `REQUESTER: nearest node`, "
        "too"),
    column<&SeriesTable::utilization>(
        "utilization", "",
        "busy time / length, in the interval; null of a memory. Of a nearest node the share of the "
        "requester's accesses that it answered, of those that memory did; null where none was"),
    column<&SeriesTable::turnaround>(
        "turnaround", "",
        "time in which the wire that both directions share turned / length, in the interval: the same in "
        "both. Null of full duplex, and of what has no wire"),
    column<&SeriesTable::queue>("queue", "",
                                "messages that wait, in a memory requests in it, mean over the interval; "
                                "null of a nearest node"),
};

class Sampler final : public EventHandler {
 public:
  /// Something that is sampled.
  class Probe {
   public:
    struct Level {
      Time busy;
      Time turned;
      double queue_integral = 0.0;  ///< level times picoseconds
      std::uint64_t part = 0;       ///< of a whole that is counted
      std::uint64_t whole = 0;
    };
    virtual ~Probe() = default;
    virtual std::string name() const = 0;
    /// Whether it can be busy, or just holds requests.
    virtual bool has_wire() const { return true; }
    /// Whether it is a direction of a wire that both share, and that turns between them.
    virtual bool has_turns() const { return false; }
    /// Whether anything waits there; otherwise it has a part of a whole.
    virtual bool has_queue() const { return true; }
    /// The window opens.
    virtual void open(Time /*at*/) {}
    /// Sums since the window opened, up to `now`.
    virtual Level read(Time now) = 0;
  };

  Sampler(Kernel& kernel, const System& system, Time interval);
  ~Sampler() override;

  void open_window(Time now);
  void close_window() { open_ = false; }
  void wake(std::uint8_t kind, std::uint64_t payload) override;
  /// Rows since the last call.
  SeriesTable take();
  const std::vector<std::unique_ptr<Probe>>& probes() const { return probes_; }

 private:
  Kernel& kernel_;
  EventSource source_;
  std::vector<std::unique_ptr<Probe>> probes_;
  Time interval_;
  bool open_ = false;
  Time opened_;
  std::vector<Probe::Level> before_;
  SeriesTable table_;
};

}  // namespace cxloom
