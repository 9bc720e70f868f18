#include "system/simulation.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "device/persist_buffer.hpp"
#include "device/sequencer.hpp"
#include "interconnect/link_end.hpp"
#include "kernel/kernel.hpp"
#include "kernel/wait_list.hpp"
#include "memory/media.hpp"
#include "system/command_recorder.hpp"
#include "system/event_player.hpp"
#include "system/plugin_failure.hpp"
#include "system/protocol_recorder.hpp"
#include "system/registry.hpp"
#include "system/sampler.hpp"
#include "system/standstill.hpp"
#include "system/system_notes.hpp"

namespace cxloom {

namespace {

// Simulated time ends here (53 days): what a parameter adds still fits into 64 bits of picoseconds.
constexpr Time kLatest{Time::max().ps() / 2};

// Measured requests at which a run looks for the first time whether the mean is known well enough: fewer say too little of
// how they depend on each other.
constexpr std::uint64_t kFirstLook = 4096;

}  // namespace

/// Opens the window at a given time.
class Simulation::Opener final : public EventHandler {
 public:
  Opener(Kernel& kernel, Simulation& simulation, Time at)
      : simulation_(simulation), source_(kernel.new_source()) {
    kernel.schedule_background(at, source_, *this, 0);
  }
  void wake(std::uint8_t /*kind*/, std::uint64_t /*payload*/) override { simulation_.open_at_given_time(); }

