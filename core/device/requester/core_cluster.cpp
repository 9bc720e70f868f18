#include "device/requester/core_cluster.hpp"

#include <algorithm>
#include <utility>

#include "component/component_time.hpp"
#include "component/endpoint.hpp"
#include "device/requester/core_report.hpp"
#include "kernel/kernel.hpp"
#include "protocol/request.hpp"

namespace cxloom {

CoreCluster::CoreCluster(const CoreParams& params, std::uint32_t queue, Work& work, Endpoint& endpoint,
                         Requester& requester)
    : params_(params),
      workload_(std::move(work.stream)),
      counts_accesses_(!work.instruction_gaps),
      walkers_(params.tlb ? params.tlb->walkers : ~std::uint32_t{0}),
      most_(work.in_all.value_or(~std::uint64_t{0})),
      endpoint_(endpoint),
      requester_(requester),
      source_(endpoint.kernel().new_source()),
      most_write_backs_(queue) {}

std::string CoreCluster::name() const { return endpoint_.name(); }

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

// The number of the latest call that was read of any core but this one.
std::uint64_t CoreCluster::latest_but_of(std::uint32_t core) const {
  return latest_call_.core != core ? latest_call_.number : of_another_.number;
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
  if (counts_accesses_) read.access.instruction_gap = 1;
  ++unmade_;
  if (access.is_call()) note_call(read.core, access);
  producers_.add(read);
  Thread& thread = *threads_[read.core];
  const bool waited = std::exchange(thread.waits, access.role == AccessRole::kWait);
  thread.coming.push_back(&read);
  ++coming_;
  if (std::exchange(thread.asleep, false)) {
    // Whoever waits for a call goes on with it. Of others it is only known what was told before.
    if (access.role == AccessRole::kGoOn) woken_.push_back({&thread, Time{}});
    else woken_.push_back({&thread, now(), waited ? latest_but_of(read.core) : 0});
  }
  return true;
}

void CoreCluster::note_call(std::uint32_t core, const Access& call) {
  const std::uint64_t number = call.address.value();
  if (number == 0) return;
  if (latest_call_.core != core) of_another_ = latest_call_;
  latest_call_ = {core, number};
  calls_.try_emplace(number);
  calls_in_order_.push_back(number);
  if (calls_in_order_.size() > kCalls && calls_.at(calls_in_order_.front()).made) {
    calls_.erase(calls_in_order_.front());
    calls_in_order_.pop_front();
  }
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
    if (!may_go_on(thread, access)) return;
    const bool dispatched = thread.core.dispatch(access, access.access.instruction_gap);
    collect_left(thread.core);
    if (!dispatched) return;
    thread.coming.pop_front();
    --coming_;
    if (access.access.reaches_memory()) {
      if (!access.is_write_back()) ++thread.undone;
      find_address(access);
    } else {
      pass(thread, access);
    }
  }
  rest_if_idle(thread);
}

// Whoever waits for a call that is not made yet is woken by it. One that is not in the workload was before
// all of it.
bool CoreCluster::may_go_on(Thread& thread, CoreAccess& access) {
  if (access.is_branch()) return !thread.branches && may_branch(access);
  if (access.access.role != AccessRole::kGoOn) return true;
  const auto found = calls_.find(access.access.address.value());
  if (found == calls_.end() || found->second.made) return true;
  found->second.waiting.push_back(&thread);
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
  if (const CoreAccess* const by = threads_[branch.core]->core.in_window(producer)) resolve(branch, *by);
  return true;
}

void CoreCluster::resolve(CoreAccess& branch, const CoreAccess& by) {
  branch.ready = by.ready;
  branch.created = by.created;
  branch.done = by.done;
  branch.segments = by.segments;
  branch.walk = by.walk;
}

// What is no access is done as soon as all before it is.
void CoreCluster::pass(Thread& thread, CoreAccess& access) {
  --unmade_;
  const auto found =
      access.access.enters_kernel() ? calls_.find(access.access.address.value()) : calls_.end();
  if (access.access.role == AccessRole::kGoOn) {
    if (found != calls_.end()) wake(thread, found->second.at, found->second.path.get());
  } else if (found != calls_.end()) {
    make_call(thread, found->first, found->second, access.dispatched);
  }
  thread.ran = true;
  access.ready = access.created = access.done = access.dispatched;
  producers_.answer(access.number, access.done);
  if (--access.users == 0) accesses_.give_back(access);
}

