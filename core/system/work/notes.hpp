// What the requesters of a run did otherwise than the spec says, for people.
#pragma once

#include <string>
#include <vector>

namespace cxloom {

class System;

struct RunCircumstances {
  bool cut_short = false;     ///< it ended before its work did
  bool from_outside = false;  ///< accesses came from outside
  bool timed_window = false;  ///< the window opened at a given time, whichever requester was warm
};

/// A sentence each, once the run is over.
std::vector<std::string> notes_on_work(const System& system, const RunCircumstances& run);

}  // namespace cxloom
