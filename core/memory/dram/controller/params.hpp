// The parameters of `kind: dram` as a person writes them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/memory_estimate.hpp"
#include "base/parameters.hpp"
#include "memory/dram/device/config.hpp"

namespace cxloom {

// NOLINTBEGIN(readability-identifier-naming): the names are those of the standards

/// Timings that differ from the preset's: DramTiming by the same names, in clocks, and the clock itself.
struct DramTimingParams {
  using Override = std::optional<std::uint32_t>;
  std::optional<Time> tCK;
  Override CL, CWL, tRCD, tRCD_WR, tRP, tRAS, tRTP, tWR, tCCD_S, tCCD_L, tCCD_L_WR, tCCD_L_WR2, tRTW, tWTR_S,
      tWTR_L, tRRD_S, tRRD_L, tFAW, tPPD, tCS, tRFC, tREFI, tRFC_SB, tREFI_SB, tREFSB_ACT, tXP, tPD, tCCD_DLR,
      tRRD_DLR, tFAW_DLR, tRFC_DLR, tRFC_SB_DLR;

  static void describe(Schema<DramTimingParams>& schema);
};

/// Currents that differ from the preset's: DramCurrents by the same names.
struct DramCurrentParams {
  using Override = std::optional<double>;
  Override VDD, IDD0, IDD2N, IDD2P, IDD3N, IDD3P, IDD4R, IDD4W, IDD5B, IDD5SB;

  static void describe(Schema<DramCurrentParams>& schema);
};

// NOLINTEND(readability-identifier-naming)

struct DramParams {
  std::string preset;
  std::uint32_t channels = 1;
  std::optional<std::uint32_t> ranks;
  std::optional<std::uint32_t> device_width;
  std::optional<std::uint32_t> density;
  std::uint32_t stack = 1;
  std::uint32_t ecc_width = 0;
  std::optional<std::uint32_t> burst_length;
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
  DramTimingParams timing;
  DramCurrentParams currents;

  static void describe(Schema<DramParams>& schema);
  /// Throws InputError for what does not go together, or with its preset, in a memory of any capacity.
  static void check(const DramParams& params);
  static void estimate(const DramParams& params, MemoryEstimate& memory);
};

/// `capacity` is that of the memory, if somebody wrote it: where nobody says how many ranks there are, there are enough
/// for it. Throws InputError if the preset is unknown, there are no such devices, timings contradict each other, the
/// mapping does not fit, or the memory is larger than the organisation.
DramConfig resolve(const DramParams& params, std::optional<Bytes> capacity);

}  // namespace cxloom
