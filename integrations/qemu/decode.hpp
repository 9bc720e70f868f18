// What an x86-64 instruction is, and which registers it reads and writes, by Zydis.
#pragma once

#include <cxloom/program_feed.hpp>

#include <cstddef>
#include <cstdint>

namespace cxloom::qemu {

/// The instruction of `size` bytes at `data`. What Zydis does not know is of the class `kOther`, touches no registers and
/// may access a byte of memory.
BlockInstruction decode(const void* data, std::size_t size);

}  // namespace cxloom::qemu
