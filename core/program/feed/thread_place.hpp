// Whether a thread under an emulator may tell something at the moment.
#pragma once

#include <cstdint>

#include "program/feed/ring.hpp"
#include "program/feed/system_call.hpp"

namespace cxloom {

/// Where a thread is, as far as that matters to a reader that waits for it. Of one in a call that may
/// wait the kernel of this machine is asked whether it sleeps: one that was only interrupted does not.
class ThreadPlace {
 public:
  /// It makes a call.
  void call(const SystemCall& call) { where_ = system_call::may_wait(call) ? kMayWait : kOutside; }
  /// The call is back.
  void end() { where_ = kOutside; }
  /// It will go on behind a call `by`; or wait again, if that is nobody's.
  void turn(const Release& by) {
    if (where_ != kOutside) where_ = by.thread == 0 ? kMayWait : kWoken;
  }
  /// It tells nothing, of the words in its ring `at` are read: true if it has fallen asleep, which is said
  /// once. One that nobody knows is taken to sleep: so are those of writers that do not say which thread they
  /// are.
  bool falls_asleep(const FeedRingHead& head, std::uint64_t at);
  /// Another has to go on before it does. Outside of calls that may wait it can sleep as well, within the
  /// emulator.
  bool is_asleep(const FeedRingHead& head, std::uint64_t at) const {
    return waits() || (where_ == kOutside && sleeps(head, at));
  }
  /// It sleeps in a call that may wait.
  bool waits() const { return where_ == kSleeps; }
  /// It sleeps, wherever that is.
  static bool sleeps(const FeedRingHead& head, std::uint64_t at);

 private:
  enum Where : std::uint8_t { kOutside, kMayWait, kSleeps, kWoken };  // the others: in a call that may wait

  Where where_ = kOutside;
};

}  // namespace cxloom
