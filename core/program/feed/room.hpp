// The reader's word to a writer that there is room in its ring again.
#pragma once

#include <cstdint>

#include "program/feed/ring.hpp"

namespace cxloom {

/// So many words of the ring were read. A writer that rests goes on once half of the ring is free: it would
/// else run and rest for each turn of the reader.
void note_read(FeedRingHead& head, std::uint64_t words);

}  // namespace cxloom
