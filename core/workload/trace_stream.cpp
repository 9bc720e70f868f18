#include "workload/trace_stream.hpp"

#include <string>
#include <utility>

#include "base/error.hpp"

namespace cxloom {

TraceStream::TraceStream(Refill refill, std::optional<std::uint64_t> length)
    : refill_(std::move(refill)), length_(length) {
  this->refill();
}

bool TraceStream::next(Access& access) {
  if (exhausted()) return false;
  access = batch_[at_++];
  // Looking ahead here is what makes the end known with the last access.
  if (at_ == batch_.size()) refill();
  return true;
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
  } while (batch.empty());
  batch_ = std::move(batch);
  before_ = before;
  at_ = 0;
  const std::uint64_t total = before_ + batch_.size();
  if (!length_ && !refill_) length_ = total;
  if (length_ && (total > *length_ || (!refill_ && total < *length_))) {
    throw InputError({total > *length_ ? "the trace goes on after its stated length" : "the trace is cut off",
                      counted(total, "access"),
                      counted(*length_, "access"),
                      {}});
  }
}

}  // namespace cxloom
