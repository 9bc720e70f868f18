// Constraints between commands, and currents, by their JEDEC names. The tables of timing_params.cpp say what
// each is.
#pragma once

#include <cstdint>

namespace cxloom {

/// A number of cycles of the command clock, or a point in time counted in them.
using Clock = std::int64_t;

// The names are those of the standards.
// NOLINTBEGIN(readability-identifier-naming)

/// Times, as values or as what somebody wrote of them. A rank obeys all of them by itself; those with DLR,
/// for different logical ranks, hold between the dies of one stack. Where tREFI_SB is 0 the device has no
/// same-bank refresh. Where one with M is 0, that with L holds in the whole bank group; otherwise it holds in
/// a bank, and that with M between the banks of its group.
template <class T>
struct DramTimings {
  T CL{}, CWL{}, tRCD{}, tRCD_WR{}, tRP{}, tRAS{}, tRTP{}, tWR{}, tCCD_S{}, tCCD_L{}, tCCD_L_WR{},
      tCCD_L_WR2{}, tCCD_M{}, tCCD_M_WR{}, tCCD_M_WR2{}, tRTW{}, tWTR_S{}, tWTR_L{}, tWTR_M{}, tRRD_S{},
      tRRD_L{}, tFAW{}, tPPD{}, tCS{}, tRFC{}, tREFI{}, tRFC_SB{}, tREFI_SB{}, tREFSB_ACT{}, tXP{}, tPD{},
      tCCD_DLR{}, tCCD_R{}, tRRD_DLR{}, tFAW_DLR{}, tRFC_DLR{}, tRFC_SB_DLR{};
};

/// Currents of one device in milliamperes and its supply in volts, as in the tables of data sheets; all zero
/// where none are published.
template <class T>
struct DramSupply {
  T VDD{}, IDD0{}, IDD2N{}, IDD2P{}, IDD3N{}, IDD3P{}, IDD4R{}, IDD4W{}, IDD5B{}, IDD5SB{};
};

// NOLINTEND(readability-identifier-naming)

using DramTiming = DramTimings<Clock>;
using DramCurrents = DramSupply<double>;

}  // namespace cxloom
