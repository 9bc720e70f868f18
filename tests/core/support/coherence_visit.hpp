// Visits every state of a small coherent system, and says how many there are.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/support/coherence_bench.hpp"

namespace cxloom::test {

/// Two caches of so many lines, and a filter of so many entries. One requester uses two lines, the other `others` of them.
CoherenceSetup two_caches(std::uint32_t cached, std::uint32_t entries, std::uint32_t others);

/// Visits all its states, which are more than `least`, and expects that nothing is violated. Each of `opcodes` is sent in one
/// of them.
void visit_all(const CoherenceSetup& setup, std::size_t least, const std::vector<std::string>& opcodes = {});

}  // namespace cxloom::test
