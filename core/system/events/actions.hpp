// What the events of a spec do: a class for each sort of them.
#pragma once

#include <cstddef>
#include <string>

#include "base/error.hpp"
#include "system/spec/event_params.hpp"

namespace cxloom {

/// Throws InputError for an event that cannot happen.
[[noreturn]] inline void refuse_event(const std::string& problem, const std::string& found,
                                      const std::string& allowed) {
  throw InputError({problem, found, allowed, {}});
}

/// The actions of one sort of events.
class EventActions {
 public:
  EventActions() = default;
  EventActions(const EventActions&) = delete;
  EventActions& operator=(const EventActions&) = delete;
  virtual ~EventActions() = default;

  /// Whether events like this one are its own.
  virtual bool has(const EventParams& event) const = 0;
  /// Checks that the event of this number can happen once the events before it
  /// have, which it was asked about before. The system is built. Throws InputError.
  virtual void expect(std::size_t number, const EventParams& event) = 0;
  /// Checks what `expect` could not, as requesters had no work yet. Throws InputError.
  virtual void expect_work(const EventParams& /*event*/) {}
  /// It happens.
  virtual void act(std::size_t number, const EventParams& event) = 0;

  /// What has happened may still touch any part of the system, at times that nobody knows. If it may not, all
  /// that is left of it are events of the kernel that it was given, and what each device does by itself.
  virtual bool unsettled() const { return false; }
};

}  // namespace cxloom
