#include "system/run/part_observer.hpp"

#include "base/prefetch_owned.hpp"
#include "kernel/outbox.hpp"

namespace cxloom {

void PartObserver::completed(const Request& request, Time now) {
  ++completed_;
  if (livelock_watch_.counts(request)) ++signs_of_life_;
  if (!window_.is_open()) return;
  observer_->completed(request, now);
  const Time latency = now - request.created();
  if (!side_by_side_) {
    measured_(request.kind, latency, request.moved_in_all(), now, request.failed);
  } else {
    answers_.push_back({kernel_.place(), latency, request.moved_in_all(), request.kind, request.failed});
    // Another thread may have read these lines.
    prefetch_owned(&answers_.back(), Outbox::kAhead);
  }
}

}  // namespace cxloom
