// Foreign code is tried in a process of its own first: one that crashes or ends the program takes only that
// along.
#pragma once

#include <functional>

namespace cxloom {

/// Runs `action` in a copy of this process, which is then thrown away with all that it did. Throws InputError
/// with how it failed: by an InputError of its own, by an exception that nobody caught, by a signal, or by
/// ending the process.
void try_out(const std::function<void()>& action);

}  // namespace cxloom
