// The cost of a message on a wire, for arbitration that shares its bytes: with flits, in slots.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "protocol/flit/format.hpp"
#include "protocol/message.hpp"

namespace cxloom {

/// In twelfths of a byte: up to four messages share a slot of 16 bytes.
class WireCost {
 public:
  static constexpr std::uint64_t kUnitsOfByte = 12;

  /// Abstract costs: the bytes of a message without data, and the further bytes of one with data.
  WireCost(std::uint16_t header, std::uint16_t data_header);
  /// Costs in flits: a slot for each header, shared with as many others of its class as a slot takes, and the
  /// slots of the data.
  explicit WireCost(FlitMode mode);

  std::uint64_t units(const Message& message) const;
  /// With flits, the units of a class's line with its header.
  std::uint64_t line_units(Channel channel) const;

 private:
  std::optional<FlitMode> mode_;
  std::uint64_t data_header_ = 0;
  std::array<std::uint64_t, kChannelCount> header_{};
};

}  // namespace cxloom
