#include "flush_address.hpp"

namespace cxloom::qemu {

namespace {

RegisterSet writes_of(const BlockInstruction& instruction) {
  return instruction.data_writes | instruction.pointer_writes;
}

// Flushes access nothing in the emulator.
bool accesses(const BlockInstruction& instruction) {
  return instruction.operand_bytes != 0 && !instruction.has(BlockInstruction::kFlush);
}

// An instruction that accesses memory writes its results behind that.
bool are_stored(RegisterSet needed, std::span<const BlockInstruction> block, std::size_t point) {
  RegisterSet before = 0;
  for (std::size_t i = point; i-- > 0;) {
    before |= writes_of(block[i]);
    if (accesses(block[i])) break;
  }
  RegisterSet after = 0;
  for (std::size_t i = point; i < block.size() && !accesses(block[i]); ++i) after |= writes_of(block[i]);
  return (needed & before & after) == 0;
}

}  // namespace

std::optional<FlushPoint> flush_point(std::span<const BlockInstruction> block,
                                      std::span<const Increment> increments, std::size_t flush,
                                      const AddressForm& form, std::size_t earliest) {
  const RegisterSet needed = block[flush].address_reads;
  FlushPoint point{flush};
  for (; point.instruction < block.size(); ++point.instruction) {
    const std::size_t at = point.instruction;
    if (at >= earliest && are_stored(needed, block, at)) return point;
    if (accesses(block[at])) break;
    const RegisterSet changed = writes_of(block[at]) & needed;
    if (changed == 0) continue;
    const Increment& increment = increments[at];
    if (increment.of == AddressForm::kNone || changed != RegisterSet{1} << increment.of) break;
    if (increment.of == form.base) point.moved += increment.by;
    if (increment.of == form.index) point.moved += increment.by * form.scale;
  }
  return std::nullopt;
}

std::uint64_t address_of(const AddressForm& form, const std::uint64_t* registers, std::uint64_t behind) {
  auto address = static_cast<std::uint64_t>(form.displacement);
  if (form.relative) address += behind;
  if (form.base != AddressForm::kNone) address += registers[form.base];
  if (form.index != AddressForm::kNone) address += registers[form.index] * form.scale;
  return address;
}

}  // namespace cxloom::qemu
