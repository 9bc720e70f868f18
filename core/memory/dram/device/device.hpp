// What a DRAM is: its organisation, the constraints between its commands, and its currents. Plain data;
// presets are filled in from standards and data sheets (dram_presets.hpp).
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/units.hpp"
#include "memory/dram/device/timing.hpp"

namespace cxloom {

/// How a channel is built of devices. A channel has one or more independent sub-channels (DDR5: two of a
/// DIMM; HBM: two pseudo channels), each with data and command bus of its own.
struct DramOrganisation {
  std::uint32_t sub_channels = 1;
  std::uint32_t width = 64;        ///< data bits of a sub-channel
  std::uint32_t ecc_width = 0;     ///< bits beside them, for ECC: devices that hold no data
  std::uint32_t device_width = 8;  ///< data bits of a device
  std::uint32_t density = 8;       ///< Gbit of a die
  std::uint32_t ranks = 1;         ///< in a stack of dies each die is one, a logical rank
  std::uint32_t stack = 1;         ///< dies of a device, which consecutive ranks are
  std::uint32_t bank_groups = 4;
  std::uint32_t banks = 4;  ///< of a bank group
  std::uint32_t rows = 1U << 16U;
  std::uint32_t columns = 1U << 10U;  ///< of a row, each as wide as the device
  std::uint32_t burst_length = 8;     ///< transfers on a data pin per read or write
  std::uint32_t burst_clocks = 4;     ///< clocks of the command clock that they take
  std::uint32_t burst_gap = 0;        ///< clocks between its halves, which are another burst's
  /// Ranks in turns, each with data pins of its own, which move data at the same time and in the same
  /// direction: the pseudo channels that an MRDIMM multiplexes. Rank r belongs to that of r modulo their
  /// number.
  std::uint32_t pseudo_channels = 1;

  /// A ninth of what the pins carry, and of what a row holds, is metadata or ECC, and no payload (LPDDR6).
  bool metadata = false;

