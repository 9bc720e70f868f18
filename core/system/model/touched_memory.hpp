// What memory is like once a program has touched its pages.
#pragma once

namespace cxloom {

class PlacedStream;
class System;

/// The media that remember accesses are as if the program had touched its pages in their order before the
/// run. Takes time with what these media hold, not with the footprint.
void touch_memory(const System& system, const PlacedStream& program);

}  // namespace cxloom
