// Visits every state of a small coherent system, and says how many there are, or what a fault violates.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/support/coherence_bench.hpp"
#include "core/support/coherence_explorer.hpp"
#include "core/support/coherence_faults.hpp"

namespace cxloom::test {

/// Two caches of so many lines, and a filter of so many entries. One requester uses two lines, the other
/// `others` of them.
CoherenceSetup two_caches(std::uint32_t cached, std::uint32_t entries, std::uint32_t others);
/// The filter makes room: it has fewer entries than the caches have lines.
CoherenceSetup small_filter();
/// The caches make room.
CoherenceSetup small_caches();

/// The setup with lines of a host, which the caches hold by CXL.cache.
CoherenceSetup hdm_h(CoherenceSetup setup);
/// The setup with lines of the first device, which its cache and that of a host hold.
CoherenceSetup hdm_d(CoherenceSetup setup);

/// Whether systems are wanted whose states take long: CXLOOM_COHERENCE_LARGE (make coherence-check). The
/// other tests of an explorer visit the same agents in fewer states.
bool large_systems();
constexpr const char* kTakesLong = "takes long: set CXLOOM_COHERENCE_LARGE";

/// Visits all its states, which are more than `least`, and expects that nothing is violated. Each of
/// `opcodes` is sent in one of them.
void visit_all(const CoherenceSetup& setup, std::size_t least, const std::vector<std::string>& opcodes = {});

/// The rule that is violated with a fault, and how the explorer came to it.
Exploration explored_with(CoherenceSetup setup, const Fault& fault);
/// Expects that the fault violates what it says.
void finds(const CoherenceSetup& setup, const Fault& fault, const std::string& violation);

}  // namespace cxloom::test
