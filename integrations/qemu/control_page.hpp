// The page of the rings by which reader and writers tell each other what all of them must know.
#pragma once

#include <cxloom/program_feed.hpp>

namespace cxloom::qemu {

/// Maps that of the rings in a folder. Null: there is none, or it is of another version.
FeedControl* map_control(const char* folder);

/// Tells the reader what went wrong, a sentence, if nothing did before.
__attribute__((format(printf, 2, 3))) void fail(FeedControl& control, const char* format, ...);

/// Makes a ring in a folder, or mutes the writer: what is emulated goes on whatever happens.
void open_ring(const char* folder, FeedControl& control, FeedWriter& writer,
               const FeedWriter::RingIdentity& ring);

}  // namespace cxloom::qemu
