// The end of programs whose reader was killed.
#pragma once

#include <cxloom/program_feed.hpp>

namespace cxloom::qemu {

/// Whether the reader is gone already.
bool is_reader_gone(const FeedControl& control);

/// Begins a thread that kills this process a tenth of a second after the reader was killed, whatever the
/// program does or waits for. It keeps no descriptor open, of which the program could notice the number. A
/// reader that stops in good order ends its programs itself. Where no thread can be made the program is not
/// watched. A fork has to call it again.
void watch_reader(FeedControl& control);

}  // namespace cxloom::qemu
