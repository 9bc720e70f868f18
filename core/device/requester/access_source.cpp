#include "device/requester/access_source.hpp"

#include <string>
#include <utility>

#include "base/error.hpp"
#include "base/measure_table.hpp"
#include "component/resource.hpp"
#include "workload/stream/reactive.hpp"

namespace cxloom {

namespace {

struct SourceMeasured {
  std::optional<Value> pages;
};

constexpr std::array kSourceMeasures{
    measure<&SourceMeasured::pages>(
        "pages", "",
        "its pages in each memory at the end of the run, by the memory's name. Absent where its addresses "
        "are physical"),
};

}  // namespace

AccessSource::AccessSource(const RequesterParams& params, const DeviceContext& context)
    : issue_interval_(params.issue_interval),
      instruction_time_(params.instruction_time),
      arrivals_(context.seed, context.name) {}

void AccessSource::begin(Work work, bool may_be_empty) {
  work_ = std::move(work);
  may_be_empty_ = may_be_empty;
  from_outside_ = work_.stream->from_outside();
  reactive_ = work_.stream->reactive();
  arrivals_.begin(work_);
}

// Only some works have answers to follow or timestamps, and only the last access ends the work: these are
// functions of their own, so that every other access is spared them. Cores often have none to give.
[[gnu::hot]] void AccessSource::fetch(const RequestCount& made, Time now) {
  const bool may_have_more = reactive_ ? goes_on(made, now) : !enough(made);
  has_next_ = may_have_more && work_.stream->next(next_);
  if (reactive_) [[unlikely]]
    gives_at_ = has_next_ ? std::nullopt : reactive_->gives_at();
  if (has_next_) {
    exhausted_ = false;
    has_gaps_ |= next_.instruction_gap != 0;
    if (work_.timestamps) [[unlikely]]
      take_timestamp(made);
    earliest_ = earliest_issue(made);
    return;
  }
  exhausted_ = !(may_have_more && work_.stream->open());
  if (exhausted_) check_warmup(made);
}

// Where work goes by answers, what was begun is brought to its end.
bool AccessSource::goes_on(const RequestCount& made, Time now) {
  reactive_->at(now);
  if (made.enough()) reactive_->finish();
  return !ceased_;
}

void AccessSource::check_warmup(const RequestCount& made) const {
  if (!made.counting() && made.issued() <= work_.warmup && !(may_be_empty_ && work_.warmup == 0)) {
    throw InputError({"the work ends during the warm-up",
                      counted(made.issued(), "access"),
                      "more accesses than run.warmup, which is " + std::to_string(work_.warmup),
                      {}},
                     work_.name);
  }
}

void AccessSource::take_timestamp(const RequestCount& made) {
  if (!next_.timed) {
    throw InputError(
        {"access " + std::to_string(made.issued()) + " has no timestamp", {}, "replay: closed", {}},
        work_.name);
  }
  arrivals_.at_timestamp(next_.timestamp);
}

inline Time AccessSource::earliest_issue(const RequestCount& made) const {
  if (made.issued() == 0) return begins(Time{});
  const Time gap = instruction_time_ * next_.instruction_gap;
  return std::max(begins(Time{}), last_issue_ + std::max(issue_interval_, gap));
}

Requester::Progress AccessSource::progress(const RequestCount& made) const {
  const bool goes_round = has_work() && !work_.requests && work_.stream->repeats();
  return {.trace_ended = exhausted_ && !enough(made) && !from_outside_,
          .waits_for_outside = from_outside_ && work_.stream->open() && !has_next_,
          .open_loop = arrivals_.open_loop(),
          .has_instruction_gaps = has_gaps_,
          .goes_by_answers = reactive_ != nullptr,
          .warmup = work_.warmup,
          .issued = made.issued(),
          .issued_before_window = made.issued_before_window(),
          .expected = expected(made),
          .left_at_least = left_at_least(made),
          .may_store_past = has_work() && ((has_next_ && next_.past) || work_.stream->may_store_past()),
          .goes_round_for_ever = goes_round && !exhausted_ && !work_.stream->length()};
}

std::optional<std::uint64_t> AccessSource::expected(const RequestCount& made) const {
  if (ceased_) return made.issued();
  if (work_.requests) return made.issued_before_window() + *work_.requests;
  return has_work() ? work_.stream->length() : std::optional<std::uint64_t>(0);
}

std::uint64_t AccessSource::left_at_least(const RequestCount& made) const {
  if (ceased_ || exhausted_ || !has_work()) return 0;
  const std::uint64_t coming = work_.stream->left_at_least();
  const std::uint64_t in_stream = coming == AccessStream::kEndless ? coming : coming + (has_next_ ? 1 : 0);
  return work_.requests ? std::min(in_stream, *expected(made) - made.issued()) : in_stream;
}

void AccessSource::resources(ResourceSink& sink) const {
  if (issue_interval_ == Time{}) return;
  sink.add({.name = "the time between two issues of",
            .stage = Stage::kRequester,
            .capacity = 1e9 / issue_interval_.ns(),
            .occupancy = Occupancy::kRate,
            .measures = {"per_requester.*.requests"},
            .wait = Segment::kRequesterQueue,
            .counts = Traffic::kRequests,
            .part = "requester",
            .twice = {{"issue_interval", to_text(Time{std::max<std::int64_t>(issue_interval_.ps() / 2, 1)})}},
            .twice_text = "half the time"});
}

std::vector<MeasureInfo> AccessSource::measures() { return infos_of(kSourceMeasures); }

void AccessSource::report(MeasureSink& sink) const {
  if (has_work()) report_all(kSourceMeasures, {work_.stream->pages_by_node()}, sink);
}

}  // namespace cxloom
