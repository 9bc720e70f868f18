// Whether all see the contents of persist buffers: all ways to a line lead through the same buffers.
#pragma once

namespace cxloom {

class System;

/// Throws InputError for a way to persistent memory that avoids a buffer which another way passes, at the
/// beginning or around what fails, for a buffer on no such way, and for what reorders the messages of a
/// buffer. Failures are known.
void check_persist_buffers(const System& system);

}  // namespace cxloom
