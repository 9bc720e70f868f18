// Which bits of an address choose channel, rank, bank group, bank, row and column.
//
// A mapping is written as fields from the top of the address down: `rochrababgco` is row, channel, rank, bank, bank
// group, column. A field may be cut into parts with a number of bits each: in `rorabacobgchco1` the lowest bit is one of
// the column, and the rest of the column lies above the bank group. `_`, `-` and spaces may stand between fields.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "memory/dram_device.hpp"

namespace cxloom {

/// Where a burst lies.
struct DramPlace {
  std::uint32_t channel = 0;  ///< sub-channels counted through: channel x sub-channels + sub-channel
  std::uint32_t rank = 0;
  std::uint32_t group = 0;
  std::uint32_t bank = 0;  ///< in its group
  std::uint32_t row = 0;
  std::uint32_t column = 0;  ///< in bursts
};

class DramMapping {
 public:
  /// `channels` counts sub-channels. With `hash` the bank and bank group are XORed with the lowest bits of the row, so
  /// that rows in one bank lie apart however the addresses stride. Throws InputError unless the fields cover exactly the
  /// address bits of the organisation.
  DramMapping(const std::string& fields, const DramOrganisation& organisation, std::uint32_t channels,
              bool hash);

  /// Of the burst with this number (address / bytes of a burst).
  DramPlace place(std::uint64_t burst) const;

  /// The usual mapping: lines of 64 bytes spread over channels and bank groups, so that a stream finds many open rows.
  static std::string usual(const DramOrganisation& organisation);

 private:
  enum Field : std::uint8_t { kRow, kChannel, kRank, kBank, kGroup, kColumn, kFields };
  struct Part {
    unsigned shift = 0;  // of the address
    unsigned to = 0;     // of the field
    std::uint64_t mask = 0;

    std::uint32_t of(std::uint64_t burst) const {
      return static_cast<std::uint32_t>(((burst >> shift) & mask) << to);
    }
  };

  std::array<Part, kFields> lowest_;            ///< of each field; few fields have more than one
  std::vector<std::pair<Field, Part>> higher_;  ///< the rest
  unsigned group_bits_ = 0;
  unsigned bank_bits_ = 0;
  bool hash_;
};

}  // namespace cxloom
