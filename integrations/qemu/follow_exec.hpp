// execve leaves an emulator: the new program would run by itself. So the plug-in starts the emulator with it
// instead.
#pragma once

#include <cstdint>

namespace cxloom::qemu {

/// How this emulator was started.
struct Emulator {
  char* path = nullptr;
  char* cpu = nullptr;
  char* plugin = nullptr;  ///< the option -plugin
};

enum class Exec : std::uint8_t {
  kFails,   ///< it will not succeed, or not as a program: the kernel may say why
  kEscapes  ///< it is no program for this emulator: it will run by itself
};

/// Does what the program's execve(path, arguments, environment) would do, under the emulator. The three are
/// addresses of the program; `offset` leads from those to ours. Returns if that cannot be.
Exec follow_exec(const Emulator& emulator, std::uint64_t offset, std::uint64_t path, std::uint64_t arguments,
                 std::uint64_t environment);

}  // namespace cxloom::qemu
