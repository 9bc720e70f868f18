#include "workload/trace/stream.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "base/error.hpp"

namespace cxloom {

namespace {

// Records of a trace up to which they are kept for its other rounds: opening a file takes as long as some ten
// requests.
constexpr std::size_t kMostKept = 1024;

/// The records of a round.
struct KeptRound {
  std::vector<Access> records;
  bool few = true;  // so far
  bool whole = false;

  void keep(const std::vector<Access>& batch) {
    few = few && records.size() + batch.size() <= kMostKept;
    if (few) records.insert(records.end(), batch.begin(), batch.end());
    else records = {};
  }
};

/// `again` for each round, or if the trace is short for the first one alone.
TraceStream::Again read_once_if_short(const TraceStream::Again& again) {
  return [again, kept = std::make_shared<KeptRound>()]() -> TraceStream::Refill {
    if (kept->whole) {
      return [kept, given = false](std::vector<Access>& batch) mutable {
        if (std::exchange(given, true)) return false;
        batch = kept->records;
        return true;
      };
    }
    return [refill = again(), kept](std::vector<Access>& batch) {
      const bool more = refill(batch);
      if (more) kept->keep(batch);
      else kept->whole = kept->few;
      return more;
    };
  };
}

}  // namespace

TraceStream::TraceStream(Refill refill, std::optional<std::uint64_t> length, bool cores,
                         std::shared_ptr<BatchTimes> times, Want want)
    : refill_(std::move(refill)),
      cores_(cores),
      want_(std::move(want)),
      length_(length),
      notes_(cores),
      times_(std::move(times)) {
  this->refill();
}

TraceStream::TraceStream(const Again& again, Rounds rounds, std::optional<std::uint64_t> length, bool cores)
    : again_(read_once_if_short(again)), rounds_(rounds), cores_(cores), notes_(cores) {
  refill_ = again_();
  if (length && !rounds.forever()) length_ = *length * rounds.count;
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

// False: that was the last round.
bool TraceStream::begin_round() {
  if (rounds_begun_ == rounds_.count || read_ == read_before_round_) return false;
  if (rounds_begun_ == 1) know_length();
  ++rounds_begun_;
  read_before_round_ = read_;
  round_start_ = latest_;
  refill_ = again_();
  return true;
}

// The first round is over. More than can be counted is as good as without an end.
void TraceStream::know_length() {
  const std::uint64_t of_round = read_ - notes_.count();
  if (!rounds_.forever() && of_round <= ~std::uint64_t{0} / rounds_.count)
    of_all_rounds_ = of_round * rounds_.count;
}

// Calls are told by their numbers, which a second round would have again.
void TraceStream::check_repeatable(const std::vector<Access>& batch) const {
  if (!cores_ || rounds_begun_ > 1 ||
      std::ranges::none_of(batch, [](const Access& access) { return access.enters_kernel(); }))
    return;
  throw InputError(
      {"a trace with system calls cannot be repeated on cores", {}, "repeat: 1, or a host without core", {}},
      "repeat");
}

void TraceStream::go_on_in_time(std::vector<Access>& batch) {
  for (Access& access : batch) {
    if (!access.timed) continue;
    if (access.timestamp > Time::max() - round_start_)
      throw InputError({"the times of the repeated trace are too large", {}, "fewer rounds", {}}, "repeat");
    access.timestamp += round_start_;
    latest_ = access.timestamp;
  }
}

void TraceStream::refill() {
  if (!refill_) return;
  std::uint64_t before = before_ + at_;
  std::vector<Access> batch = std::move(batch_);  // keeps its capacity
  do {
    batch.clear();
    if (!refill_(batch)) {
      batch.clear();
      if (begin_round()) continue;
      refill_ = nullptr;
      break;
    }
    read_ += batch.size();
    if (!rounds_.once()) {
      check_repeatable(batch);
      go_on_in_time(batch);
    }
    notes_.apply(batch);
    if (times_) times_->append(batch.size());
  } while (batch.empty());
  batch_ = std::move(batch);
  batch_stores_past_ = std::ranges::any_of(batch_, [](const Access& each) { return each.past; });
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
