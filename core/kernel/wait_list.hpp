// The one way to wait: for a queue slot, a credit, a wire, a bank. A waiter is in one list at a time, is
// woken and never polls. Each list names a resource and its holder, so that a deadlock can be described in
// words.
#pragma once

#include <string>

#include "base/units.hpp"

namespace cxloom {

class EventHandler;
class Kernel;
class WaitList;

/// Something that can wait. Its owner says what it does once its turn comes.
class Waiter {
 public:
  Waiter() = default;
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;
  virtual ~Waiter() = default;

  Time since() const { return since_; }
  Waiter* next() const { return next_; }
  /// The component that waits, for the diagnosis.
  virtual const EventHandler& owner() const = 0;

 private:
  friend class WaitList;
  Waiter* next_ = nullptr;
  Waiter* previous_ = nullptr;
  Time since_;
};

/// Two pointers. The kernel keeps its name, so that the state that a message touches stays small.
class WaitList {
 public:
  /// `resource` is a literal, `holder` has it now. Registers itself for the diagnosis.
  WaitList(Kernel& kernel, const char* resource, const EventHandler& holder);
  WaitList(const WaitList&) = delete;
  WaitList& operator=(const WaitList&) = delete;

  bool empty() const { return first_ == nullptr; }
  Waiter* first() const { return first_; }

  /// Joins at the end.
  void join(Waiter& waiter, Time now) {
    waiter.since_ = now;
    waiter.previous_ = last_;
    waiter.next_ = nullptr;
    (last_ ? last_->next_ : first_) = &waiter;
    last_ = &waiter;
  }
  /// Leaves and joins at the end.
  void join_again(Waiter& waiter, Time now) {
    if (last_ != &waiter) [[unlikely]] {
      leave(waiter);
      join(waiter, now);
    }
    waiter.since_ = now;
  }
  /// Leaves from any place.
  void leave(Waiter& waiter) {
    (waiter.previous_ ? waiter.previous_->next_ : first_) = waiter.next_;
    (waiter.next_ ? waiter.next_->previous_ : last_) = waiter.previous_;
  }

 private:
  Waiter* first_ = nullptr;
  Waiter* last_ = nullptr;
};

/// The resource that a list waits for.
struct WaitedFor {
  const WaitList* list;
  const char* resource;        ///< a literal
  const EventHandler* holder;  ///< has it now
};

/// The waiters and the holders of what they wait for, a line each, and the circle among them if there is one:
/// why a simulation with nothing left to do has not finished.
std::string describe_waits(const Kernel& kernel);

}  // namespace cxloom
