// Litmus tests of memory ordering: short programs of several threads, and what their reads may see.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "core/support/coherence_bench.hpp"

namespace cxloom::test {

/// The accesses of each thread, to the lines x and y (0 and 1).
using LitmusProgram = std::vector<std::vector<Step>>;
/// "1 0": what the reads and atomic operations see, in the order of the text, and then of each line that is
/// written more than once what is there in the end. A write, and an atomic operation, writes the number of
/// those to its line so far, in the order of the text.
using LitmusOutcomes = std::set<std::string>;

/// Reads "Wx F Wy / Ry F Ax", where F is a fence, and A an atomic operation.
LitmusProgram litmus_program(const std::string& text);

/// What a memory without caches gives if accesses take effect one after the other: those of a thread in their
/// order, or only those of a thread to the same line.
LitmusOutcomes outcomes_in_order(const LitmusProgram& program);
LitmusOutcomes outcomes_in_order_of_lines(const LitmusProgram& program);

/// What the caches have before.
enum class LitmusStart : std::uint8_t {
  kEmpty,
  kShared,  ///< each thread has read the line that it uses last
  kOwned,   ///< each thread has written it, the first thread last
};

struct LitmusFound {
  LitmusOutcomes outcomes;
  Exploration exploration;
};
/// What the simulator's agents give in all orders of messages, with so many requests of a thread in flight at
/// most. `system` is without hosts: each thread gets a cache.
LitmusFound outcomes_explored(const LitmusProgram& program, LitmusStart start, CoherenceSetup system,
                              const CacheAgentParams& cache, std::uint32_t in_flight,
                              AtomicsAt atomics = AtomicsAt::kCache);

/// All that could be written down, be it possible or not.
LitmusOutcomes outcomes_thinkable(const LitmusProgram& program);

}  // namespace cxloom::test
