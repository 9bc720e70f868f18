// The commands of a DRAM, and their watcher.
#pragma once

#include <cstdint>
#include <string_view>

#include "memory/dram/device/device.hpp"

namespace cxloom {

enum class DramCommand : std::uint8_t {
  kActivate,
  kPrecharge,
  kPrechargeAll,
  kRead,
  kReadPrecharge,  ///< with auto-precharge
  kWrite,
  kWritePrecharge,
  kRefreshAll,
  kRefreshSame,
  kPowerDown,   ///< entry
  kPowerUp,     ///< exit
  kManageAll,   ///< refresh management, of a rank
  kManageSame,  ///< of a set of banks
};
inline constexpr std::size_t kDramCommandCount = static_cast<std::size_t>(DramCommand::kManageSame) + 1;

inline std::string_view to_text(DramCommand command) {
  constexpr std::string_view kNames[kDramCommandCount] = {"ACT", "PRE",   "PREA", "RD",  "RDA", "WR",   "WRA",
                                                          "REF", "REFSB", "PDE",  "PDX", "RFM", "RFMSB"};
  return kNames[static_cast<std::size_t>(command)];
}

/// One command as it went out.
struct DramCommandRecord {
  Clock clock = 0;
  DramCommand command = DramCommand::kActivate;
  bool rmw = false;  ///< of a write: it needs a read-modify-write inside the device
  std::uint32_t rank = 0;
  std::uint32_t bank = 0;  ///< in the rank: bank group x banks of a group + bank; of REFSB the set
  std::uint32_t row = 0;
  std::uint32_t column = 0;  ///< in bursts
};

/// Sees every command of a sub-channel. Those of a rank come in the order of time. Power-down, which needs no
/// command bus, is reported when it is over.
class DramCommandLog {
 public:
  virtual ~DramCommandLog() = default;
  virtual void command(std::uint32_t sub_channel, const DramCommandRecord& record) = 0;
};

}  // namespace cxloom
