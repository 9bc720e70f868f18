// The output of valgrind's lackey on its way into a trace.
#pragma once

#include <string_view>
#include <vector>

#include "workload/trace/capture_filter.hpp"
#include "workload/trace/lackey.hpp"

namespace cxloom {

/// Fed the output of lackey block by block, gives the filter its accesses. Lackey knows of no dependences.
class LackeyCapture {
 public:
  explicit LackeyCapture(CaptureFilter& filter) : filter_(filter) {}

  /// Appends the records of the lines that the block completes. Throws TraceError.
  void feed(std::string_view block, std::vector<Access>& records) {
    accesses_.clear();
    parser_.feed(block, accesses_);
    for (const Access& access : accesses_) filter_.access(access, 0, records);
  }
  /// Tells that the input has ended; throws TraceError if it ended within a line or held no access at all.
  void finish() { parser_.finish(); }

 private:
  CaptureFilter& filter_;
  LackeyParser parser_;
  std::vector<Access> accesses_;  // of the block at hand
};

}  // namespace cxloom
