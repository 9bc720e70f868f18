// Basic blocks of a program: straight pieces of code, as the emulator translates them. Nothing here knows the
// processor's instruction set: the translator says what an instruction is, and which registers it reads and
// writes.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace cxloom {

/// The class of an instruction, on which its time depends. An instruction
/// that also reads or writes memory is of the class of what it computes.
enum class InstructionClass : std::uint8_t {
  kMove,  ///< from a register or memory to another, and what only reads or writes memory
  kInteger,
  kMultiply,
  kDivide,
  kFloat,  ///< additions, comparisons, conversions
  kFloatMultiply,
  kFloatDivide,  ///< square roots too
  kVector,       ///< integers in vector registers
  kBranch,       ///< conditional
  kJump,
  kCall,
  kReturn,
  kString,
  kFence,
  kPrefetch,
  kNothing,
  kSystemCall,
  kOther
};
inline constexpr std::uint8_t kInstructionClasses = static_cast<std::uint8_t>(InstructionClass::kOther) + 1;

/// Sets of registers, one bit each. Only the translator knows the registers of the bits.
using RegisterSet = std::uint64_t;

struct BlockInstruction {
  RegisterSet address_reads = 0;  ///< of which the addresses of its accesses are made
  RegisterSet data_reads = 0;     ///< of which what it computes or stores is made
  RegisterSet data_writes = 0;    ///< made of what it reads, from registers or from memory
  RegisterSet pointer_writes =
      0;  ///< made of the registers of its addresses alone: the stack pointer of a push
  InstructionClass kind = InstructionClass::kOther;
  std::uint8_t length = 0;          ///< bytes
  std::uint16_t operand_bytes = 0;  ///< of its largest operand in memory; 0 if it has none
  std::uint16_t flags = 0;

  static constexpr std::uint16_t kRepeated =
      1;  ///< a string instruction that is entered again for each element
  static constexpr std::uint16_t kAtomic = 2;       ///< it reads and writes memory at once
  static constexpr std::uint16_t kRegionBegin = 4;  ///< a mark: the region of interest begins
  static constexpr std::uint16_t kRegionEnd = 8;
  static constexpr std::uint16_t kRegionEntry =
      16;  ///< the first one of the function that is the region of interest
  static constexpr std::uint16_t kFlushDropping =
      32;  ///< it flushes the line of its operand, which leaves the caches (clflush)
  static constexpr std::uint16_t kFlushKeeping = 64;  ///< a flush that keeps the line (clwb)
  static constexpr std::uint16_t kOrdersFlushes =
      128;  ///< a fence that waits for the flushes before it, as atomic operations do
  static constexpr std::uint16_t kFlush = kFlushDropping | kFlushKeeping;
  static constexpr std::uint16_t kAllFlags = 255;

  bool has(std::uint16_t flag) const { return (flags & flag) != 0; }
};

/// The registers of an instruction by number, as most instructions have no more: sets have to be searched.
struct FewRegisters {
  static constexpr std::uint8_t kNothing = 64;  ///< in place of one that is read
  static constexpr std::uint8_t kNowhere = 65;  ///< in place of one that is written
  static constexpr std::size_t kPlaces = 66;
  using Pair = std::array<std::uint8_t, 2>;

  Pair address_reads{kNothing, kNothing};
  Pair data_reads{kNothing, kNothing};
  Pair data_writes{kNowhere, kNowhere};
  std::uint8_t pointer_write = kNowhere;
  bool all = false;  ///< these are all of them, and the instruction is neither a mark nor a flush
  InstructionClass kind = InstructionClass::kOther;
  /// Instructions from this one on, one behind the other, for which `all` holds and which write no pointer.
  std::uint16_t alike = 0;
};

struct ProgramBlock {
  std::uint64_t address = 0;  ///< of its first instruction
  std::vector<BlockInstruction> instructions;
  // What follows from these, once it is complete:
  std::uint64_t last = 0;  ///< address of its last instruction
  bool marks = false;      ///< an instruction has to do with the region of interest
  bool repeats = false;    ///< the first instruction is repeated, so that entering the block again is not
                           ///< another instruction
  std::vector<FewRegisters> registers;  ///< by instruction

  /// Works out what follows from the address and the instructions, of which there is one at least.
  void complete();
};

/// How a block is written: a head of two words, and five words for each instruction.
namespace block_form {

inline constexpr std::uint64_t kMark = 0xB10C;
inline constexpr std::uint32_t kHeadWords = 2;
inline constexpr std::uint32_t kInstructionWords = 5;

constexpr std::uint64_t head(std::uint32_t number, std::uint32_t instructions) {
  return kMark << 48U | static_cast<std::uint64_t>(instructions) << 32U | number;
}
constexpr std::uint64_t properties(const BlockInstruction& of) {
  return static_cast<std::uint64_t>(of.kind) | static_cast<std::uint64_t>(of.length) << 8U |
         static_cast<std::uint64_t>(of.operand_bytes) << 16U | static_cast<std::uint64_t>(of.flags) << 32U;
}

/// Writes the words of an instruction.
constexpr void write(const BlockInstruction& of, std::uint64_t* words) {
  words[0] = of.address_reads;
  words[1] = of.data_reads;
  words[2] = of.data_writes;
  words[3] = of.pointer_writes;
  words[4] = properties(of);
}

}  // namespace block_form
}  // namespace cxloom
