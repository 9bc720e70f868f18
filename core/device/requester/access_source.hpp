// The accesses of a requester's work, one after the other: the next one, and when it may be issued.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/measure.hpp"
#include "base/units.hpp"
#include "device/context/context.hpp"
#include "device/requester/arrival_process.hpp"
#include "device/requester/params.hpp"
#include "device/requester/request_count.hpp"
#include "device/requester/requester.hpp"
#include "workload/work.hpp"

namespace cxloom {

class ResourceSink;

class AccessSource {
 public:
  AccessSource(const RequesterParams& params, const DeviceContext& context);

  /// `may_be_empty`: no access needs to come for time to pass.
  void begin(Work work, bool may_be_empty);
  bool has_work() const { return work_.stream != nullptr; }
  const Work& work() const { return work_; }

  /// Takes the next access from the stream, where `made` are there before it. Throws InputError if it ends
  /// during the warm-up, or has no timestamp where each has to have one.
  void fetch(const RequestCount& made, Time now);
  /// What it takes depends on answers; null: it does not.
  ReactiveStream* reactive() const { return reactive_; }
  /// There is no next one, and there will be one at that time if nothing is answered before.
  const std::optional<Time>& gives_at() const { return gives_at_; }
  bool has_next() const { return has_next_; }
  Access& next() { return next_; }
  /// The next one cannot be issued before.
  Time earliest() const { return earliest_; }
  void delay(Time until) { earliest_ = std::max(earliest_, until); }
  /// When the clock of the next one starts, if it is issued now.
  Time begins(Time now) const { return arrivals_.open_loop() ? arrivals_.next() : now; }
  /// When the clock of its latency starts. What comes from outside may have waited for its place since
  /// before.
  Time came(Time now) const {
    if (from_outside_ && next_.timed) [[unlikely]]
      return next_.timestamp;
    return begins(now);
  }
  /// The next one has been.
  void issued(Time now) {
    last_issue_ = now;
    if (!next_.continues) arrivals_.advance();
  }

  /// There is no next one, and there will be none.
  bool exhausted() const { return exhausted_; }
  void cease() {
    ceased_ = exhausted_ = true;
    has_next_ = false;
  }
  /// It ends here, be the stream at its end or not.
  bool enough(const RequestCount& made) const { return ceased_ || made.enough(); }
  /// Where its work is, as far as that depends on no answer.
  Requester::Progress progress(const RequestCount& made) const;
  void resources(ResourceSink& sink) const;
  void report(MeasureSink& sink) const;
  static std::vector<MeasureInfo> measures();

 private:
  /// Accesses in all, where that is known.
  std::optional<std::uint64_t> expected(const RequestCount& made) const;
  /// Accesses that are sure to come, the next one among them, before there may be no more.
  std::uint64_t left_at_least(const RequestCount& made) const;
  Time earliest_issue(const RequestCount& made) const;
  bool goes_on(const RequestCount& made, Time now);
  void check_warmup(const RequestCount& made) const;
  void take_timestamp(const RequestCount& made);

  // First what every request touches.
  bool has_next_ = false;
  bool has_gaps_ = false;  // some access so far had an instruction gap
  bool exhausted_ = false;
  bool ceased_ = false;
  bool may_be_empty_ = false;
  bool from_outside_ = false;
  Time issue_interval_;
  Time instruction_time_;
  Time last_issue_{-1};
  Time earliest_;
  Access next_;
  ArrivalProcess arrivals_;
  ReactiveStream* reactive_ = nullptr;  // of the work
  std::optional<Time> gives_at_;
  Work work_;
};

}  // namespace cxloom
