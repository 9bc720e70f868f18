// One out-of-order core, which runs one thread: when each of its accesses comes into the reorder window, and
// what it waited for.
#pragma once

#include <cstdint>
#include <vector>

#include "base/ring.hpp"
#include "device/requester/core_access.hpp"
#include "device/requester/core_params.hpp"
#include "device/requester/core_time.hpp"
#include "protocol/charged_segments.hpp"

namespace cxloom {

/// An interval model: instructions come into the window at the pace that they have where nothing waits for
/// memory, and stop where
/// - the instruction `window` places before has not retired. Instructions retire in order, `width` per cycle,
/// and none before the
///   answer to a read or an atomic operation that is before it;
/// - the access is a store, and the `store_buffer` stores before it are not done. They are done in order;
/// - the access is behind a fence, and an access before it is not answered;
/// - the access is behind a branch that was predicted wrongly, and what the branch needs is not there, or
///   behind a store of a program for which there was no place in the store buffer.
///
/// It schedules no events. Whoever uses it reports what has been answered; it says when the next access comes
/// into the window, be that now, before or later.
class Core {
 public:
  explicit Core(const CoreParams& params);

  /// Lets the next access of the thread, `gap` instructions after the one before, into the window, and gives
  /// true; or false, if that goes by the answer to `holder()`, which is not there yet.
  bool dispatch(CoreAccess& access, std::uint32_t gap);
  const CoreAccess* holder() const { return holder_; }
  /// The access of that number, if it is still in the window or the store buffer; null if not.
  const CoreAccess* find(std::uint64_t number) const;
  /// Nothing comes for now. Its accesses are answered.
  void rest();
  /// The thread, which had nothing to do, goes on at `now` or later.
  void wake_at(Time now);
  /// The kernel takes so much of its time.
  void interrupt(Time time);
  /// Takes the next access that left the window or the store buffer and is used by them no longer; null if
  /// there is none.
  CoreAccess* take_left();

  /// The time of so many cycles.
  Time cycles(std::uint64_t count) const;
  /// The time up to the last dispatch, or later if it rests.
  const CoreTime& time() const { return time_; }
  /// Waits for accesses, by the process of each: all of the time but that of its instructions, that in which
  /// it had nothing to do, and interrupts.
  const std::vector<Time>& waits() const { return waits_; }
  /// Up to where the time is accounted for.
  Time clock() const { return clock_; }

 private:
  /// The thread that was waited for.
  struct Blame {
    Time ready;
    Time created;
    Time done;
    ChargedSegments segments;
    std::uint16_t process = 0;
    bool walk = false;
  };
  /// The latest of several times, and who made it so late.
  struct Bound {
    bool known = false;
    Time time;
    Blame blame;
    void raise(Time to, const CoreAccess& by);
  };

  Time slots(std::uint64_t instructions) const;
  Time pace(const Access& access, std::uint32_t gap);
  bool is_before(const CoreAccess& older, const CoreAccess& access) const;
  bool may_come(const CoreAccess& access);
  bool held_by(const CoreAccess& access);
  void wait_for_branch(const CoreAccess& branch);
  void retire(std::uint64_t position);
  void drain_store();
  void leave(CoreAccess& access);
  void wait_for(const Bound& bound, Time after = {});

  CoreParams params_;
  std::uint64_t milli_cycles_an_instruction_;
  std::uint64_t position_ = 0;  // instructions so far
  std::uint64_t paced_ = 0;     // of these, ones without cycles of their own
  std::uint64_t given_ = 0;     // cycles of the others
  bool timed_ = false;          // accesses have cycles
  const CoreAccess* holder_ = nullptr;
  Ring<CoreAccess*> window_;  // in order; the last `window` instructions, or a few more
  std::size_t answered_ = 0;  // at its front nobody waits for so many
  Ring<CoreAccess*> stores_;  // in order, without answers or behind one without
  Ring<CoreAccess*> left_;
  Bound retirement_;  // of the time at which the first instruction would have retired, had it waited for what
                      // the instructions before it waited for
  Bound stores_done_;  // stores that left the store buffer
  Bound answers_;      // to all that left the window or the store buffer
  Time clock_;
  CoreTime time_;
  std::vector<Time> waits_;  // by process
};

}  // namespace cxloom
