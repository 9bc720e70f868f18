// Where a flush instruction flushes: QEMU executes clflush, clflushopt and clwb without an access, so that it
// tells no address, and version 1 of its plug-in interface has no registers. They are where QEMU 7.2 keeps
// them, as far as it has stored them there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "decode.hpp"

namespace cxloom::qemu {

/// A flush instruction, for its callback.
struct FlushInstruction {
  AddressForm form;
  std::uint64_t behind = 0;  ///< address of the instruction after it
  std::uint64_t record = 0;  ///< of its access, without the address
};

/// Where the address of a flush can be known.
struct FlushPoint {
  std::size_t instruction = 0;  ///< of its block: before that
  std::int64_t moved = 0;       ///< so much further than it was flushed
};

/// The first point behind `earliest` at which all registers that make the address of a flush are stored. QEMU
/// stores a register at the latest when the block accesses memory or ends, and then with the instruction that
/// has written it last: one that is written both since the access before a point and until the access after
/// it is not there. Such a loop moves its pointer on behind the flush, and is looked at behind that. Nothing:
/// there is no such point before the next access.
std::optional<FlushPoint> flush_point(std::span<const BlockInstruction> block,
                                      std::span<const Increment> increments, std::size_t flush,
                                      const AddressForm& form, std::size_t earliest = 0);

/// An address, with the registers in the order of AddressForm.
std::uint64_t address_of(const AddressForm& form, const std::uint64_t* registers, std::uint64_t behind);

}  // namespace cxloom::qemu
