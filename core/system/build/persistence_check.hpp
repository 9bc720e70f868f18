// Whether all see the contents of persist buffers: all ways to a line lead through the same buffers.
#pragma once

#include <vector>

namespace cxloom {

struct EventParams;

class System;

/// Throws InputError for a way to persistent memory that avoids a buffer which another way passes, for a
/// buffer on no such way, and for what loses or reorders the messages of a buffer. `events` happen during the
/// run.
void check_persist_buffers(const System& system, const std::vector<EventParams>& events);

}  // namespace cxloom
