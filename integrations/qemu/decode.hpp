// What an x86-64 instruction is, and which registers it reads and writes, by Zydis.
#pragma once

#include <cxloom/program_feed.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>

namespace cxloom::qemu {

/// The instruction of `size` bytes at `data`. What Zydis does not know is of the class `kOther`, touches no
/// registers and may access a byte of memory.
BlockInstruction decode(const void* data, std::size_t size);

/// The parts of an address: base + index * scale + displacement. Registers have their numbers in instructions
/// (rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8 to r15).
struct AddressForm {
  static constexpr std::uint8_t kNone = 0xFF;

  std::uint8_t base = kNone;
  std::uint8_t index = kNone;
  std::uint8_t scale = 0;
  std::int64_t displacement = 0;  ///< from the end of the instruction, if `relative`
  bool relative = false;

  bool operator==(const AddressForm&) const = default;
};

/// The form of the address of the only operand in memory that an instruction names; nothing if it names none,
/// or makes its address in another way (segments, addresses of 32 bits).
std::optional<AddressForm> address_form(const void* data, std::size_t size);

/// By how much an instruction moves a register on, if that is what it does (add, sub, inc, dec, lea).
struct Increment {
  std::uint8_t of = AddressForm::kNone;
  std::int64_t by = 0;
};
Increment increment(const void* data, std::size_t size);

}  // namespace cxloom::qemu
