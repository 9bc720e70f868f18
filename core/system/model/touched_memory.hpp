// What memory is like once a program has touched its pages.
#pragma once

#include <cstdint>
#include <string>

namespace cxloom {

class PlacedStream;
class System;

/// What the media of a system remember of accesses (`Media::remembers`).
struct RememberedBytes {
  std::uint64_t bytes = 0;  ///< of all of them
  std::string first = {};   ///< a memory that does; empty: none
};
RememberedBytes remembered_by(const System& system);

/// The media that remember accesses are as if the program had touched its pages in their order before the
/// run. Takes time with what these media hold, not with the footprint.
void touch_memory(const System& system, const PlacedStream& program);

}  // namespace cxloom
