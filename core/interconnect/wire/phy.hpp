// The physical layer of a link: PCIe generation and lanes, `pcie5-x16`.
#pragma once

#include <string>
#include <string_view>

#include "base/units.hpp"
#include "base/value.hpp"
#include "protocol/flit/format.hpp"

namespace cxloom {

struct Phy {
  static constexpr std::string_view kSchemaType = "text";

  unsigned generation = 5;  ///< 3 to 7
  unsigned lanes = 16;      ///< 1, 2, 4, 8 or 16

  /// 10^9 transfers per second of each lane: 8, 16, 32, 64, 128.
  unsigned gigatransfers() const { return 1U << generation; }
  /// Whether 128b/130b encoding puts a sync header of 2 bits before each 128, as it does up to 32 GT/s, with
  /// 256 B flits too. From 64 GT/s on there is none (PCIe 6.0: 1b/1b).
  bool has_sync_headers() const { return generation <= 5; }
  /// Bytes per second in each direction. With `sync_header_bypass`, the ends leave the sync headers out.
  Rate rate(bool sync_header_bypass = false) const;
  /// 68 B flits end at 32 GT/s; from 64 GT/s on the link is always in flit mode, with 256 B flits.
  bool carries(FlitMode mode) const { return mode != FlitMode::k68B || generation <= 5; }
  FlitMode default_flit() const { return generation <= 5 ? FlitMode::k68B : FlitMode::k256B; }
};

std::string to_text(const Phy& phy);
/// Throws InputError unless it is `pcieG-xN`.
void read_value(const Value& value, Phy& out);

}  // namespace cxloom
