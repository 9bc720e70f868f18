// The parameters of `kind: dram` as a person writes them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/memory_estimate.hpp"
#include "base/parameters.hpp"
#include "memory/dram/controller/row_hammer_params.hpp"
#include "memory/dram/controller/timing_params.hpp"
#include "memory/dram/device/config.hpp"

namespace cxloom {

struct DramParams {
  std::string preset;
  std::uint32_t channels = 1;
  std::optional<std::uint32_t> ranks;
  std::optional<std::uint32_t> device_width;
  std::optional<std::uint32_t> density;
  std::uint32_t stack = 1;
  std::uint32_t ecc_width = 0;
  std::optional<std::uint32_t> burst_length;
  Time buffer_delay{};
  std::optional<std::string> mapping;
  std::optional<BankHash> bank_hash;
  ChannelHash channel_hash = ChannelHash::kNone;
  KindSpec row_policy{"open", Value(Value::Map{})};
  KindSpec scheduler{"fr-fcfs", Value(Value::Map{})};
  std::uint32_t read_queue = 64;
  std::uint32_t write_queue = 64;
  double write_high = 0.75;
  double write_low = 0.25;
  std::optional<std::uint32_t> turn;
  std::optional<std::uint32_t> lull;
  std::optional<std::uint32_t> longest_turn;
  bool posted_writes = true;
  KindSpec refresh{"usual", Value(Value::Map{})};
  std::uint32_t refresh_postpone = 0;
  std::optional<Time> power_down;
  TwoCycleCommands two_cycle_commands = TwoCycleCommands::kUsual;
  DramRowHammerParams row_hammer;
  DramTimingParams timing;
  DramCurrentParams currents;

  static void describe(Schema<DramParams>& schema);
  /// Throws InputError for what does not go together, or with its preset, in a memory of any capacity.
  static void check(const DramParams& params);
  static void estimate(const DramParams& params, MemoryEstimate& memory);
};

/// `capacity` is that of the memory, if somebody wrote it: where nobody says how many ranks there are, there
/// are enough for it. Throws InputError if the preset is unknown, there are no such devices, timings
/// contradict each other, the mapping does not fit, or the memory is larger than the organisation.
DramConfig resolve(const DramParams& params, std::optional<Bytes> capacity);

}  // namespace cxloom
