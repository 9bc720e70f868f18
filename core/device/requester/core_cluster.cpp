#include "device/requester/core_cluster.hpp"

#include <algorithm>
#include <utility>

#include "base/prefetch.hpp"
#include "component/component_time.hpp"
#include "kernel/kernel.hpp"
#include "protocol/request.hpp"
#include "workload/stream/prefetched_stream.hpp"

namespace cxloom {

CoreCluster::CoreCluster(const CoreParams& params, std::uint32_t queue, Work& work, Endpoint& endpoint,
                         AccessTaker& taker)
    : params_(params),
      workload_(work.shown_to_prefetchers() ? prefetched(std::move(work.stream), params.prefetch)
                                            : std::move(work.stream)),
      counts_accesses_(!work.instruction_gaps),
      most_(work.in_all.value_or(~std::uint64_t{0})),
      endpoint_(endpoint),
      taker_(taker),
      source_(endpoint.kernel().new_source()),
      write_backs_(queue) {}

Time CoreCluster::now() const { return endpoint_.now(); }

// ---- Reading the workload

std::uint32_t CoreCluster::core_of(std::uint32_t thread) {
  const auto [place, is_new] = places_.try_emplace(thread, static_cast<std::uint32_t>(threads_.size()));
  if (is_new) {
    threads_.push_back(std::make_unique<Thread>(params_, thread));
    threads_.back()->asleep = true;
  }
  return place->second;
}

bool CoreCluster::read() {
  Access access;
  if (ended_ || !has_room()) return false;
  if (accesses_read_ == most_) {
    ended_ = true;
    return false;
  }
  if (!workload_->next(access)) {
    ended_ = !workload_->open();
    return false;
  }
  CoreAccess& read = accesses_.take();
  read.access = access;
  read.number = read_++;
  accesses_read_ += access.reaches_memory() ? 1 : 0;
  read.core = core_of(access.thread);
  read.users = 1;  // until it is answered
  read.walk = access.is_page_walk();
  if (counts_accesses_) read.access.instruction_gap = read.is_prefetch() ? 0 : 1;
  ++unmade_;
  if (access.is_call() && access.address.value() != 0) calls_.add(access.address.value(), read.core);
  find_line(read);
  producers_.add(read);
  Thread& thread = *threads_[read.core];
  const bool waited = std::exchange(thread.waits, access.role == AccessRole::kWait);
  thread.coming.push_back(&read);
  ++coming_;
  if (std::exchange(thread.asleep, false)) {
    // A thread that waits for a call goes on with it. Of others it is only known what was told before.
    if (access.role == AccessRole::kGoOn) woken_.push_back({&thread, Time{}});
    else woken_.push_back({&thread, now(), waited ? calls_.latest_but_of(read.core) : 0});
  }
  return true;
}

/// Whether its next record is there: time does not pass without it, unless the thread waits.
bool CoreCluster::provide(Thread& thread) {
  while (thread.coming.empty()) {
    if (thread.waits || !has_room()) {
      short_of_room_ |= !thread.waits;
      thread.asleep = true;
      return false;
    }
    workload_->want(thread.number);
    if (!read()) return false;
  }
  return true;
}

// ---- Into the window

void CoreCluster::advance(Thread& thread) {
  while (provide(thread)) {
    CoreAccess& access = *thread.coming.front();
    if (thread.coming.size() > 1) prefetch(thread.coming[1]);
    if (!may_go_on(thread, access)) return;
    const bool dispatched = thread.core.dispatch(access, access.access.instruction_gap);
    collect_left(thread.core);
    if (!dispatched) return;
    thread.coming.pop_front();
    --coming_;
    if (access.access.reaches_memory() || access.is_use()) thread.registers.dispatched(access);
    if (access.access.reaches_memory()) {
      if (!access.in_background()) ++thread.undone;
      find_address(access);
    } else if (access.is_use()) {
      find_data(access);
    } else {
      pass(thread, access);
    }
  }
  rest_if_idle(thread);
}

// A thread that waits for a call that is not made yet is woken by it. A call that is not in the workload was
// before all of it.
bool CoreCluster::may_go_on(Thread& thread, CoreAccess& access) {
  if (access.is_branch()) return !thread.branches && may_branch(access);
  if (access.access.role != AccessRole::kGoOn) return true;
  Calls::Call* const call = calls_.find(access.access.address.value());
  if (call == nullptr || call->made) return true;
  call->waiting.push_back(&thread);
  return false;
}

// A branch waits for the access that its condition is made of, and takes its times.
bool CoreCluster::may_branch(CoreAccess& branch) {
  if (branch.answered()) return true;
  const std::uint64_t distance = branch.access.dependence;
  if (distance == 0 || distance > branch.number) return true;
  const std::uint64_t producer = branch.number - distance;
  if (!producers_.has(producer)) return true;
  if (CoreAccess* const pending = producers_.pending(producer)) {
    branch.next = std::exchange(pending->dependents, &branch);
    threads_[branch.core]->branches = true;
    return false;
  }
  if (const CoreAccess* const by = threads_[branch.core]->core.find(producer)) branch.take_times_of(*by);
  return true;
}

// What needs a use needs its line. A use holds the record of its line, so that it knows what its wait was
// for.
void CoreCluster::find_line(CoreAccess& read) {
  const std::uint64_t distance = read.access.dependence;
  if (distance == 0 || distance > read.number || !producers_.has(read.number - distance)) return;
  CoreAccess* line = producers_.pending(read.number - distance);
  if (line != nullptr && !line->access.reaches_memory()) {  // what is neither has no line
    line = line->line;
    read.access.dependence = line == nullptr ? 0 : static_cast<std::uint32_t>(read.number - line->number);
  }
  if (line == nullptr || !read.is_use()) return;
  read.line = line;
  ++line->users;
}

// A use has the times of the record that brings its line; if that was answered before the use was read, none.
void CoreCluster::find_data(CoreAccess& use) {
  Thread& thread = *threads_[use.core];
  if (use.line == nullptr) {
    thread.registers.release(use);
    give_granted(thread);
    pass(thread, use);
  } else if (use.line->answered()) {
    this->use(use);
  } else {
    ++thread.undone;
    make_at(use, use.dispatched);
  }
}

// Its core has come to it.
void CoreCluster::wait_for_line(Thread& thread, CoreAccess& use) {
  if (!use.line->answered()) {
    use.next = std::exchange(use.line->dependents, &use);
    if (use.line->asked) thread.registers.ask(use);
    else use.behind = std::exchange(use.line->wanted_by, &use);
    return give_granted(thread);
  }
  const bool holds = thread.core.holder() == &use;
  --thread.undone;
  this->use(use);
  if (holds) advance(thread);
  else rest_if_idle(thread);
}

void CoreCluster::use(CoreAccess& use) {
  Thread& thread = *threads_[use.core];
  if (use.has_fill_buffer && params_.fill_buffers) meter_.fill_buffers(now(), -1);
  thread.registers.release(use);
  give_granted(thread);
  CoreAccess& line = *std::exchange(use.line, nullptr);
  use.take_times_of(line);
  if (--line.users == 0) accesses_.give_back(line);
  --unmade_;
  producers_.answer(use.number, use.done);
  if (--use.users == 0) accesses_.give_back(use);
}

// What is no access is done as soon as all before it is.
void CoreCluster::pass(Thread& thread, CoreAccess& access) {
  --unmade_;
  const std::uint64_t number = access.access.address.value();
  Calls::Call* const call = access.access.enters_kernel() ? calls_.find(number) : nullptr;
  if (access.access.role == AccessRole::kGoOn) {
    if (call != nullptr) wake(thread, call->at, call->path.get());
  } else if (call != nullptr) {
    make_call(thread, number, *call, access.dispatched);
  }
  thread.ran = true;
  access.ready = access.created = access.done = access.dispatched;
  producers_.answer(access.number, access.done);
  if (--access.users == 0) accesses_.give_back(access);
}

void CoreCluster::make_call(Thread& thread, std::uint64_t number, Calls::Call& call, Time at) {
  calls_.make(number, call, at, meter_.path().up_to(places_.at(thread.number), thread.core.time()));
  for (Thread* const each : std::exchange(call.waiting, {})) woken_.push_back({each, {}});
}

// It goes on at `at` or later: if it would have gone on before, it waited, for the call that `by` leads to,
// or for nobody who is known.
void CoreCluster::wake(Thread& thread, Time at, const PathUpTo* by) {
  const Time before = thread.core.clock();
  if (at <= before) return;
  thread.core.wake_at(at);
  if (before == Time{} && !thread.ran) thread.begun = at;
  if (by != nullptr && by->time.total > before && by->time.total <= at)
    meter_.path().goes_on(places_.at(thread.number), thread.core.time(), *by);
}

// Threads of which nothing is known yet run, too.
void CoreCluster::read_ahead() {
  while (coming_ < kAhead && read()) {
  }
}

// While one thread reads its accesses those of others may come, and wake them.
void CoreCluster::advance_all() {
  read_ahead();
  while (!woken_.empty()) {
    const Woken woken = woken_.back();
    woken_.pop_back();
    wake(*woken.thread, woken.at, calls_.path_to(woken.behind));
    advance(*woken.thread);
    // The last one that goes on may be what others had no room for, and wait itself now.
    if (woken_.empty() && short_of_room_ && has_room()) {
      short_of_room_ = false;
      read_ahead();
    }
  }
}

void CoreCluster::rest_if_idle(Thread& thread) {
  if (thread.runs()) return;
  thread.core.rest();
  collect_left(thread.core);
}

void CoreCluster::collect_left(Core& core) {
  while (CoreAccess* const left = core.take_left()) accesses_.give_back(*left);
}

// ---- To the requester

void CoreCluster::find_address(CoreAccess& access) {
  const std::uint64_t distance = access.access.dependence;
  if (distance == 0) return make_at(access, access.dispatched + cycles_between(access));
  if (access.is_fence() || distance > access.number) return make_at(access, access.dispatched);
  const std::uint64_t producer = access.number - distance;
  if (!producers_.has(producer)) return make_at(access, access.dispatched);
  if (CoreAccess* const pending = producers_.pending(producer)) {
    access.next = std::exchange(pending->dependents, &access);
  } else {
    make_at(access, std::max(access.dispatched, producers_.done(producer) + cycles_between(access)));
  }
}

Time CoreCluster::cycles_between(const CoreAccess& access) const {
  const std::uint16_t cycles = access.access.dependence_cycles;
  return cycles == 0 ? Time{} : threads_[access.core]->core.cycles(cycles);
}

void CoreCluster::make_at(CoreAccess& access, Time ready) {
  access.ready = ready;
  if (ready <= now()) return make(access);
  later_.push({ready, access.number, &access});
  if (ready >= armed_) return;
  armed_ = ready;
  endpoint_.kernel().schedule(ready, source_, *this, 0);
}

void CoreCluster::make(CoreAccess& access) {
  Thread& thread = *threads_[access.core];
  if (access.walk && !thread.walkers.take(access)) return;
  if (access.is_use()) return wait_for_line(thread, access);
  if (access.is_write_back()) {
    if (write_backs_.take(access)) made_.push_back(&access);
    return;
  }
  thread.registers.ask(access);
  give_granted(thread);
}

// To the requester, which takes them when it has a place for them. A use is none of its accesses.
void CoreCluster::give_granted(Thread& thread) {
  while (CoreAccess* const granted = thread.registers.granted()) {
    if (granted->has_fill_buffer && params_.fill_buffers) meter_.fill_buffers(now(), +1);
    if (!granted->is_use()) {
      made_.push_back(granted);
    } else if (granted->line->is_prefetch()) {
      Thread& fetching = *threads_[granted->line->core];
      fetching.registers.hurry(*granted->line);
      if (&fetching != &thread) give_granted(fetching);
    }
  }
  while (CoreAccess* const use = thread.registers.may_ask()) {
    Thread& wanting = *threads_[use->core];
    wanting.registers.ask(*use);
    give_granted(wanting);
  }
}

void CoreCluster::wake(std::uint8_t /*kind*/, std::uint64_t /*payload*/) {
  armed_ = Time::max();
  while (!later_.empty() && later_.top().ready <= now()) {
    CoreAccess& access = *later_.top().access;
    later_.pop();
    make(access);
  }
  if (!later_.empty()) {
    armed_ = later_.top().ready;
    endpoint_.kernel().schedule(armed_, source_, *this, 0);
  }
  taker_.take_made();
}

void CoreCluster::resume() {
  const std::size_t threads = threads_.size();  // more may begin meanwhile
  for (std::size_t i = 0; i < threads; ++i) {
    if (Thread& thread = *threads_[i]; thread.coming.empty() && !thread.asleep) advance(thread);
  }
  advance_all();
}

bool CoreCluster::next(Access& access) {
  if (made_.empty() && threads_.empty()) advance_all();  // the first of all
  if (made_.empty()) return false;
  CoreAccess& made = *made_.front();
  made_.pop_front();
  --unmade_;
  given_.push_back(&made);
  access = made.access;
  // What these were for is done.
  access.instruction_gap = 0;
  access.dependence = 0;
  access.timed = false;
  return true;
}

// ---- Answers

void CoreCluster::answered(std::uint64_t number, const Request& request, Time now) {
  CoreAccess& access = *std::exchange(given_[number - first_given_], nullptr);
  while (!given_.empty() && !given_.front()) {
    given_.pop_front();
    ++first_given_;
  }
  Thread& thread = *threads_[access.core];
  if (!thread.coming.empty()) prefetch(thread.coming.front());  // it was read long ago
  if (workload_->wants_answers()) workload_->answered(access.number, request, now);
  access.created = request.created();
  access.done = now;
  access.segments = request.account;
  producers_.answer(access.number, now);
  if (access.is_write_back()) {
    // More may come than memory takes: what is made behind them must not wait for all.
    if (CoreAccess* const next = write_backs_.release()) made_.push_back(next);
  } else {
    if (!access.is_prefetch()) --thread.undone;
    if (access.has_fill_buffer && params_.fill_buffers) meter_.fill_buffers(now, -1);
    thread.registers.release(access);
    give_granted(thread);
  }
  bool resolved = false;  // a branch
  bool keeps_walker = false;
  // Dependents that came last are first.
  CoreAccess* in_order = nullptr;
  for (CoreAccess* each = access.dependents; each;)
    each = std::exchange(each->next, std::exchange(in_order, each));
  while (in_order) {
    CoreAccess& dependent = *std::exchange(in_order, in_order->next);
    Thread& behind = *threads_[dependent.core];
    if (dependent.is_branch() || dependent.is_use()) {
      const bool goes_on = dependent.is_branch() || behind.core.holder() == &dependent;
      if (dependent.is_branch()) {
        dependent.take_times_of(access);
        behind.branches = false;
      } else {
        --behind.undone;
        use(dependent);
      }
      if (&behind == &thread) resolved |= goes_on;
      else if (goes_on) advance(behind);
      else rest_if_idle(behind);
    } else {
      if (access.walk && WalkerSlots::goes_on(access, dependent)) keeps_walker = dependent.has_walker = true;
      make_at(dependent, std::max(dependent.dispatched, now + cycles_between(dependent)));
    }
  }
  access.dependents = nullptr;
  if (access.walk && !keeps_walker) {
    if (CoreAccess* const first = thread.walkers.release()) make(*first);
  }
  if (resolved || thread.core.holder() == &access) advance(thread);
  else rest_if_idle(thread);
  if (--access.users == 0) accesses_.give_back(access);
  advance_all();
}

std::uint64_t CoreCluster::running() const {
  return static_cast<std::uint64_t>(
      std::ranges::count_if(threads_, [](const auto& thread) { return thread->runs(); }));
}

// A thread that has nothing to do has the time for it.
Time CoreCluster::interrupt(std::optional<std::uint32_t> thread, Time time) {
  Time taken;
  for (const auto& each : threads_) {
    if ((thread && each->number != *thread) || !each->runs()) continue;
    each->core.interrupt(time);
    taken += time;
  }
  return taken;
}

CoresMeter::Reading CoreCluster::reading() const {
  CoresMeter::Reading reading;
  for (const auto& thread : threads_) reading.add(thread->core);
  return reading;
}

void CoreCluster::report(MeasureSink& sink) const {
  CoresInWindow cores{.clock = params_.clock,
                      .has_tlb = params_.tlb.has_value(),
                      .has_fill_buffers = params_.fill_buffers.has_value()};
  for (const auto& thread : threads_)
    cores.threads.push_back({.number = thread->number, .begun = thread->begun});
  meter_.report(std::move(cores), sink);
}

}  // namespace cxloom
