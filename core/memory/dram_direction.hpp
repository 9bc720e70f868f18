// Whether reads or writes go. Reads go first; writes are drained where no read waits, or once they are many, until they are few.
#pragma once

#include <cstdint>

#include "memory/dram_params.hpp"

namespace cxloom {

class DramDirection {
 public:
  explicit DramDirection(const DramConfig& config) : high_(config.write_high), low_(config.write_low) {}

  bool writing() const { return writing_; }
  /// So many wait now. Returns whether the direction has changed.
  bool turn(std::uint32_t reads, std::uint32_t writes) {
    const bool before = writing_;
    if (writing_) {
      if (writes == 0 || (reads != 0 && writes <= low_)) writing_ = false;
    } else if (writes >= high_ || (reads == 0 && writes != 0)) {
      writing_ = true;
    }
    return before != writing_;
  }
  /// While writes go: so many of those that wait go before the next read.
  std::uint32_t writes_before_reads(std::uint32_t writes) const { return writes > low_ ? writes - low_ : 0; }

 private:
  const std::uint32_t high_;
  const std::uint32_t low_;
  bool writing_ = false;
};

}  // namespace cxloom
