// Where the time of a core goes: to its instructions, or to what they waited for.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/units.hpp"
#include "protocol/account.hpp"

namespace cxloom {

/// The parts sum to `total`, to the picosecond.
struct CoreTime {
  std::uint64_t instructions = 0;
  Time total;
  Time busy;    ///< its instructions take so long if nothing waits for memory
  Time chain;   ///< computing between the answer to one access and another that needs it, and filling the
                ///< window again
  Time mshr;    ///< waiting for others' answers before an access could be made
  Time walk;    ///< waiting for page walks, or for a walker
  Time idle;    ///< its thread had nothing to do
  Time kernel;  ///< the kernel worked on the program's pages
  std::array<Time, kSegmentCount>
      memory{};  ///< waiting for an answer, as the account of its request divides it

  CoreTime& operator+=(const CoreTime& other) { return join(other, +1); }
  CoreTime& operator-=(const CoreTime& other) { return join(other, -1); }

 private:
  CoreTime& join(const CoreTime& other, std::int64_t sign) {
    instructions += other.instructions * static_cast<std::uint64_t>(sign);
    total += other.total * sign;
    busy += other.busy * sign;
    chain += other.chain * sign;
    mshr += other.mshr * sign;
    walk += other.walk * sign;
    idle += other.idle * sign;
    kernel += other.kernel * sign;
    for (std::size_t i = 0; i < kSegmentCount; ++i) memory[i] += other.memory[i] * sign;
    return *this;
  }
};

}  // namespace cxloom
