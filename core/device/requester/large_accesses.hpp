// Accesses that are made as their lines, each a request of its own, and descriptors of copy engines: how many
// were completed in the window, and how long they took.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "base/measure.hpp"
#include "base/units.hpp"
#include "kernel/windowed.hpp"

namespace cxloom {

class Kernel;
class ReactiveStream;

struct LargeCounts {
  std::uint64_t accesses = 0;
  Time time;
};

class LargeAccesses {
 public:
  /// `engine`: the copy engine whose descriptors these are; null: accesses are known by their lines.
  LargeAccesses(Kernel& kernel, const ReactiveStream* engine);

  /// The request of that number, the next one, is made; its access may go on with the one behind it.
  void issued(std::uint64_t number, bool continues, Time created);
  /// One of all requests is answered.
  void answered(std::uint64_t number, Time now);

  /// One that is known by itself.
  void completed(Time since, Time now);

  void report(MeasureSink& sink) const;
  static std::vector<MeasureInfo> measures();

 private:
  /// One that is not completed, or behind one.
  struct LargeAccess {
    std::uint64_t first;  // numbers of its requests so far
    std::uint64_t last;
    std::uint64_t unanswered;
    Time since;
    bool whole;  // all its requests are made
  };

  const ReactiveStream* engine_;
  std::deque<LargeAccess> under_way_;  // in the order of their requests
  Windowed<LargeCounts> counts_;
};

}  // namespace cxloom
