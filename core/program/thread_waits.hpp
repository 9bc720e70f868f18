// The threads that a thread waits for in its system calls, as the trace says it.
#pragma once

#include <cstdint>

#include "program/feed/system_call.hpp"

namespace cxloom {

/// The latest calls of all threads. Of a thread that waited for nobody who is known, somebody else's latest
/// call is taken to have let it go on: who let it has been told before.
class LatestCalls {
 public:
  void add(std::uint32_t thread, const SystemCall& call) {
    if (latest_.thread != thread) of_another_ = latest_;
    latest_ = {thread, call.order};
  }
  /// The latest one that was not this thread's; of nobody if there is none.
  const Release& of_another_than(std::uint32_t thread) const {
    return latest_.thread != thread ? latest_ : of_another_;
  }

 private:
  Release latest_;
  Release of_another_;  // the latest one of another thread than that
};

/// The call that a thread is in, if it may wait there, and what was said of that.
class ThreadWaits {
 public:
  /// It makes a call.
  void call(const SystemCall& call);
  /// It was found asleep.
  void sleep() { asleep_ = true; }
  /// It was said to go on behind a call `by`; or to wait again, if that is nobody's.
  void turn(const Release& by);

  /// What to report when a call is back.
  struct Back {
    Release behind;  ///< the call behind which it goes on, its own perhaps; of nobody if it goes on anyway
    bool comes_by = false;  ///< how far it has come: it slept for an unknown thread
  };
  Back end(std::uint32_t thread, const SystemCallEnd& end, const LatestCalls& latest);

 private:
  std::uint64_t call_ = 0;    // that it is in, if it may wait there
  bool asleep_ = false;       // there, as far as was told
  std::uint64_t behind_ = 0;  // the call behind which it was said to go on from there
};

}  // namespace cxloom
