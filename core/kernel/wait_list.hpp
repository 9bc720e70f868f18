// The one way to wait: for a queue slot, a credit, a wire, a bank. A waiter is in one list at a time, is woken and
// never polls. Each list names what is waited for and who holds it, so that a deadlock can be told in words.
#pragma once

#include <cstddef>
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

  bool waiting() const { return list_ != nullptr; }
  Time since() const { return since_; }
  Waiter* next() const { return next_; }
  const EventHandler* owner() const { return owner_; }
  void set_owner(const EventHandler& owner) { owner_ = &owner; }

 protected:
  ~Waiter() = default;

 private:
  friend class WaitList;
  WaitList* list_ = nullptr;
  Waiter* next_ = nullptr;
  Waiter* previous_ = nullptr;
  Time since_;
  const EventHandler* owner_ = nullptr;
};

class WaitList {
 public:
  /// `resource` (a literal) is what is waited for, `holder` who has it now. Registers itself for the diagnosis.
  WaitList(Kernel& kernel, const char* resource, const EventHandler& holder);
  WaitList(const WaitList&) = delete;
  WaitList& operator=(const WaitList&) = delete;

  bool empty() const { return first_ == nullptr; }
  std::size_t size() const { return size_; }
  Waiter* first() const { return first_; }
  const char* resource() const { return resource_; }
  const EventHandler& holder() const { return *holder_; }

  /// Joins at the end.
  void join(Waiter& waiter, Time now) {
    waiter.list_ = this;
    waiter.since_ = now;
    waiter.previous_ = last_;
    waiter.next_ = nullptr;
    (last_ ? last_->next_ : first_) = &waiter;
    last_ = &waiter;
    ++size_;
  }
  /// Leaves from any place.
  void leave(Waiter& waiter) {
    (waiter.previous_ ? waiter.previous_->next_ : first_) = waiter.next_;
    (waiter.next_ ? waiter.next_->previous_ : last_) = waiter.previous_;
    waiter.list_ = nullptr;
    --size_;
  }

 private:
  Waiter* first_ = nullptr;
  Waiter* last_ = nullptr;
  std::size_t size_ = 0;
  const char* resource_;
  const EventHandler* holder_;
};

/// Who waits for what held by whom, a line each, and the circle among them if there is one: why a simulation with
/// nothing left to do has not finished.
std::string describe_waits(const Kernel& kernel);

}  // namespace cxloom
