// A path of limited bandwidth: what passes it starts no faster than its bytes take, in the order of the
// calls.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/units.hpp"

namespace cxloom {

class DataPath {
 public:
  explicit DataPath(const Bandwidth& bandwidth) : meter_(bandwidth.rate) {}

  const Rate& rate() const { return meter_.rate(); }
  bool unlimited() const { return meter_.rate().unlimited(); }

  /// What has passed by now has left it.
  bool is_free(Time now) const { return free_ <= now; }
  /// When what has passed has left it.
  Time free_from() const { return free_; }
  /// Takes `bytes` that are ready at `ready`; returns when they start.
  Time enter(Time ready, std::uint64_t bytes) {
    const Time start = std::max(ready, free_);
    meter_.restart_if(start > free_);
    free_ = start + meter_.advance(bytes);
    return start;
  }

 private:
  RateMeter meter_;
  Time free_;
};

}  // namespace cxloom
