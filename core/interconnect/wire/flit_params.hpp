// Parameters of a link with a physical layer besides its speed: errors, integrity checks, outages.
#pragma once

#include <cstdint>
#include <optional>

#include "base/parameters.hpp"
#include "base/units.hpp"
#include "interconnect/wire/phy.hpp"

namespace cxloom {

/// The flit format of a link, by name or by its generation; kNone: packets of PCIe, framed one by one.
enum class FlitChoice : std::uint8_t { kByGeneration, k68B, k256B, k256BLo, k256BPbr, kNone };

struct LinkErrorParams {
  double bit_error_rate = 0.0;
  std::optional<std::uint32_t> every;

  static void describe(Schema<LinkErrorParams>& schema);
};

enum class IdeMode : std::uint8_t { kOff, kContainment, kSkid };

struct IdeParams {
  IdeMode mode = IdeMode::kOff;
  std::optional<std::uint32_t> aggregation;

  static void describe(Schema<IdeParams>& schema);
};

struct OutageParams {
  std::optional<Time> at;
  Time length{1'000'000};
  bool fail = false;

  bool operator==(const OutageParams&) const = default;
  static void describe(Schema<OutageParams>& schema);
};

struct DegradedParams {
  std::optional<Time> at;
  std::optional<Phy> phy;

  static void describe(Schema<DegradedParams>& schema);
};

}  // namespace cxloom
