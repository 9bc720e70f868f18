// The page of the rings by which reader and writers tell each other what all of them must know.
#pragma once

#include <cxloom/program_feed.hpp>

namespace cxloom::qemu {

/// Maps that of the rings in a folder. Null: there is none, or it is of another version.
FeedControl* map_control(const char* folder);

}  // namespace cxloom::qemu
