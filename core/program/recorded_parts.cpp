#include "program/recorded_parts.hpp"

#include <limits>

#include "base/error.hpp"

namespace cxloom {

RecordedParts::RecordedParts(bool regions, std::uint64_t window, std::uint64_t period)
    : in_regions_(regions),
      window_(window),
      period_(period),
      change_(std::numeric_limits<std::uint64_t>::max()) {
  ensure(window <= period, "a window longer than its period");
  if (window > 0 && window < period) {
    in_window_ = false;
    change_ = period - window;
  }
}

}  // namespace cxloom