void CoreCluster::make_call(Thread& thread, std::uint64_t number, Call& call, Time at) {
  call.made = true;
  call.at = at;
  call.path = std::make_unique<PathUpTo>(meter_.path().up_to(places_.at(thread.number), thread.core.time()));
  paths_in_order_.push_back(number);
  if (paths_in_order_.size() > kPaths) {
    if (const auto old = calls_.find(paths_in_order_.front()); old != calls_.end()) old->second.path.reset();
    paths_in_order_.pop_front();
  }
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

const PathUpTo* CoreCluster::path_of(const Woken& woken) const {
  const auto found = woken.behind == 0 ? calls_.end() : calls_.find(woken.behind);
  return found == calls_.end() ? nullptr : found->second.path.get();
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
    wake(*woken.thread, woken.at, path_of(woken));
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
  later_.push(&access);
  if (ready >= armed_) return;
  armed_ = ready;
  endpoint_.kernel().schedule(ready, source_, *this, 0);
}

void CoreCluster::make(CoreAccess& access) {
  Thread& thread = *threads_[access.core];
  if (access.walk && !access.has_walker) {
    if (thread.walks == walkers_) {
      thread.unwalked.push_back(&access);
      return;
    }
    ++thread.walks;
    access.has_walker = true;
  }
  if (access.is_write_back()) {
    if (write_backs_ == most_write_backs_) {
      unwritten_.push_back(&access);
      return;
    }
    ++write_backs_;
  } else {
    if (thread.misses == params_.mshrs) {
      thread.waiting.push_back(&access);
      return;
    }
    ++thread.misses;
  }
  made_.push_back(&access);
}

// Nobody waits for them, so that more may come than memory takes: what is made behind them must not wait for
// all.
void CoreCluster::release_write_back() {
  --write_backs_;
  if (unwritten_.empty()) return;
  CoreAccess& first = *unwritten_.front();
  unwritten_.pop_front();
  make(first);
}

// The loads of a walk belong to one instruction, and each waits for the one before.
bool CoreCluster::goes_on(const CoreAccess& walk, const CoreAccess& dependent) {
  return dependent.walk && dependent.core == walk.core && dependent.position == walk.position;
}

void CoreCluster::release_walker(Thread& thread) {
  if (thread.unwalked.empty()) {
    --thread.walks;
    return;
  }
  CoreAccess& first = *thread.unwalked.front();
  thread.unwalked.pop_front();
  first.has_walker = true;
  make(first);
}

void CoreCluster::wake(std::uint8_t /*kind*/, std::uint64_t /*payload*/) {
  armed_ = Time::max();
  while (!later_.empty() && later_.top()->ready <= now()) {
    CoreAccess& access = *later_.top();
    later_.pop();
    make(access);
  }
  if (!later_.empty()) {
    armed_ = later_.top()->ready;
    endpoint_.kernel().schedule(armed_, source_, *this, 0);
  }
  requester_.take_made();
}

void CoreCluster::resume() {
  std::vector<Thread*> threads;  // more may begin meanwhile
  for (const auto& thread : threads_) threads.push_back(thread.get());
  for (Thread* const thread : threads) {
    if (thread->coming.empty() && !thread->asleep) advance(*thread);
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
  if (workload_->wants_answers()) workload_->answered(access.number, request, now);
  access.created = request.created();
  access.done = now;
  access.segments = request.account.segments();
  producers_.answer(access.number, now);
  Thread& thread = *threads_[access.core];
  if (access.is_write_back()) {
    release_write_back();
  } else {
    --thread.undone;
    --thread.misses;
    if (!thread.waiting.empty()) {
      CoreAccess& first = *thread.waiting.front();
      thread.waiting.pop_front();
      make(first);
    }
  }
  bool resolved = false;  // a branch
  bool keeps_walker = false;
  // Those that came last are first.
  CoreAccess* in_order = nullptr;
  for (CoreAccess* each = access.dependents; each;)
    each = std::exchange(each->next, std::exchange(in_order, each));
  while (in_order) {
    CoreAccess& dependent = *std::exchange(in_order, in_order->next);
    if (dependent.is_branch()) {
      resolve(dependent, access);
      Thread& behind = *threads_[dependent.core];
      behind.branches = false;
      if (&behind != &thread) advance(behind);
      resolved |= &behind == &thread;
    } else {
      if (access.walk && goes_on(access, dependent)) keeps_walker = dependent.has_walker = true;
      make_at(dependent, std::max(dependent.dispatched, now + cycles_between(dependent)));
    }
  }
  access.dependents = nullptr;
  if (access.walk && !keeps_walker) release_walker(thread);
  if (resolved || thread.core.holder() == &access) {
    advance(thread);
  } else {
    rest_if_idle(thread);
  }
  if (--access.users == 0) accesses_.give_back(access);
  advance_all();
}

// ---- The kernel

std::uint64_t CoreCluster::running() const {
  return static_cast<std::uint64_t>(
      std::ranges::count_if(threads_, [](const auto& thread) { return thread->runs(); }));
}

// Whoever has nothing to do has the time for it.
Time CoreCluster::interrupt(std::optional<std::uint32_t> thread, Time time) {
  Time taken;
  for (const auto& each : threads_) {
    if ((thread && each->number != *thread) || !each->runs()) continue;
    each->core.interrupt(time);
    taken += time;
  }
  return taken;
}

// ---- Measures

std::vector<CoreTime> CoreCluster::times() const {
  std::vector<CoreTime> times;
  for (const auto& thread : threads_) times.push_back(thread->core.time());
  return times;
}

std::vector<MeasureInfo> CoreCluster::measures() { return core_measures(); }

void CoreCluster::report(MeasureSink& sink) const {
  CoresInWindow cores{.clock = params_.clock, .has_tlb = params_.tlb.has_value()};
  for (const auto& thread : threads_)
    cores.threads.push_back({.number = thread->number, .begun = thread->begun});
  meter_.report(std::move(cores), sink);
}

}  // namespace cxloom
