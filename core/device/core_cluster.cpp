#include "device/core_cluster.hpp"

#include <algorithm>
#include <utility>

#include "base/measure_table.hpp"
#include "component/component_time.hpp"
#include "component/endpoint.hpp"
#include "kernel/kernel.hpp"
#include "protocol/request.hpp"

namespace cxloom {

namespace {

struct CoreMeasured {
  std::uint64_t threads = 0;
  std::uint64_t instructions = 0;
  double time = 0;
  double longest = 0;
  std::optional<double> instructions_a_cycle;
  double busy = 0;
  double chain = 0;
  double mshr = 0;
  std::optional<double> walk;  // of cores with a TLB
  double idle = 0;
  Value memory;
};

constexpr std::array kCoreMeasures{
    measure<&CoreMeasured::threads>("threads", "", "threads that ran, each on a core of its own"),
    measure<&CoreMeasured::instructions>("instructions", "", "instructions of all threads in the window"),
    measure<&CoreMeasured::time>("time_ns", "ns",
                                 "time of all threads in the window, which the following sum to"),
    measure<&CoreMeasured::longest>("longest_ns", "ns",
                                    "time of the thread with the most of it in the window"),
    measure<&CoreMeasured::instructions_a_cycle>("instructions_per_cycle", "",
                                                 "instructions / cycles of all threads"),
    measure<&CoreMeasured::busy>("busy_ns", "ns", "time of instructions where nothing waits for memory"),
    measure<&CoreMeasured::chain>(
        "chain_ns", "ns",
        "time of computing between the answer to one access and another that needs it, and of filling the "
        "reorder window again after a wait"),
    measure<&CoreMeasured::mshr>(
        "mshr_ns", "ns", "time in which an access that is waited for waited for others to be answered"),
    measure<&CoreMeasured::walk>("walk_ns", "ns",
                                 "time in which the oldest instruction waited for a page walk that went "
                                 "beyond the caches of its core, or for a walker. Absent without a tlb"),
    measure<&CoreMeasured::idle>("idle_ns", "ns", "time in which threads had nothing to do"),
    measure<&CoreMeasured::memory>(
        "memory_ns", "ns",
        "time in which the oldest instruction waited for an answer, divided among the segments of that "
        "request's latency"),
};

struct ClusterMeasured {
  Value core;
};

constexpr std::array kClusterMeasures{
    measure<&ClusterMeasured::core>("core", "", "where the time of its cores went. Absent without a core",
                                    parts_of<kCoreMeasures>()),
};

}  // namespace

CoreCluster::CoreCluster(const CoreParams& params, Work& work, Endpoint& endpoint, Requester& requester)
    : params_(params),
      workload_(std::move(work.stream)),
      counts_accesses_(!work.instruction_gaps),
      walkers_(params.tlb ? params.tlb->walkers : ~std::uint32_t{0}),
      most_(work.in_all.value_or(~std::uint64_t{0})),
      endpoint_(endpoint),
      requester_(requester),
      source_(endpoint.kernel().new_source()) {}

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
  if (access.is_call()) note_call(access);
  producers_.add(read);
  Thread& thread = *threads_[read.core];
  thread.waits = access.role == AccessRole::kWait;
  thread.coming.push_back(&read);
  ++coming_;
  if (std::exchange(thread.asleep, false)) {
    // Whoever waits for a call goes on with it.
    woken_.push_back({&thread, access.role == AccessRole::kGoOn ? Time{} : now()});
  }
  return true;
}

void CoreCluster::note_call(const Access& call) {
  const std::uint64_t number = call.address.value();
  if (number == 0) return;
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

// Whoever waits for a call that is not made yet is woken by it. One that is not in the workload was before all of it.
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
    if (found != calls_.end()) thread.core.wake_at(found->second.at);
  } else if (found != calls_.end()) {
    found->second.made = true;
    found->second.at = access.dispatched;
    for (Thread* const each : std::exchange(found->second.waiting, {})) woken_.push_back({each, {}});
  }
  access.ready = access.created = access.done = access.dispatched;
  producers_.answer(access.number, access.done);
  if (--access.users == 0) accesses_.give_back(access);
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
    woken.thread->core.wake_at(woken.at);
    advance(*woken.thread);
    // The last one that goes on may be what others had no room for, and wait itself now.
    if (woken_.empty() && short_of_room_ && has_room()) {
      short_of_room_ = false;
      read_ahead();
    }
  }
}

void CoreCluster::rest_if_idle(Thread& thread) {
  if (thread.undone > 0 || !thread.coming.empty()) return;
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
  if (!access.is_write_back()) {
    if (thread.misses == params_.mshrs) {
      thread.waiting.push_back(&access);
      return;
    }
    ++thread.misses;
  }
  made_.push_back(&access);
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
  if (!access.is_write_back()) {
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

// ---- Measuring

std::vector<Time> CoreCluster::totals() const {
  std::vector<Time> totals;
  for (const auto& thread : threads_) totals.push_back(thread->core.time().total);
  return totals;
}

CoreTime CoreCluster::sum() const {
  CoreTime sum;
  for (const auto& thread : threads_) sum += thread->core.time();
  return sum;
}

void CoreCluster::open_window(bool from_start) {
  if (from_start) return;
  opened_ = sum();
  opened_totals_ = totals();
}

void CoreCluster::close_window() {
  closed_ = sum();
  closed_totals_ = totals();
}

std::vector<MeasureInfo> CoreCluster::measures() { return infos_of(kClusterMeasures); }

void CoreCluster::report(MeasureSink& sink) const {
  CoreTime in_window = closed_;
  in_window -= opened_;
  CoreMeasured measured{.threads = threads_.size(),
                        .instructions = in_window.instructions,
                        .time = in_window.total.ns(),
                        .busy = in_window.busy.ns(),
                        .chain = in_window.chain.ns(),
                        .mshr = in_window.mshr.ns(),
                        .idle = in_window.idle.ns()};
  if (params_.tlb || in_window.walk > Time{}) measured.walk = in_window.walk.ns();
  Time longest;
  for (std::size_t i = 0; i < closed_totals_.size(); ++i) {
    const Time before = i < opened_totals_.size() ? opened_totals_[i] : Time{};
    longest = std::max(longest, closed_totals_[i] - before);
  }
  measured.longest = longest.ns();
  if (in_window.total > Time{}) {
    const double cycles = in_window.total.ns() * 1e-9 * params_.clock.rate.per_second();
    measured.instructions_a_cycle = static_cast<double>(in_window.instructions) / cycles;
  }
  Value::Map memory;
  for (std::size_t i = 0; i < kSegmentCount; ++i) {
    if (in_window.memory[i] != Time{}) memory.emplace_back(kSegments[i].name, in_window.memory[i].ns());
  }
  measured.memory = std::move(memory);
  report_all(kClusterMeasures, {map_of(kCoreMeasures, measured)}, sink);
}

}  // namespace cxloom
