// What a refresh consists of: which banks it takes, how they are closed for it, and the command itself. When refreshes are
// due, and how many are owed, is the refresher's business.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "memory/dram_command_bus.hpp"
#include "memory/dram_params.hpp"
#include "memory/dram_timers.hpp"
#include "memory/dram_unused_rows.hpp"

namespace cxloom {

/// What a refresh policy looks at and moves.
struct DramRefreshContext {
  const DramConfig& config;
  DramTimers& timers;
  DramCommandBus& bus;
  DramUnusedRows& unused;
};

/// The banks that one refresh takes, by their index in the sub-channel.
struct DramRefreshSet {
  std::uint32_t rank = 0;
  std::vector<std::uint32_t> banks;
};

class DramRefreshPolicy {
 public:
  virtual ~DramRefreshPolicy() = default;

  /// Clocks between two refreshes of a rank, on average.
  virtual Clock interval() const = 0;
  /// Clocks that the banks of a refresh are busy.
  virtual Clock duration() const = 0;
  /// A rank is refreshed in so many sets, one after the other: bank i of a rank belongs to set i % sets.
  virtual std::uint32_t sets() const = 0;

  /// When the next command for a refresh may go, one that closes rows or the refresh, the command bus aside. kNeverClock:
  /// rows that were opened for the direction that goes (`writing`) are used first.
  virtual Clock next_at(const DramRefreshSet& set, bool writing) const = 0;
  /// Sends that command. Returns whether it was the refresh.
  virtual bool send_next(const DramRefreshSet& set, bool writing, Clock now) = 0;
};

/// As configured; null if refresh is off.
std::unique_ptr<DramRefreshPolicy> make_refresh_policy(const DramRefreshContext& context);

}  // namespace cxloom