 private:
  Simulation& simulation_;
  EventSource source_;
};

Simulation::Simulation(const Registry& registry, Spec spec, const TraceOpener& open_trace,
                       RequestObserver& observer)
    : registry_(registry),
      spec_(std::move(spec)),
      observer_(observer),
      kernel_(std::make_unique<Kernel>()),
      events_(std::make_unique<EventPlayer>(*kernel_, spec_.events)),
      system_(*kernel_, registry, spec_),
      work_maker_(registry, spec_, system_, open_trace),
      livelock_watch_(system_, spec_.run) {
  events_->attach(system_);
  give_work();
  events_->expect_moves();
  if (spec_.run.warmup_time) opener_ = std::make_unique<Opener>(*kernel_, *this, *spec_.run.warmup_time);
  if (spec_.run.until.ci) next_look_ = kFirstLook;
  system_.check_whole();
  keep_versions();
  for (const auto& each : system_.components()) each->start();
  notes_ = notes_on(system_);
  if (spec_.outputs.series) sampler_ = std::make_unique<Sampler>(*kernel_, system_, *spec_.outputs.series);
  if (spec_.outputs.commands) record_commands();
}

Simulation::~Simulation() = default;

void Simulation::keep_versions() {
  if (!spec_.outputs.versions) return;
  for (const Persistence persistence : {Persistence::kMedia, Persistence::kController}) {
    if (!system_.address_map().persistent_targets(persistence).empty())
      system_.fabric().versions = std::make_unique<LineVersions>();
  }
  if (system_.fabric().versions) return;
  throw InputError({"versions of lines without persistent memory",
                    {},
                    "a region with persistence: media or controller",
                    {}},
                   "outputs.versions");
}

Time Simulation::now() const { return kernel_->now(); }

Time Simulation::next_event_time() { return kernel_->next_event_time(); }

void Simulation::watch(EventWatcher* watcher) { kernel_->watch(watcher); }

void Simulation::watch(ProtocolObserver* observer) {
  system_.fabric().observer = observer;
  for (const auto& each : system_.components()) each->watch_protocol(observer != nullptr);
}

void Simulation::log_protocol(const std::vector<Address>& addresses) {
  std::vector<LineAddress> lines;
  for (const Address address : addresses) {
    if (!system_.address_map().find(address)) {
      throw InputError(
          {"an address that no region holds",
           to_text(address),
           system_.address_map().empty() ? "none: there is no memory" : system_.address_map().described(),
           {}});
    }
    lines.push_back(LineAddress::of(address));
  }
  std::vector<NodeId> divided;
  for (const auto& [component, memory] : system_.roles().memories) {
    if (!memory->logical_devices().empty()) divided.push_back(component->id());
  }
  protocol_ = std::make_unique<ProtocolRecorder>(system_.address_map(), std::move(lines), std::move(divided));
  watch(protocol_.get());
}

void Simulation::record_commands() {
  commands_ = std::make_unique<CommandRecorder>();
  for (const auto& [component, owner] : system_.roles().memories) {
    if (!owner->media()) continue;
    each_medium(*owner->media(), [&, id = component->id()](Media& media) {
      if (DramMedia* dram = media.dram()) commands_->add(id, *dram);
    });
  }
  if (commands_->empty()) {
    throw InputError({"there are no commands to record: no memory of this system has media of kind dram",
                      {},
                      "a memory with media: {kind: dram, preset: ...}; other media have no commands",
                      {}},
                     "outputs.commands");
  }
}

void Simulation::give_work() {
  for (const Spec::Workload& workload : spec_.workloads) {
    below("workload", [&] {
      below(workload.device, [&] {
        Sequencer& requester = requester_at(workload.device);
        if (system_.address_map().empty())
          throw InputError({"there is no memory to access", {}, "address_map: a region or more", {}});
        requester.assign(work_maker_.make(workload), *this);
        if (spec_.run.warmup > 0) cold_.push_back(&requester);
      });
    });
    check_instruction_time(workload);
    check_closed_loop(workload);
  }
  for (const auto& [component, buffer] : system_.roles().persist_buffers) buffer->report_drains_to(*this);
}

// What times would be in an open loop, cores know better.
void Simulation::check_closed_loop(const Spec::Workload& workload) const {
  const bool timed = workload.params.replay == Replay::kTimestamps;
  if (!requester_at(workload.device).has_cores() || !(workload.params.rate || timed)) return;
  throw InputError({timed ? "replay: timestamps beside a core" : "a rate beside a core",
                    {},
                    "one of the two: a core makes accesses as soon as it can",
                    {}},
                   "workload." + workload.device + (timed ? ".replay" : ".rate"));
}

Sequencer& Simulation::requester_at(const std::string& device) const {
  if (Sequencer* requester = system_.roles().requesters.of(system_.component(device).id())) return *requester;
  throw InputError({"'" + device + "' makes no requests", {}, "a host or an accelerator", {}});
}

// Only traces, and accesses from outside, have instruction gaps; who has a workload gets none from outside.
void Simulation::check_instruction_time(const Spec::Workload& workload) const {
  const Sequencer& requester = requester_at(workload.device);
  if (workload.params.trace || !requester.times_instructions()) return;
  throw InputError({"instruction_time has no effect unless the workload is a trace, with instruction gaps",
                    {},
                    "issue_interval to space the accesses of a pattern",
                    {},
                    InputError::Kind::kNoEffect},
                   "devices." + workload.device + ".instruction_time");
}

void Simulation::read_traces() {
  for (const Spec::Workload& workload : spec_.workloads) {
    if (workload.params.trace) requester_at(workload.device).read_through();
  }
  for (const auto& [component, requester] : system_.roles().requesters) {
    if (!ignores_instruction_time(*requester)) continue;
    throw InputError({"instruction_time has no effect: the accesses of this trace have no instruction gaps",
                      {},
                      "a trace with instruction gaps, or issue_interval to space its accesses",
                      {},
                      InputError::Kind::kNoEffect},
                     "devices." + component->name() + ".instruction_time");
  }
}

// Only once its accesses are all read it is known that a trace has no gaps.
bool Simulation::ignores_instruction_time(const Sequencer& requester) {
  return requester.has_work() && requester.times_instructions() && !requester.has_instruction_gaps();
}

ExternalFeed& Simulation::drive(const std::string& device) {
  Sequencer& requester = requester_at(device);
  if (requester.has_work()) throw InputError({"'" + device + "' has a workload already", {}, {}, {}});
  auto feed = std::make_unique<ExternalFeed>();
  ExternalFeed& driven = *feed;
  Work work;
  work.name = "driven." + device;
  work.stream = std::move(feed);
  requester.assign(std::move(work), *this);
  driven_[device] = {&requester, &driven};
  kernel_->stay_awake(true);
  system_.check_whole();
  return driven;
}

void Simulation::inject(const std::string& device, const Access& access, ExternalFeed::Answered answered) {
  const auto found = driven_.find(device);
  if (found == driven_.end())
    throw InputError({"'" + device + "' is not driven from outside", {}, "drive() first", {}});
  const auto [requester, feed] = found->second;
  // Before anything has changed: whoever drives it may go on with another access.
  if (access.size == 0 || access.address.value() + (access.size - 1U) < access.address.value())
    throw InputError({"an access of no bytes, or past the end of all addresses", {}, {}, {}},
                     "driven." + device);
  requester->check_mapped(access);
  feed->push(access, std::move(answered));
  requester->resume();
}

void Simulation::close_feeds() {
  for (const auto& [name, driven] : driven_) {
    driven.second->close();
    driven.first->resume();
  }
  kernel_->stay_awake(false);
  end_io_with_work();
}

bool Simulation::advance(Time limit, std::uint64_t max_events) {
  if (state_ != State::kRunning) return true;
  if (std::ranges::none_of(system_.roles().requesters,
                           [](const auto& each) { return each.role->has_work(); })) {
    throw InputError({"nobody makes requests", {}, "an entry for a host or an accelerator", {}}, "workload");
  }
  do {
    const std::uint64_t ran = run_events(limit, max_events);
    max_events -= ran;
    if (kernel_->now() > kLatest)
      throw SimulationError(diagnosis("simulated time runs out of its 64 bits", kernel_->now()));
    look_for_livelock(ran);
    if (!kernel_->idle() && (max_events == 0 || kernel_->next_event_time() > limit)) return false;
  } while (!kernel_->idle());
  if (std::ranges::any_of(system_.roles().requesters,
                          [](const auto& each) { return each.role->waits_for_outside(); })) {
    return false;
  }
  finish();
  return true;
}

// What others throw than we do comes from a part of a plug-in, if there is one.
template <class Action>
auto Simulation::blaming_plugins(Action action) const {
  try {
    return action();
  } catch (const InputError&) {
    throw;
  } catch (const SimulationError&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    fail(error.what());
  } catch (...) {
    fail("what is no std::exception");
  }
}

std::uint64_t Simulation::run_events(Time limit, std::uint64_t most) {
  return blaming_plugins([&] {
    return kernel_->run(limit, std::min(most, LivelockWatch::kMostAtOnce),
                        livelock_watch_.next_look() - Time{1});
  });
}

void Simulation::fail(const std::string& thrown) const {
  const std::string failure = plugin_failure(registry_, spec_, system_, kernel_->failed(), thrown);
  if (failure.empty()) throw;
  throw SimulationError(failure);
}

// Whatever the slices: a look takes place behind all that lies before it.
void Simulation::look_for_livelock(std::uint64_t events) {
  if (kernel_->idle()) return;
  if (const std::string why = livelock_watch_.look_at_instant(*kernel_, events); !why.empty())
    throw SimulationError(diagnosis("livelock: " + why, kernel_->now()));
  const Time next = kernel_->next_event_time();
  if (next < livelock_watch_.next_look()) return;
  const std::string why = livelock_watch_.look(next);
  if (why.empty()) return;
  const std::string problem = livelock_watch_.verdict(why, [&] {
    while (!kernel_->idle() && kernel_->next_event_time() < livelock_watch_.next_look())
      run_events(Time::max(), ~std::uint64_t{0});
    return kernel_->idle() ? Time::max() : kernel_->next_event_time();
  });
  throw SimulationError(diagnosis(problem, livelock_watch_.next_look()));
}

void Simulation::finish() {
  for (const auto& [component, requester] : system_.roles().requesters) {
    if (requester->has_work() && !requester->finished()) {
      throw SimulationError(
          diagnosis("deadlock: nothing is left to happen, and requests wait for an answer", kernel_->now()));
    }
  }
  for (const auto& [component, requester] : system_.roles().requesters)
    ensure(requester->live_requests() == 0, "a request was lost");
  for (const auto& [component, engine] : system_.roles().io_initiators)
    ensure(engine->outstanding() == 0, "a packet was lost");
  ensure(system_.fabric().posted.live() == 0, "a posted write was lost");
  if (window_ == Window::kBefore && opener_) end_unmeasured();
  blaming_plugins([&] {  // media are caught up with
    if (window_ == Window::kOpen) close_window(kernel_->now());
    if (commands_) commands_->finish(kernel_->now());
  });
  state_ = State::kFinished;
  stop_reason_ = known_ ? "finished: the mean latency is known to " + percent_text(*spec_.run.until.ci)
                        : "finished: every request was answered";
  add_notes_on_work();
  add_note_on_precision();
}

// The work has ended before the time at which it was to be measured.
void Simulation::end_unmeasured() {
  const std::string time = to_text(*spec_.run.warmup_time);
  if (driven_.empty()) {
    throw InputError({"the work ends during the warm-up",
                      "all answered at " + to_text(kernel_->now()),
                      "more work, or less than " + time,
                      {}},
                     "run.warmup_time");
  }
  notes_.push_back("nothing was measured: the run ended before run.warmup_time, which is " + time);
}

// What the requesters did otherwise than the spec says.
void Simulation::add_notes_on_work() {
  for (const auto& [component, requester] : system_.roles().requesters) {
    if (!requester->has_work()) continue;
    const std::string name = "workload." + component->name();
    // What comes from outside, or was cut short, could have had gaps yet.
    if (!known_ && driven_.empty() && ignores_instruction_time(*requester)) {
      notes_.push_back("devices." + component->name() +
                       ".instruction_time had no effect: the accesses of its trace have no instruction gaps");
    }
    const std::uint64_t issued = requester->issued();
    const std::uint64_t before = requester->issued_before_window();
    if (const auto wanted = requester->expected(); wanted && issued < *wanted) {
      notes_.push_back(name + " ended after " + std::to_string(issued) + " of " +
                       counted(*wanted, "request") + ", warm-up included: its trace has no more");
    }
    if (requester->trace_ended() && (opener_ ? before == issued : before > requester->warmup())) {
      notes_.push_back(name + " made " + std::to_string(before) + " of the " + counted(issued, "request") +
                       " of its trace before the window opened; " + std::to_string(issued - before) +
                       (issued - before == 1 ? " is" : " are") +
                       " left to be measured, more with a shorter run.warmup");
    }
  }
}

void Simulation::add_note_on_precision() {
  if (!spec_.run.until.ci || known_) return;
  const auto error = observer_.relative_error();
  notes_.push_back("the run ended before the mean latency was known to " + percent_text(*spec_.run.until.ci) +
                   ": " +
                   (error ? "it is known to " + percent_text(*error) + " (95 % confidence)"
                          : "too little was measured to say how well it is known") +
                   "; measure more requests");
}

void Simulation::stop(const std::string& reason) {
  if (state_ != State::kRunning) return;
  blaming_plugins([&] {                                           // media are caught up with
    if (window_ == Window::kBefore) open_window(kernel_->now());  // an empty one: nothing was measured
    if (window_ == Window::kOpen) close_window(kernel_->now());
    if (commands_) commands_->stop(kernel_->now());
  });
  state_ = State::kStopped;
  stop_reason_ = "stopped: " + reason;
  add_note_on_precision();
}

Simulation::Progress Simulation::progress() const {
  Progress progress{completed_, 0, kernel_->now(), kernel_->events()};
  for (const auto& [component, requester] : system_.roles().requesters) {
    const auto expected = requester->expected();
    if (!expected) progress.expected.reset();
    if (progress.expected) *progress.expected += *expected;
  }
  return progress;
}

std::string Simulation::diagnosis(const std::string& problem, Time now) const {
  return describe_standstill(problem, now, system_, *kernel_);
}

void Simulation::measuring_begins(Time now) {
  if (window_ == Window::kBefore && !opener_ && all_warm()) open_window(now);
}

// What is left when all have run out of work is the drain, and not to be measured.
void Simulation::open_at_given_time() {
  const bool at_work = std::ranges::any_of(system_.roles().requesters, [](const auto& each) {
    return each.role->has_work() && !each.role->out_of_work();
  });
  if (window_ == Window::kBefore && at_work) open_window(kernel_->now());
}

bool Simulation::all_warm() {
  while (!cold_.empty() && cold_.back()->warm()) cold_.pop_back();
  return cold_.empty();
}

void Simulation::work_ends(Time now) {
  if (window_ == Window::kOpen) close_window(now);
}

void Simulation::completed(const Request& request, Time now) {
  ++completed_;
  livelock_watch_.answered(request);
  if (window_ == Window::kOpen) {
    observer_.completed(request, now);
    if (++measured_ == next_look_) [[unlikely]]
      conclude_if_known();
  }
}

void Simulation::line_completed(const Request& line, Time now) {
  livelock_watch_.answered(line);
  if (window_ == Window::kOpen) observer_.line_completed(line, now);
}

void Simulation::prefetched(NodeId requester, NodeId target, std::uint64_t bytes) {
  if (window_ == Window::kOpen) observer_.prefetched(requester, target, bytes);
}

void Simulation::written_back(NodeId requester, NodeId target, std::uint64_t bytes) {
  if (window_ == Window::kOpen) observer_.written_back(requester, target, bytes);
}

void Simulation::drained(NodeId buffer, NodeId target, std::uint64_t bytes) {
  if (window_ == Window::kOpen) observer_.drained(buffer, target, bytes);
}

// At points of the run that depend on nothing but the run, each an eighth of the way further than the one before: who looks
// too often finds an interval that is narrow by chance.
void Simulation::conclude_if_known() {
  next_look_ += next_look_ / 8;
  const auto error = observer_.relative_error();
  if (!error || *error > *spec_.run.until.ci) return;
  known_ = true;
  close_window(kernel_->now());
  for (const auto& [component, requester] : system_.roles().requesters) requester->cease();
}

void Simulation::rests() { end_io_with_work(); }

// CXL.io is the background of the work: it ends with the last answer, and what is under way then is let through.
void Simulation::end_io_with_work() {
  if (system_.roles().io_initiators.empty()) [[likely]]
    return;
  if (std::ranges::all_of(system_.roles().requesters,
                          [](const auto& each) { return !each.role->has_work() || each.role->finished(); })) {
    cease_io();
  }
}

void Simulation::cease_io() {
  for (const auto& [component, initiator] : system_.roles().io_initiators) initiator->cease();
}

void Simulation::open_window(Time now) {
  window_ = Window::kOpen;
  window_start_ = now;
  for (const auto& each : system_.components()) each->open_window(now);
  for (const auto& end : system_.link_ends()) end->open_window(now);
  if (sampler_) sampler_->open_window(now);
  if (commands_) commands_->open_window(now);
  if (protocol_) protocol_->open_window();
  observer_.measuring_begins(now);
}

// What one throws is thrown when all the others are closed: their measures are results, if of a run that ends unfinished.
void Simulation::close_window(Time now) {
  window_ = Window::kAfter;
  window_end_ = now;
  std::exception_ptr thrown;
  for (const auto& each : system_.components()) {
    try {
      each->close_window(now);
    } catch (...) {
      if (!thrown) thrown = std::current_exception();
    }
  }
  for (const auto& end : system_.link_ends()) end->close_window(now);
  if (sampler_) sampler_->close_window();
  if (commands_) commands_->close_window(now);
  if (protocol_) protocol_->close_window();
  observer_.work_ends(now);
  if (thrown) std::rethrow_exception(thrown);
}

}  // namespace cxloom