  std::uint64_t payload(std::uint64_t bits) const { return metadata ? bits * 8 / 9 : bits; }
  std::uint32_t burst_bytes() const {
    return static_cast<std::uint32_t>(payload(std::uint64_t{width} * burst_length) / 8);
  }
  /// From its first data to its last.
  std::uint32_t data_clocks() const { return burst_clocks + burst_gap; }
  std::uint32_t bursts_in_row() const { return columns / burst_length; }
  std::uint32_t bursts_in_line() const {
    return std::max(static_cast<std::uint32_t>(kLineBytes) / burst_bytes(), 1U);
  }
  std::uint32_t banks_in_rank() const { return bank_groups * banks; }
  std::uint32_t devices_in_rank() const { return (width + ecc_width) / device_width; }
  /// Bytes of a sub-channel, all ranks.
  std::uint64_t sub_channel_bytes() const {
    return payload(std::uint64_t{ranks} * banks_in_rank() * rows * columns * width) / 8;
  }
};

/// What one same-bank refresh command refreshes.
enum class RefreshSet : std::uint8_t {
  kBankOfEveryGroup,  ///< DDR5 REFsb
  kOneBank,           ///< LPDDR5 and HBM REFpb
  kTwoBanks,          ///< LPDDR5X and LPDDR6 REFpb: one bank and that half the banks on, in another group
};

/// What a refresh takes: all banks of a rank (REF), or a set of them (REFsb, REFpb).
enum class DramRefreshScope : std::uint8_t { kRank, kSet };

/// Whose tables say what other widths and densities of a device are like.
enum class DramStandard : std::uint8_t { kNone, kDdr3, kDdr4, kDdr5, kMrdimm, kLpddr5, kLpddr6 };

/// Which commands hold the command bus for two clocks.
enum class TwoCycleCommands : std::uint8_t {
  kUsual,          ///< as the preset says
  kNone,           ///< DDR4
  kActivate,       ///< HBM
  kSplitActivate,  ///< LPDDR5: ACT-1 and ACT-2, and other commands may go between them
  kAll,            ///< activate, read and write: DDR5
  kEvery,          ///< every command, and each half of a split activate: LPDDR6
};

/// ACT-2 comes at most so many clocks after ACT-1 (tAAD of JESD209-5 and JESD209-6).
inline constexpr Clock kLongestActivate = 8;

struct DramDevice {
  std::string_view name;
  DramStandard standard = DramStandard::kNone;
  std::string_view source;  ///< of organisation and timing
  Rate clock;               ///< picoseconds per cycle of the command clock, exact
  DramOrganisation organisation;
  DramTiming timing;
  DramCurrents currents;
  std::string_view currents_source;
  RefreshSet refresh_set = RefreshSet::kOneBank;
  DramRefreshScope usual_refresh = DramRefreshScope::kRank;
  TwoCycleCommands two_cycle_commands = TwoCycleCommands::kNone;
  /// Clocks of the command bus that an activate takes, a read or write, and every other command.
  Clock activate_clocks() const {
    return two_cycle_commands == TwoCycleCommands::kNone ? 1 : 2 * other_clocks();
  }
  Clock column_clocks() const { return two_cycle_commands == TwoCycleCommands::kAll ? 2 : other_clocks(); }
  /// ACT-1 and ACT-2 need not follow each other.
  bool splits_activates() const {
    return two_cycle_commands == TwoCycleCommands::kSplitActivate ||
           two_cycle_commands == TwoCycleCommands::kEvery;
  }
  Clock other_clocks() const { return two_cycle_commands == TwoCycleCommands::kEvery ? 2 : 1; }
  bool split_command_bus = false;  ///< commands to rows and to columns have a bus each
  /// Lines of 64 bytes in a turn of reads or of writes, while somebody waits who has the other alone. Own
  /// choice: two queues of 64, so that a drain whose writes go on coming is not cut short. The uMCTL2
  /// controller lets a queue starve for 64 bursts of DDR4 (127 of its clocks at half the DRAM's rate, AMD
  /// UG1087) and then ends the run: with 64 lines a mix beside a probe loses a sixth.
  std::uint32_t turn_lines = 128;
  /// After which a run does not go on for the sake of more that may come to the other direction. Own choice:
  /// the least, in steps of `turn_lines`, with which requesters by themselves keep 99 % of their bandwidth at
  /// any mix up to 98 % writes.
  std::uint32_t lull_lines = 768;
  /// While those that wait have both, and more come. A turn of the bus costs as much as 10 to 30 lines, about
  /// 1 % of it.
  std::uint32_t longest_turn_lines = 2048;

  bool refreshes(DramRefreshScope scope) const {
    return scope == DramRefreshScope::kRank || (timing.tREFI_SB != 0 && timing.tRFC_SB != 0);
  }
  /// Clocks that the banks of a refresh are busy.
  Clock refresh_clocks(DramRefreshScope scope) const {
    return scope == DramRefreshScope::kSet ? timing.tRFC_SB : timing.tRFC;
  }
  /// A rank is refreshed in so many sets.
  std::uint32_t refresh_sets(DramRefreshScope scope) const {
    if (scope == DramRefreshScope::kRank) return 1;
    // Banks are numbered group by group, so that a bank of every group is each banks-th.
    switch (refresh_set) {
      case RefreshSet::kBankOfEveryGroup: return organisation.banks;
      case RefreshSet::kTwoBanks: return organisation.banks_in_rank() / 2;
      case RefreshSet::kOneBank: break;
    }
    return organisation.banks_in_rank();
  }
  /// Refreshes of a rank can follow each other no faster.
  Clock shortest_refresh_interval(DramRefreshScope scope) const {
    const Clock stack = organisation.stack;
    return scope == DramRefreshScope::kSet
               ? std::max(timing.tRFC_SB + 1, stack * timing.tRFC_SB_DLR)
               : std::max(timing.tRFC + timing.tRP + timing.tRAS + 1, stack * timing.tRFC_DLR);
  }
};

/// Every preset, test configurations last.
std::span<const DramDevice> dram_presets();

}  // namespace cxloom
