#include "workload/trace_stream.hpp"

#include <string>
#include <utility>

#include "base/error.hpp"

namespace cxloom {

TraceStream::TraceStream(Refill refill, std::optional<std::uint64_t> length, bool cores,
                         std::shared_ptr<BatchTimes> times, Want want)
    : refill_(std::move(refill)),
      want_(std::move(want)),
      length_(length),
      notes_(cores),
      times_(std::move(times)) {
  this->refill();
}

bool TraceStream::next(Access& access) {
  if (exhausted()) return false;
  access = batch_[at_++];
  // Looking ahead here is what makes the end known with the last access.
  if (at_ == batch_.size()) refill();
  return true;
}

// Nobody waits for what a cache writes back.
void TraceStream::answered(std::uint64_t number, const Request& request, Time now) {
  if (request.kind != AccessKind::kWrite) times_->answered(number, now);
}

void TraceStream::refill() {
  if (!refill_) return;
  std::uint64_t before = before_ + at_;
  std::vector<Access> batch = std::move(batch_);  // keeps its capacity
  do {
    batch.clear();
    if (!refill_(batch)) {
      batch.clear();
      refill_ = nullptr;
      break;
    }
    read_ += batch.size();
    notes_.apply(batch);
    if (times_) times_->append(batch.size());
  } while (batch.empty());
  batch_ = std::move(batch);
  before_ = before;
  at_ = 0;
  if (!length_ && !refill_) length_ = read_;
  if (length_ && (read_ > *length_ || (!refill_ && read_ < *length_))) {
    throw InputError({read_ > *length_ ? "the trace goes on after its stated length" : "the trace is cut off",
                      counted(read_, "access"),
                      counted(*length_, "access"),
                      {}});
  }
}

}  // namespace cxloom
