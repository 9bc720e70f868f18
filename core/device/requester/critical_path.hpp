// Where the time of threads that wait for each other goes: the chain of which each waited for the one before.
#pragma once

#include <cstdint>
#include <vector>

#include "device/requester/core_time.hpp"

namespace cxloom {

/// Where all of the time up to a moment of a thread went: in that thread since it waited last, in the one
/// that it waited for up to when that let it go on, and so forth. The parts sum to the moment, to the
/// picosecond.
struct PathUpTo {
  CoreTime time;
  std::uint32_t thread = 0;  ///< that moment is of this one
  std::uint32_t stay = 0;    ///< of CriticalPath: how the path came to it
};

/// Follows the path to each of the threads as they go on: what one did before it waited is not on its path
/// any more. It holds sixteen bytes for each time that a thread waited for another.
class CriticalPath {
 public:
  /// The path up to the moment at which the thread's own time is `own`.
  PathUpTo up_to(std::uint32_t thread, const CoreTime& own) const;
  /// The thread waited until its own time was `own` for one whose path was `by` when that let it go on. What
  /// lies between is idle.
  void goes_on(std::uint32_t thread, const CoreTime& own, const PathUpTo& by);
  /// The time that a path stays in each thread. The times sum to the path's.
  std::vector<Time> stays(const PathUpTo& path) const;

 private:
  struct Stay {
    Time from;
    std::uint32_t by = 0;      // the thread in which the path was before
    std::uint32_t before = 0;  // and its stay there
  };
  struct Thread {
    CoreTime before;  // of the path to it
    CoreTime from;    // its own time then
    std::uint32_t stay = 0;
  };
  static constexpr std::uint32_t kNone = 0;  // the path was in this thread from the start

  std::vector<Thread> threads_;  // threads that waited
  std::vector<Stay> stays_{1};
};

}  // namespace cxloom
