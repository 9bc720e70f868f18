// The blocks of a program's code, as its emulator describes them in the ring of the process.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "program/feed/program_sink.hpp"
#include "program/feed/ring.hpp"

namespace cxloom {

/// Throws SimulationError: what was written is nothing that a writer of this version writes.
[[noreturn]] void refuse_feed(const std::string& what);

/// Reads the blocks in the ring behind the known ones. Throws SimulationError if they are none.
void read_blocks(FeedRingHead& head, const std::uint64_t* words,
                 std::vector<std::shared_ptr<const ProgramBlock>>& blocks);

}  // namespace cxloom
