// The mappings of a running program, as the kernel of this machine lists them.
#pragma once

#include <cstdint>
#include <vector>

#include "program/feed/program_sink.hpp"

namespace cxloom {

/// Those of a process under the emulator, whose addresses are `offset` below those of this machine. Empty if it has ended. What the
/// emulator has for itself is among them.
std::vector<ProgramMapping> mappings_of(std::uint32_t process, std::uint64_t offset);

}  // namespace cxloom
