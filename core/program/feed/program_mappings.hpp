// The mappings of a running program, as the kernel of this machine lists them.
#pragma once

#include <cstdint>
#include <vector>

#include "program/feed/program_sink.hpp"

namespace cxloom {

/// The mappings of a process under the emulator, whose addresses are `offset` below this machine's; with the
/// emulator's own. Empty if the process has ended.
std::vector<ProgramMapping> mappings_of(std::uint32_t process, std::uint64_t offset);

}  // namespace cxloom
