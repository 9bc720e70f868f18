// The times in which a link of flits is down. An outage of its own keeps what it is about to send, as
// retraining does. A failure by an event loses that, and the link begins afresh when it is repaired.
#pragma once

#include <cstddef>
#include <vector>

#include "base/units.hpp"
#include "interconnect/wire/flit_params.hpp"

namespace cxloom {

class FlitOutage {
 public:
  explicit FlitOutage(const OutageParams& params) : params_(params), turns_back_(params.fail) {}

  /// The link is down until then.
  Time up_at() const { return up_at_; }
  /// The link is down, and messages that want to cross it do not wait.
  bool turns_back(Time now) const { return turns_back_ && up_at_ > now; }

  // An outage of the link's own.

  bool possible() const { return params_.at.has_value(); }
  /// When the outage begins; only if it is possible.
  Time begins_at() const { return *params_.at; }
  void begin(Time now) { up_at_ = now + params_.length; }
  /// When a flit that could start at `at` may, of an outage that has begun or will have by then.
  Time when_up(Time at) const {
    const bool down = params_.at && at >= *params_.at && at < *params_.at + params_.length;
    return down ? *params_.at + params_.length : at;
  }

  // A link that fails by events, which has no such outage.

  /// It goes down at these times, in their order.
  void expect_failures(const std::vector<Time>& at) { failures_ = at; }
  /// The link is up, and goes down before anything else at `at`, or sooner.
  bool fails_by(Time at) const { return next_failure_ < failures_.size() && failures_[next_failure_] <= at; }
  /// When the next failure is; only if there is one.
  Time fails_at() const { return failures_[next_failure_]; }
  /// The link is down now, for nobody knows how long.
  void fail(Time now) {
    up_at_ = Time::max();
    while (fails_by(now)) ++next_failure_;
  }
  bool failed() const { return up_at_ == Time::max(); }
  void close() { turns_back_ = true; }
  void repair(Time now) {
    up_at_ = now;
    turns_back_ = false;
  }

 private:
  OutageParams params_;
  Time up_at_;
  bool turns_back_;
  std::size_t next_failure_ = 0;
  std::vector<Time> failures_;
};

}  // namespace cxloom
