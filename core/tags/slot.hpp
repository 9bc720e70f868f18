// Places in a tag array.
#pragma once

#include <cstdint>

namespace cxloom {

/// The index of a line's place in a tag array; stable as long as the line stays.
/// The slots of a set lie side by side: `set * ways` is the first of them.
using Slot = std::uint32_t;
inline constexpr Slot kNoSlot = ~Slot{0};

}  // namespace cxloom
