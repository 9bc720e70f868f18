#include "system/run/divided_run.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "component/io_roles.hpp"
#include "component/line_versions.hpp"
#include "component/transfer_engine.hpp"
#include "system/model/system.hpp"

namespace cxloom {

namespace {

// The first windows are merged: they show how much happens in one.
constexpr std::uint64_t kFirstWindows = 8;

}  // namespace

DividedRun::DividedRun(ThreadDivision division)
    : division_(std::move(division)), kernels_(division_.parts, division_.threads, division_.lookahead) {}

std::vector<Kernel*> DividedRun::kernel_of_nodes() {
  std::vector<Kernel*> kernels;
  kernels.reserve(division_.part_of.size());
  for (const std::uint32_t part : division_.part_of) kernels.push_back(&kernels_.part(part));
  return kernels;
}

std::vector<const Kernel*> DividedRun::kernel_of_parts() const {
  std::vector<const Kernel*> kernels;
  for (std::uint32_t part = 0; part < division_.parts; ++part) kernels.push_back(&kernels_.part(part));
  return kernels;
}

void DividedRun::share_of(System& system) {
  SystemContext& context = system.system_context();
  if (context.versions) share(*context.versions);
  if (system.roles().all<IoInitiator>().empty() && system.roles().all<TransferEngine>().empty()) return;
  context.posted.divide(kernel_of_parts());
  share(context.posted);
}

void DividedRun::begin(const System& system) {
  forecast_ = std::make_unique<WindowForecast>(*whole_, system, kernels_.lookahead());
}

void DividedRun::attach(WholeRun& whole, RequestObserver& run, RequestObserver& observer,
                        const MeasuredWindow& window, LivelockWatch& livelock_watch) {
  whole_ = &whole;
  observer_ = &observer;
  livelock_watch_ = &livelock_watch;
  events_before_.assign(division_.parts, 0);
  untold_.resize(division_.parts);
  for (std::uint32_t part = 0; part < division_.parts; ++part) {
    std::unique_ptr<RequestObserver> own = observer.divide();
    ensure(own != nullptr, "the observer of a divided run cannot be divided");
    observers_.push_back(std::make_unique<PartObserver>(
        kernels_.part(part), run,
        [this, part](AccessKind kind, Time latency, std::uint64_t moved, Time now, bool failed) {
          measured(part, kind, latency, moved, now, failed);
        },
        std::move(own), window, livelock_watch));
  }
}

void DividedRun::watch(EventWatcher* watcher) {
  kernels_.watch(watcher);
  watched_ = watcher != nullptr;
}

std::uint64_t DividedRun::run(Time limit, std::uint64_t most, Time stop) {
  const std::uint64_t before = kernels_.events();
  const Time last = std::min(limit, stop);
  std::uint64_t ran = 0;
  while (!kernels_.idle() && ran < most) {
    const Time next = kernels_.next_event_time();
    if (next > last) break;
    const Time far = Time::max() - kernels_.lookahead();
    const Time end = std::min(next < far ? next + kernels_.lookahead() : Time::max(),
                              last < Time::max() ? last + Time{1} : Time::max());
    play_window(end, most - ran);
    ran = kernels_.events() - before;
    if (kernels_.stuck()) break;
  }
  tell_notes();
  // As a kernel that has run out of events before its limit.
  if (ran < most && limit != Time::max() && limit > kernels_.now() &&
      (kernels_.idle() || kernels_.next_event_time() > limit))
    kernels_.move_to(limit);
  return ran;
}

// None: parts may run side by side.
std::optional<DividedRun::Merged> DividedRun::merged_because(Time end) {
  // First of all: what was foreseen before this is over, also where the window is merged anyway.
  if (kernels_.control().next_event_time() < end || whole_->unsettled()) {
    forecast_->begin_anew();
    return Merged::kSystemEvents;
  }
  if (watched_ || stay_merged_) return Merged::kWatched;
  if (within_window_) return merged_as_;
  const bool few = events_a_window_ < static_cast<double>(division_.fewest_events) * division_.parts;
  if (few || cost_.windows < kFirstWindows) return Merged::kFewInWindow;
  if (!forecast_->far(whole_->next())) return Merged::kNearAnEnd;
  const std::uint64_t until_look = whole_->answers_until_look();
  if (until_look == WholeRun::kNoLook) return std::nullopt;
  const std::optional<std::uint64_t>& most = forecast_->most_answers();
  if (most && until_look > untold_count_ + *most) return std::nullopt;
  return Merged::kMeanLookedAt;
}

void DividedRun::play_window(Time end, std::uint64_t most) {
  const std::uint64_t before = kernels_.events();
  if (const std::optional<Merged> because = merged_because(end)) {
    merged_as_ = *because;
    tell_notes();
    within_window_ = !kernels_.run_merged(end, most);
    cost_.events_merged[static_cast<std::size_t>(merged_as_)] += kernels_.events() - before;
  } else {
    play_side_by_side(end);
  }
  for (const auto& observer : observers_) livelock_watch_->heard(observer->take_signs_of_life());
  events_a_window_ += (static_cast<double>(kernels_.events() - before) - events_a_window_) / 16.0;
  if (within_window_) {
    forecast_->begin_anew();  // what follows is as long as a window again, and requesters have gone on
    return;
  }
  ++cost_.windows;
  forecast_->passed();
}

void DividedRun::play_side_by_side(Time end) {
  for (std::uint32_t part = 0; part < division_.parts; ++part) {
    events_before_[part] = kernels_.events_of(part);
  }
  const auto go_side_by_side = [&](bool go) {
    whole_->go_side_by_side(go);
    for (const auto& observer : observers_) observer->go_side_by_side(go);
    for (SharedState* const each : shared_) each->go_side_by_side(go);
  };
  go_side_by_side(true);
  try {
    // The thread that is done first tells what was noted in the window before.
    kernels_.run_side_by_side(end, [this] { tell_notes(); });
  } catch (...) {
    go_side_by_side(false);
    tell_notes();
    throw;
  }
  go_side_by_side(false);
  std::uint64_t busiest = 0;
  for (std::uint32_t part = 0; part < division_.parts; ++part) {
    const std::uint64_t events = kernels_.events_of(part) - events_before_[part];
    cost_.events_side_by_side += events;
    busiest = std::max(busiest, events);
  }
  cost_.events_of_busiest += busiest;
  ++cost_.side_by_side;
  gather_notes();
}

void DividedRun::gather_notes() {
  ensure(!whole_->overlooked_warmth(), "the measured window was to open while parts ran side by side");
  for (std::size_t part = 0; part < observers_.size(); ++part) {
    ensure(!observers_[part]->overlooked_end_of_work() || whole_->next() == NextOfAll::kTaskEnds,
           "the measured window was to close while parts ran side by side");
    untold_[part].swap(observers_[part]->answers());
    untold_count_ += untold_[part].size();
  }
  for (SharedState* const each : shared_) each->gather();
}

void DividedRun::tell_notes() {
  tell_answers();
  for (SharedState* const each : shared_) each->tell();
}

/// Tells the answers of all parts, in the order of their events.
void DividedRun::tell_answers() {
  if (untold_count_ == 0) return;
  ensure(untold_count_ < whole_->answers_until_look(),
         "the mean was to be looked at while parts ran side by side");
  std::vector<std::size_t> at(untold_.size(), 0);
  for (; untold_count_ > 0; --untold_count_) {
    const PartObserver::Answer* first = nullptr;
    std::size_t of = 0;
    for (std::size_t part = 0; part < untold_.size(); ++part) {
      if (at[part] == untold_[part].size()) continue;
      const PartObserver::Answer& next = untold_[part][at[part]];
      if (first && first->place.before(next.place)) continue;
      first = &next;
      of = part;
    }
    ++at[of];
    measured(of, first->kind, first->latency, first->moved, first->place.at, first->failed);
  }
  for (auto& answers : untold_) answers.clear();
}

void DividedRun::measured(std::size_t part, AccessKind kind, Time latency, std::uint64_t moved, Time now,
                          bool failed) {
  if (!failed) observer_->completed_in_order(kind, latency, moved, now);
  else if (!first_failed_) first_failed_ = part;
  whole_->measured();
}

std::uint64_t DividedRun::take_completed() {
  std::uint64_t sum = 0;
  for (const auto& observer : observers_) sum += observer->take_completed();
  return sum;
}

void DividedRun::take_rows() {
  std::vector<RequestObserver*> parts;
  parts.reserve(observers_.size());
  for (const auto& observer : observers_) parts.push_back(&observer->observer());
  observer_->take_rows(parts);
}

// First the part whose request was the first to fail: of several at one instant the observer keeps that of
// the part that it hears of first.
void DividedRun::take_in() {
  if (first_failed_) observer_->take_in(observers_[*first_failed_]->observer());
  for (std::size_t part = 0; part < observers_.size(); ++part) {
    if (first_failed_ != part) observer_->take_in(observers_[part]->observer());
  }
}

}  // namespace cxloom
