// The interface of a stream whose accesses depend on the answers to those before, and on the time: an engine
// that writes what it has read. Its requester asks it again after each answer.
#pragma once

#include <optional>

#include "base/units.hpp"

namespace cxloom {

class ResourceSink;

class ReactiveStream {
 public:
  /// The time at which it is asked for its next access.
  virtual void at(Time now) = 0;
  /// It has just had none: when it will, if nothing is answered before; none: not before an answer.
  virtual std::optional<Time> gives_at() const = 0;
  /// It begins nothing new, and still gives what belongs to what it has begun.
  virtual void finish() = 0;
  /// The answer that it was told of last completed something: when that had begun.
  virtual std::optional<Time> completed() const = 0;
  /// What it is, for people.
  virtual const char* what() const { return "a copy engine"; }
  /// What of it can fill up; the settings that give more of it are keys of the workload.
  virtual void resources(ResourceSink& sink) const = 0;

 protected:
  ~ReactiveStream() = default;
};

}  // namespace cxloom
