// The flits of a message that goes alone: nothing before it on the wire, and nothing joins it. They are
// always the same.
#pragma once

#include <array>
#include <cstdint>

#include "protocol/flit/flit.hpp"
#include "protocol/flit/packer.hpp"

namespace cxloom {

struct IsolatedFlits {
  std::uint8_t count = 0;       ///< none: the format does not have the class
  std::uint8_t slots = 0;       ///< of the message, in all of them
  std::uint8_t slots_left = 0;  ///< of these, behind the first one
  std::uint8_t end_slot = 0;    ///< of the last one: the slot with which the message is complete
  std::array<Flit, 2> flit;     ///< a line and its header do not fit one of 68 B
};

/// By class: of a message without data, or with a line of 64 B without byte enables. Without integrity
/// checks.
const std::array<IsolatedFlits, kChannelCount>& isolated_flits(FlitMode mode, bool zero_extended);

}  // namespace cxloom
