// Instructions that QEMU 7.2 does not have: a program that comes to one is ended by SIGILL.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cxloom::qemu {

/// Whether the instruction at an address, of which the emulator has read `size` bytes, is one of these. If
/// so, its name and that of its extension are written to `text`. What it has not read of it is read from
/// `memory`, where the program has it; null: nowhere.
bool is_lacking(const void* data, std::size_t size, const void* memory, std::uint64_t address, char* text,
                std::size_t room);

}  // namespace cxloom::qemu
