// Utilisation and queue occupancy over time, of every direction of links and buses and of every memory, sampled at equal
// intervals inside the measured window.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/units.hpp"
#include "kernel/event_handler.hpp"
#include "kernel/event_source.hpp"

namespace cxloom {

class Kernel;
class System;

class Sampler final : public EventHandler {
 public:
  struct Row {
    Time time;                ///< end of the interval, from the opening of the window
    std::uint32_t probe = 0;  ///< index of what was sampled
    float utilization = 0;    ///< busy time / length, in the interval; not a number of what has no such thing
    float queue = 0;          ///< messages waiting (in a memory: requests in it), mean over the interval
  };

  /// Something that is sampled.
  class Probe {
   public:
    struct Level {
      Time busy;
      double queue_integral = 0.0;  ///< level times picoseconds
    };
    virtual ~Probe() = default;
    virtual std::string name() const = 0;
    /// Whether it can be busy, or just holds requests.
    virtual bool has_wire() const { return true; }
    /// Sums since the window opened, up to `now`.
    virtual Level read(Time now) = 0;
  };

  Sampler(Kernel& kernel, const System& system, Time interval);
  ~Sampler() override;

  void open_window(Time now);
  void close_window() { open_ = false; }
  void wake(std::uint8_t kind, std::uint64_t payload) override;
  /// Rows since the last call.
  std::vector<Row> take_rows();
  const std::vector<std::unique_ptr<Probe>>& probes() const { return probes_; }

 private:
  Kernel& kernel_;
  EventSource source_;
  std::vector<std::unique_ptr<Probe>> probes_;
  Time interval_;
  bool open_ = false;
  Time opened_;
  std::vector<Probe::Level> before_;
  std::vector<Row> rows_;
};

}  // namespace cxloom
