// A device that serves memory: the address map may lead to it.
#pragma once

#include "base/measure.hpp"
#include "base/units.hpp"

namespace cxloom {

class Media;

class MemoryOwner {
 public:
  /// Zero: it could have memory, and has none.
  virtual Bytes memory_capacity() const = 0;
  /// It has memory that serves any number of accesses at once, as far as is known.
  virtual bool memory_unlimited() const = 0;
  /// Gives the measures of its memory by name.
  virtual void report_memory(MeasureSink& sink) const = 0;
  /// Requests in it, over the time since the window opened: their number times picoseconds.
  virtual double memory_queue_integral(Time now) = 0;
  /// What stores its bytes; null if it has no memory.
  virtual Media* media() = 0;

 protected:
  ~MemoryOwner() = default;
};

}  // namespace cxloom
