// Utilisation and queue occupancy of every link over time, sampled at equal intervals inside the measured window.
#pragma once

#include <cstdint>
#include <vector>

#include "interconnect/link_end.hpp"
#include "kernel/kernel.hpp"

namespace cxloom {

class Sampler final : public EventHandler {
 public:
  struct Row {
    Time time;              ///< end of the interval, from the opening of the window
    std::uint32_t end = 0;  ///< index of the link end
    float utilization = 0;  ///< busy time / length, in the interval
    float queue = 0;        ///< messages waiting, mean over the interval
  };

  Sampler(Kernel& kernel, std::vector<LinkEnd*> ends, Time interval);

  void open_window(Time now);
  void close_window() { open_ = false; }
  void wake(std::uint8_t kind, std::uint64_t payload) override;
  /// Rows since the last call.
  std::vector<Row> take_rows();
  const std::vector<LinkEnd*>& ends() const { return ends_; }

 private:
  struct Level {
    Time busy;
    double queue_integral = 0.0;
  };

  Kernel& kernel_;
  EventSource source_;
  std::vector<LinkEnd*> ends_;
  Time interval_;
  bool open_ = false;
  Time opened_;
  std::vector<Level> before_;
  std::vector<Row> rows_;
};

}  // namespace cxloom
