// How this emulator was started, and how it starts others.
#pragma once

#include <cstddef>

#include "follow_exec.hpp"

namespace cxloom::qemu {

inline constexpr std::size_t kLongestPlugin = 4 * 4096;

/// The options for the programs that this one starts, with the processor and the folder of the rings. The
/// region of interest is only in this one. False if they are not known.
bool describe_emulator(const char* cpu, const char* folder, Emulator& emulator);

/// What the program is called, as it was given behind -0, without its folder; empty if that is not known.
const char* name_of_program();

}  // namespace cxloom::qemu
