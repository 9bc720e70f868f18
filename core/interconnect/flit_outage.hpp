// The time in which a link of flits is down. What wants to cross it waits, or fails if the user says so.
#pragma once

#include "interconnect/flit_params.hpp"
#include "interconnect/link_path.hpp"

namespace cxloom {

class FlitOutage {
 public:
  explicit FlitOutage(const OutageParams& params) : params_(params) {}

  bool possible() const { return params_.at.has_value(); }
  /// When it begins; for those for which it is possible.
  Time begins_at() const { return *params_.at; }
  /// Requests that would cross the link while it is down fail.
  bool fails() const { return params_.fail; }

  void begin(Time now) { up_at_ = now + params_.length; }
  /// The link is down until then.
  Time up_at() const { return up_at_; }
  /// When a flit that could start at `at` may, of an outage that has begun or will have by then.
  Time when_up(Time at) const {
    const bool down = params_.at && at >= *params_.at && at < *params_.at + params_.length;
    return down ? *params_.at + params_.length : at;
  }

 private:
  OutageParams params_;
  Time up_at_;
};

/// Makes a request that cannot cross the link into its own error response, which the device in front of the link gives.
void answer_with_error(Message& request, LinkPath& path, Time now);

}  // namespace cxloom
