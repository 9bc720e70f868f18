#include "program/feed/block.hpp"

#include <bit>
#include <cstddef>
#include <span>

namespace cxloom {

namespace {

constexpr std::uint16_t kMarks =
    BlockInstruction::kRegionBegin | BlockInstruction::kRegionEnd | BlockInstruction::kRegionEntry;

/// Writes the registers of a set into as many places, if there are enough.
bool name_registers(RegisterSet registers, std::span<std::uint8_t> places) {
  if (static_cast<std::size_t>(std::popcount(registers)) > places.size()) return false;
  for (std::uint8_t& place : places) {
    if (registers == 0) break;
    place = static_cast<std::uint8_t>(std::countr_zero(registers));
    registers &= registers - 1;
  }
  return true;
}

FewRegisters registers_of(const BlockInstruction& instruction) {
  FewRegisters few;
  few.kind = instruction.kind;
  few.all = !instruction.has(kMarks | BlockInstruction::kFlush) &&
            name_registers(instruction.address_reads, few.address_reads) &&
            name_registers(instruction.data_reads, few.data_reads) &&
            name_registers(instruction.data_writes, few.data_writes) &&
            name_registers(instruction.pointer_writes, {&few.pointer_write, 1});
  return few;
}

}  // namespace

void ProgramBlock::complete() {
  last = address;
  for (std::size_t i = 1; i < instructions.size(); ++i) last += instructions[i - 1].length;
  repeats = instructions.front().has(BlockInstruction::kRepeated);
  marks = false;
  registers.resize(instructions.size());
  std::uint16_t alike = 0;
  for (std::size_t i = instructions.size(); i-- > 0;) {
    marks |= instructions[i].has(kMarks);
    FewRegisters& few = registers[i] = registers_of(instructions[i]);
    few.alike = alike = few.all && instructions[i].pointer_writes == 0 ? alike + 1 : 0;
  }
}

}  // namespace cxloom
