#include "device/requester/core.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.hpp"

namespace cxloom {

namespace {

/// `units` at a rate that is so many times slower, in whole picoseconds.
Time time_of(std::uint64_t units, const Rate& rate, std::uint64_t slower) {
  return Time{
      static_cast<std::int64_t>(Wide{units} * rate.numerator() / (Wide{rate.denominator()} * slower))};
}

Time take_from(Time& rest, Time most) {
  const Time part = std::clamp(most, Time{}, rest);
  rest -= part;
  return part;
}

}  // namespace

Core::Core(const CoreParams& params)
    : params_(params),
      milli_cycles_an_instruction_(
          static_cast<std::uint64_t>(std::llround(params.cycles_per_instruction * 1000))) {}

Time Core::cycles(std::uint64_t count) const { return time_of(count, params_.clock.rate, 1); }
Time Core::slots(std::uint64_t instructions) const {
  return time_of(instructions, params_.clock.rate, params_.width);
}

// Differences of whole times, so that roundings do not add up.
Time Core::pace(const Access& access, std::uint32_t gap) {
  timed_ |= access.cycles > 0;
  if (timed_) {
    const Time before = cycles(given_);
    return cycles(given_ += access.cycles) - before;
  }
  const auto base = [this] {
    return time_of(paced_ * milli_cycles_an_instruction_, params_.clock.rate, 1000);
  };
  const Time before = base();
  paced_ += gap;
  return base() - before;
}

void Core::Bound::raise(Time to, const CoreAccess& by) {
  if (known && to <= time) return;
  known = true;
  time = to;
  blame.ready = by.ready;
  blame.created = by.created;
  blame.done = by.done;
  blame.segments = by.segments;
  blame.process = by.access.process;
  blame.walk = by.walk;
}

bool Core::held_by(const CoreAccess& access) {
  holder_ = &access;
  return false;
}

void Core::leave(CoreAccess& access) {
  if (access.answered() && !access.in_background()) answers_.raise(access.done, access);
  if (--access.users == 0) left_.push_back(&access);
}

CoreAccess* Core::take_left() {
  if (left_.empty()) return nullptr;
  CoreAccess* const access = left_.front();
  left_.pop_front();
  return access;
}

// Whatever is a window before the access has to be retired, and before a fence all that wait for an answer.
bool Core::is_before(const CoreAccess& older, const CoreAccess& access) const {
  return access.is_fence() || older.position + params_.window <= access.position;
}

bool Core::may_come(const CoreAccess& access) {
  for (; answered_ < window_.size() && is_before(*window_[answered_], access); ++answered_) {
    const CoreAccess& older = *window_[answered_];
    if (older.holds_window() && !older.answered()) return held_by(older);
  }
  if (!access.is_fence() && !(access.is_store() && stores_.size() >= params_.store_buffer)) return true;
  const std::size_t leaving = access.is_fence() ? stores_.size() : 1;
  for (std::size_t i = 0; i < leaving; ++i) {
    if (!stores_[i]->answered()) return held_by(*stores_[i]);
  }
  return true;
}

bool Core::dispatch(CoreAccess& access, std::uint32_t gap) {
  if (access.position == 0) access.position = position_ += gap;  // the first time that it is tried
  if (!may_come(access)) return false;
  holder_ = nullptr;
  const Time pace = this->pace(access.access, gap);
  clock_ += pace;
  time_.busy += pace;
  time_.total += pace;
  time_.instructions += gap;
  while (!window_.empty() && is_before(*window_.front(), access)) retire(access.position);
  if (access.position > params_.window) wait_for(retirement_, slots(access.position - params_.window));
  if (access.is_store() && stores_.size() >= params_.store_buffer) drain_store();
  if (access.is_store()) wait_for(stores_done_);
  if (access.is_fence()) {
    while (!stores_.empty()) drain_store();
    wait_for(answers_);
  }
  if (access.is_branch()) wait_for_branch(access);
  access.dispatched = clock_;
  access.users += 1;
  window_.push_back(&access);
  if (access.is_store()) {
    access.users += 1;
    stores_.push_back(&access);
  }
  return true;
}

const CoreAccess* Core::find(std::uint64_t number) const {
  for (const Ring<CoreAccess*>* const held : {&window_, &stores_}) {
    for (std::size_t i = held->size(); i-- > 0;) {
      const CoreAccess* const each = (*held)[i];
      if (each->number == number) return each;
      if (each->number < number) break;
    }
  }
  return nullptr;
}

// The branch has the times of the access that it needs, which may itself have waited for older ones. The core
// waits for each of those as long as it is the oldest without an answer, so that the stall is charged to it.
void Core::wait_for_branch(const CoreAccess& branch) {
  if (!branch.answered()) return;
  for (std::size_t i = 0; i < window_.size(); ++i) {
    const CoreAccess& older = *window_[i];
    if (!older.holds_window() || !older.answered() || older.done > branch.done) continue;
    Bound answer;
    answer.raise(older.done, older);
    wait_for(answer);
  }
  Bound needed;
  needed.raise(branch.done, branch);
  wait_for(needed, cycles(branch.access.dependence_cycles));
}

// Accesses retire in order. A wait for several of them is charged, as it goes on, to the one answered last so
// far.
void Core::retire(std::uint64_t position) {
  CoreAccess& oldest = *window_.front();
  window_.pop_front();
  if (answered_ > 0) --answered_;
  if (oldest.holds_window()) {
    retirement_.raise(oldest.done - slots(oldest.position), oldest);
    if (position > params_.window) wait_for(retirement_, slots(position - params_.window));
  }
  leave(oldest);
}

void Core::drain_store() {
  CoreAccess& first = *stores_.front();
  stores_.pop_front();
  stores_done_.raise(first.done, first);
  leave(first);
}

void Core::rest() {
  while (!window_.empty()) {
    if (window_.front()->holds_window()) {
      answers_.raise(window_.front()->done, *window_.front());
      wait_for(answers_);
    }
    retire(0);
  }
  while (!stores_.empty()) {
    drain_store();
    wait_for(stores_done_);
  }
}

// The last part of the wait was for the answer, so far as the request was on its way; what is before that,
// for its turn to be made.
void Core::wait_for(const Bound& bound, Time after) {
  const Time until = bound.time + after;
  if (!bound.known || until <= clock_) return;
  const Blame& blame = bound.blame;
  Time rest = until - clock_;
  time_.total += rest;
  if (blame.process >= waits_.size()) [[unlikely]]
    waits_.resize(blame.process + std::size_t{1});
  waits_[blame.process] += rest;
  time_.chain += take_from(rest, until - std::max(blame.done, clock_));  // the window fills again
  const Time latency = blame.done - blame.created;
  Time waited = take_from(rest, latency);
  const Time unmade = take_from(rest, blame.created - blame.ready);
  if (blame.walk) {
    time_.walk += unmade + std::exchange(waited, {});
  } else {
    time_.mshr += unmade;
  }
  time_.chain += rest;
  clock_ = until;
  if (waited == Time{}) return;
  // In the proportions of the whole latency, whose segments have no order.
  std::int64_t sum = 0;
  std::int64_t given = 0;
  blame.segments.each([&](Segment segment, Time time) {
    sum += time.ps();
    const auto upto = static_cast<std::int64_t>(static_cast<Wide>(waited.ps()) * static_cast<Wide>(sum) /
                                                static_cast<Wide>(latency.ps()));
    time_.memory[static_cast<std::size_t>(segment)] += Time{upto - given};
    given = upto;
  });
  ensure(given == waited.ps(), "a wait of a core that is not accounted for");
}

// What it waits for meanwhile comes no later for that.
void Core::interrupt(Time time) {
  clock_ += time;
  time_.kernel += time;
  time_.total += time;
}

void Core::wake_at(Time now) {
  if (now <= clock_) return;
  time_.idle += now - clock_;
  time_.total += now - clock_;
  clock_ = now;
}

}  // namespace cxloom
