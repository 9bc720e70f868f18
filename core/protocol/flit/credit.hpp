// How credits go back to their sender in flits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "protocol/flit/geometry.hpp"
#include "protocol/opcode.hpp"

namespace cxloom {

/// Credits travel by group: a flit that carries_credits() returns those of one class of each group (68B:
/// three counts in the flit header; 256B: three 5-bit fields of the 2 B credit field, and one bit to spare).
enum class CreditGroup : std::uint8_t { kRequest, kData, kResponse };
inline constexpr std::size_t kCreditGroupCount = 3;

/// The group of a class. CXL.io has credits of its own (PCIe's) and no group: InternalError.
CreditGroup credit_group(Channel channel);

/// The counts that the field of a group encodes, ascending: 68B 0, 1, 2, 4 ... 64; 256B 0, 1, 4, 8, 12, 16.
std::span<const std::uint8_t> credit_return_counts(FlitMode mode);

/// How many of `pending` credits of a class one flit can return: the largest count of its field that is not
/// above.
unsigned largest_credit_return(FlitMode mode, unsigned pending);

}  // namespace cxloom
