// The configuration of a DRAM: everything decided, by its preset and by the parameters of a person.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/parameters.hpp"
#include "memory/dram/device/clock.hpp"
#include "memory/dram/device/device.hpp"
#include "memory/dram/device/mapping.hpp"

namespace cxloom {

/// Refresh management (RFM): a command in which the device refreshes the neighbours of a row that was opened
/// often. The controller sends it when a bank has been opened often, or after an alert of the device.
struct DramManagement {
  std::uint32_t raaimt = 0;          ///< activates of a bank that one makes up for; 0: none are counted
  std::uint32_t raammt = 0;          ///< activates at which no more go
  std::uint32_t alert_at = 0;        ///< activates of a row at which the device alerts; 0: it does not
  std::uint32_t alert_commands = 1;  ///< after an alert, and activates before the next one
  Clock alert_window = 0;            ///< from an alert to the first of them
  Clock alert_clocks = 0;            ///< that each takes

  bool on() const { return raaimt != 0 || alert_at != 0; }
};

/// Everything decided: a device with its overrides, and policies in clocks.
struct DramConfig {
  DramDevice device;
  std::uint32_t sub_channels = 1;  ///< of all channels together
  std::string mapping;
  BankHash hash = BankHash::kNone;
  ChannelHash channel_hash = ChannelHash::kNone;
  KindSpec row_policy;
  KindSpec scheduler;
  std::uint32_t read_queue = 0;
  std::uint32_t write_queue = 0;
  std::uint32_t write_high = 0;  ///< writes waiting at which a drain begins
  std::uint32_t write_low = 0;   ///< and ends, if reads wait
  /// Bursts that go in one direction while somebody waits who has accesses in the other alone; or anybody,
  /// since the last came, or in all.
  std::uint32_t turn = 0;
  std::uint32_t lull = 0;
  std::uint32_t longest_turn = 0;
  bool posted_writes = true;
  KindSpec refresh;
  /// The time of a refresh, for the checks of parameters; none where it is off, or a plug-in's.
  std::optional<DramRefreshScope> refresh_scope;
  std::uint32_t refresh_postpone = 0;
  std::optional<Clock> power_down;
  DramManagement management;

  std::uint64_t capacity() const { return device.organisation.sub_channel_bytes() * sub_channels; }
};

}  // namespace cxloom
