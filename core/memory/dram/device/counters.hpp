// The counts of a sub-channel from the beginning of time.
#pragma once

#include <algorithm>
#include <cstdint>

#include "memory/dram/device/device.hpp"

namespace cxloom {

/// The sum over time of a level, in clocks, and its largest value since `restart`.
struct DramLevel {
  std::uint32_t level = 0;
  std::uint32_t largest = 0;
  Clock last = 0;
  Clock integral = 0;

  void settle(Clock now) {
    integral += level * (now - last);
    last = now;
  }
  void change(Clock now, std::int32_t delta) {
    settle(now);
    level = static_cast<std::uint32_t>(static_cast<std::int32_t>(level) + delta);
    largest = std::max(largest, level);
  }
  void restart() { largest = level; }
};

struct DramCounters {
  std::uint64_t reads = 0;      ///< bursts read from the device
  std::uint64_t writes = 0;     ///< bursts written to it
  std::uint64_t hits = 0;       ///< bursts that found their row open
  std::uint64_t misses = 0;     ///< that found their bank closed
  std::uint64_t conflicts = 0;  ///< that found another row open
  std::uint64_t forwarded = 0;  ///< reads answered from the write queue
  std::uint64_t merged = 0;     ///< writes merged into one that was queued
  std::uint64_t activates = 0;
  std::uint64_t refreshes = 0;     ///< refresh commands
  Clock open = 0;                  ///< bank-clocks with a row open, power-down left out
  Clock asleep_closed = 0;         ///< rank-clocks in precharge power-down
  Clock asleep_open = 0;           ///< rank-clocks in active power-down
  std::uint64_t managements = 0;   ///< refresh management commands
  std::uint64_t managed_sets = 0;  ///< of them those of a set of banks
  Clock managed_ranks = 0;         ///< rank-clocks of the others
  std::uint64_t alerts = 0;        ///< of the devices
  Clock read_queue = 0;            ///< burst-clocks in the read queue
  Clock write_queue = 0;           ///< burst-clocks in the write queue
};

}  // namespace cxloom
