#include "system/run/simulation.hpp"
#include "system/events/failure_actions.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "component/io_roles.hpp"
#include "component/line_versions.hpp"
#include "component/replica_set.hpp"
#include "component/transfer_engine.hpp"
#include "device/requester/requester.hpp"
#include "device/switch/persist_domain.hpp"
#include "interconnect/link/end.hpp"
#include "kernel/kernel.hpp"
#include "kernel/wait_list.hpp"
#include "system/build/system_builder.hpp"
#include "system/build/system_notes.hpp"
#include "system/events/offline_actions.hpp"
#include "system/events/player.hpp"
#include "system/kinds/registry.hpp"
#include "system/record/command_recorder.hpp"
#include "system/record/protocol_recorder.hpp"
#include "system/run/kept_versions.hpp"
#include "system/run/run_kernels.hpp"
#include "system/run/standstill.hpp"
#include "system/run/window_opener.hpp"
#include "system/tasks/task_player.hpp"
#include "system/work/checks.hpp"
#include "system/work/notes.hpp"

namespace cxloom {

namespace {

// Accesses of a pattern that a check looks at: what is wrong with one is wrong with many, and each takes some
// ten nanoseconds.
constexpr std::uint64_t kMostOfPattern = 100'000;

}  // namespace

Simulation::Simulation(const Registry& registry, Spec spec, const TraceOpener& open_trace,
                       RequestObserver& observer, const ThreadDivision* division)
    : registry_(registry),
      spec_(std::move(spec)),
      observer_(observer),
      kernels_(std::make_unique<RunKernels>(registry, spec_, observer, division)),
      kernel_(&kernels_->main()),
      events_(std::make_unique<EventPlayer>(*kernel_, spec_.events)),
      system_(kernels_->build()),
      plugin_failure_(registry, spec_, system_, *kernels_),
      past_(system_),
      workload_builder_(registry, spec_, system_, open_trace),
      driven_(*kernel_, *this),
      outside_(system_),
      stopping_rule_(spec_.run.until.ci, observer),
      livelock_watch_(system_, spec_.run) {
  if (DividedRun* const divided = kernels_->divided())
    divided->attach(*this, *this, observer_, window_, livelock_watch_);
  events_->attach(system_);
  give_work();
  livelock_watch_.know_warmups();
  give_tasks();
  if (DividedRun* const divided = kernels_->divided()) divided->begin(system_);
  events_->expect_work();
  events_->on_memory_change([this] { workload_builder_.memory_changed(); });
  if (spec_.run.warmup_time) {
    opener_ =
        std::make_unique<WindowOpener>(*kernel_, *spec_.run.warmup_time, [this] { open_at_given_time(); });
  }
  check_whole(system_, spec_);
  keep_versions(system_, spec_, kernels_->kernel_of_parts());
  if (DividedRun* const divided = kernels_->divided()) divided->share_of(system_);
  for (const auto& each : system_.components()) each->start();
  if (tasks_) tasks_->start([this] { tasks_over(); });
  notes_ = notes_on(system_);
  add_notes(workload_builder_.notes());
  if (tasks_) add_notes(tasks_->notes());
  if (spec_.outputs.series) recorders_.sample(*kernel_, system_, *spec_.outputs.series);
  if (spec_.outputs.commands) record_commands();
}

Simulation::~Simulation() = default;

void Simulation::record_commands() {
  recorders_.record_commands(system_, kernels_->part_of_nodes());
  if (DividedRun* const divided = kernels_->divided()) divided->share(*recorders_.commands());
}

RequestObserver& Simulation::observer_at(NodeId node) {
  DividedRun* const divided = kernels_->divided();
  return divided ? divided->observer_at(node) : static_cast<RequestObserver&>(*this);
}

Time Simulation::now() const { return kernel_->now(); }
Time Simulation::next_event_time() { return kernels_->next_event_time(); }
void Simulation::watch(EventWatcher* watcher) { kernels_->watch(watcher); }

void Simulation::watch(ProtocolObserver* observer) {
  if (DividedRun* const divided = kernels_->divided()) divided->stay_merged(observer != nullptr);
  system_.system_context().observer = observer;
  for (const auto& each : system_.components()) each->watch_protocol(observer != nullptr);
}

void Simulation::watch(VersionWatcher* watcher) { system_.system_context().versions->watch(watcher); }

void Simulation::log_protocol(const std::vector<Address>& addresses) {
  watch(&recorders_.log_protocol(system_, addresses));
}

void Simulation::give_work() {
  for (const Spec::Workload& workload : spec_.workloads) {
    with_path("workload", [&] {
      with_path(workload.device, [&] {
        Requester& requester = requester_at(workload.device);
        if (system_.address_map().empty())
          throw InputError({"there is no memory to access", {}, "address_map: a region or more", {}});
        requester.assign(workload_builder_.make(workload),
                         observer_at(system_.component(workload.device).id()));
        if (spec_.run.warmup > 0) cold_.push_back(&requester);
      });
    });
    const Requester& requester = requester_at(workload.device);
    check_instruction_time(workload, requester);
    check_closed_loop(workload, requester);
  }
  for (const auto& [component, buffer] : system_.roles().all<PersistDomain>())
    buffer->report_drains_to(observer_at(component->id()));
  if (ReplicaSets* const replicas = system_.system_context().replicas.get())
    replicas->observer = static_cast<RequestObserver*>(this);
}

// Tasks are measured from the first to the last, and workloads beside them are their background.
void Simulation::give_tasks() {
  if (spec_.tasks.empty()) return;
  refuse_crashes(spec_.events, system_, {}, "tasks, which would wait for ever for its own");
  refuse_offline(spec_.events, "tasks, whose objects do not move");
  tasks_ =
      std::make_unique<TaskPlayer>(*kernel_, registry_, spec_, system_,
                                   [this](NodeId node) -> RequestObserver& { return observer_at(node); });
}

void Simulation::tasks_over() {
  if (window_.is_open()) close_window(kernel_->now());
  for (const auto& [component, requester] : system_.roles().all<Requester>()) requester->cease();
  cease_io();
}

Requester& Simulation::requester_at(const std::string& device) const {
  if (Requester* requester = system_.roles().of<Requester>(system_.component(device).id())) return *requester;
  throw InputError({"'" + device + "' makes no requests", {}, "a host or an accelerator", {}});
}

void Simulation::read_work() {
  for (const Spec::Workload& workload : spec_.workloads) {
    requester_at(workload.device).read_through(workload.params.trace ? ~std::uint64_t{0} : kMostOfPattern);
  }
  for (const auto& [component, requester] : system_.roles().all<Requester>()) {
    check_instruction_gaps(component->name(), *requester);
    if (drops_instruction_gaps(*requester)) notes_.push_back(note_on_dropped_gaps(component->name()));
  }
}

void Simulation::check_running() const {
  if (state_ != State::kRunning)
    throw InputError({"the simulation is over: no more accesses can come", {}, {}, {}});
}

void Simulation::drive(const std::string& device) {
  check_running();
  ensure(!kernels_->divided(), "a divided system that the outside drives");
  const NodeId node = system_.component(device).id();
  refuse_crashes(spec_.events, system_, device, "accesses that a program gives it");
  refuse_offline(spec_.events, "accesses that a program gives to '" + device + "'");
  TransferEngine* const engine = system_.roles().of<TransferEngine>(node);
  driven_.drive(device, node, requester_at(device), engine, system_.address_map_of(node));
  check_whole(system_, spec_);
}

void Simulation::inject(const std::string& device, const Access& access, ExternalFeed::Answered answered) {
  check_running();
  driven_.of(device).inject(access, std::move(answered));
}

void Simulation::transfer(const std::string& device, const BlockOrder& order, FedBlock::Moved moved) {
  check_running();
  driven_.of(device).transfer(system_, order, std::move(moved));
}

void Simulation::close_feeds() {
  check_running();
  driven_.close();
  end_io_with_work();
}

bool Simulation::advance(Time limit, std::uint64_t max_events) {
  if (advancing_)
    throw InputError(
        {"the simulation is at work: an answer may inject accesses, and not advance it", {}, {}, {}});
  struct Within {
    explicit Within(bool& flag) : inside(flag) { inside = true; }
    ~Within() { inside = false; }
    Within(const Within&) = delete;
    Within& operator=(const Within&) = delete;
    bool& inside;
  };
  const Within within(advancing_);
  return advance_events(limit, max_events);
}

bool Simulation::advance_events(Time limit, std::uint64_t max_events) {
  if (state_ != State::kRunning) return true;
  if (tasks_ && !window_.has_opened()) begin_counting(kernel_->now());
  if (!tasks_ && std::ranges::none_of(system_.roles().all<Requester>(),
                                      [](const auto& each) { return each.role->has_work(); })) {
    throw InputError({"nobody makes requests", {}, "an entry for a host or an accelerator", {}}, "workload");
  }
  do {
    const std::uint64_t ran = run_events(limit, max_events);
    max_events -= std::min(ran, max_events);
    if (kernel_->now() > kLatest)
      throw SimulationError(diagnosis("simulated time runs out of its 64 bits", kernel_->now()));
    look_for_livelock(ran);
    if (!kernels_->idle() && (max_events == 0 || next_event_time() > limit)) return false;
  } while (!kernels_->idle());
  const auto waits = [](const auto& each) { return each.role->progress().waits_for_outside; };
  if (outside_.owed() > 0 || std::ranges::any_of(system_.roles().all<Requester>(), waits)) return false;
  finish();
  return true;
}

void Simulation::play_past(std::uint64_t steps) {
  plugin_failure_.name_in([&] { past_.play(steps); });
}

std::uint64_t Simulation::run_events(Time limit, std::uint64_t most) {
  return plugin_failure_.name_in([&] {
    const std::uint64_t ran = kernels_->run(limit, std::min(most, LivelockWatch::kMostAtOnce),
                                            livelock_watch_.next_look() - Time{1});
    if (DividedRun* const divided = kernels_->divided()) {
      completed_ += divided->take_completed();
      divided->take_rows();
    }
    return ran;
  });
}

// Whatever the slices: a look takes place behind all that lies before it.
void Simulation::look_for_livelock(std::uint64_t events) {
  if (kernels_->idle()) return;
  const Kernel& kernel = kernels_->stuck() ? *kernels_->stuck() : *kernel_;
  if (const std::string why = livelock_watch_.look_at_instant(kernel, events); !why.empty())
    throw SimulationError(diagnosis("livelock: " + why, kernel_->now()));
  const Time next = next_event_time();
  if (next < livelock_watch_.next_look()) return;
  const std::string why = livelock_watch_.look(next);
  if (why.empty()) return;
  const std::string problem = livelock_watch_.verdict(why, [&] {
    while (!kernels_->idle() && next_event_time() < livelock_watch_.next_look())
      run_events(Time::max(), ~std::uint64_t{0});
    return kernels_->idle() ? Time::max() : next_event_time();
  });
  throw SimulationError(diagnosis(problem, livelock_watch_.next_look()));
}

void Simulation::finish() {
  if (const std::string deadlock = deadlock_in(system_, tasks_.get()); !deadlock.empty())
    throw SimulationError(diagnosis(deadlock, kernel_->now()));
  if (!window_.has_opened() && opener_) end_unmeasured();
  plugin_failure_.name_in([&] {  // media are caught up with
    if (window_.is_open()) close_window(kernel_->now());
    recorders_.finish(kernel_->now());
  });
  if (kernels_->divided()) kernels_->divided()->take_in();
  state_ = State::kFinished;
  stop_reason_ =
      "finished: " + (stopping_rule_.met() ? stopping_rule_.reason() : "every request was answered");
  add_notes(notes_on_work(system_, {.cut_short = stopping_rule_.met(),
                                    .from_outside = !driven_.empty(),
                                    .timed_window = opener_ != nullptr}));
  add_note(stopping_rule_.note());
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

void Simulation::add_note(std::string note) {
  if (!note.empty()) notes_.push_back(std::move(note));
}

void Simulation::stop(const std::string& reason) {
  if (state_ != State::kRunning) return;
  leave_past_out();
  plugin_failure_.name_in([&] {                                 // media are caught up with
    if (!window_.has_opened()) begin_counting(kernel_->now());  // an empty window: nothing was measured
    if (window_.is_open()) close_window(kernel_->now());
    recorders_.stop(kernel_->now());
  });
  if (kernels_->divided()) kernels_->divided()->take_in();
  state_ = State::kStopped;
  stop_reason_ = "stopped: " + reason;
  add_note(stopping_rule_.note());
}

Simulation::Progress Simulation::progress() const {
  Progress progress{completed_, 0, kernel_->now(), kernels_->events()};
  for (const auto& [component, requester] : system_.roles().all<Requester>()) {
    const auto expected = requester->progress().expected;
    if (!expected) progress.expected.reset();
    if (progress.expected) *progress.expected += *expected;
  }
  return progress;
}

std::string Simulation::diagnosis(const std::string& problem, Time now) const {
  return describe_standstill(problem, now, system_, *kernel_);
}

void Simulation::measuring_begins(Time now) {
  if (!counting_ && !opener_ && all_warm()) begin_counting(now);
}

// What is left when all have run out of work is the drain, and not to be measured.
void Simulation::open_at_given_time() {
  const bool at_work = std::ranges::any_of(system_.roles().all<Requester>(), [](const auto& each) {
    return each.role->has_work() && !each.role->out_of_work();
  });
  if (!counting_ && at_work) begin_counting(kernel_->now());
}

bool Simulation::all_warm() {
  while (!cold_.empty() && cold_.back()->warm()) cold_.pop_back();
  return cold_.empty();
}

// A device that the outside may give more has not run out of work.
void Simulation::work_ends(Time now) {
  if (window_.is_open() && !tasks_ && !driven_.open()) close_window(now);
}

[[gnu::hot]] void Simulation::completed(const Request& request, Time now) {
  ++completed_;
  livelock_watch_.answered(request);
  if (window_.is_open()) {
    observer_.completed(request, now);
    measured();
  }
}

// The mean latency is known well enough.
void Simulation::conclude() {
  close_window(kernel_->now());
  for (const auto& [component, requester] : system_.roles().all<Requester>()) requester->cease();
}

bool Simulation::has_tasks_left() const { return tasks_ && !tasks_->over(); }

std::uint64_t Simulation::accesses_of_task(const Requester& requester) const {
  return tasks_->accesses_left(requester);
}

bool Simulation::unsettled() const {
  return events_->unsettled() || (tasks_ && tasks_->engines_are_at_work());
}

void Simulation::go_side_by_side(bool side_by_side) {
  events_->go_side_by_side(side_by_side);
  if (tasks_) tasks_->go_side_by_side(side_by_side);
}

void Simulation::rests() { end_io_with_work(); }

// CXL.io is the background of the work: it ends with the last answer, and what is under way then is let
// through.
void Simulation::end_io_with_work() {
  if (tasks_ && !tasks_->over()) return;
  if (system_.roles().all<IoInitiator>().empty()) [[likely]]
    return;
  if (std::ranges::all_of(system_.roles().all<Requester>(),
                          [](const auto& each) { return !each.role->has_work() || each.role->finished(); })) {
    cease_io();
  }
}

void Simulation::cease_io() {
  for (const auto& [component, initiator] : system_.roles().all<IoInitiator>()) initiator->cease();
}

void Simulation::begin_window(const std::function<void()>& ended) {
  check_running();
  if (tasks_) throw InputError({"a graph of tasks is measured as a whole", {}, {}, {}});
  if (kernels_->divided()) throw InputError({"a run in several threads is measured as a whole", {}, {}, {}});
  if (window_.is_open()) close_window(now());
  if (window_.has_opened()) ended();
  open_window(now());
}

void Simulation::begin_next_part(const std::function<void()>& ended) {
  for (const auto& [component, requester] : system_.roles().all<Requester>()) requester->divide_window();
  begin_window(ended);
}

// The warm-up is over. A window that the outside has begun before goes on: it measures, and changes nothing
// of what is made.
void Simulation::begin_counting(Time now) {
  if (!counting_)
    for (const auto& [component, requester] : system_.roles().all<Requester>()) requester->count_from_now();
  counting_ = true;
  if (!window_.has_opened()) open_window(now);
}

void Simulation::open_window(Time now) {
  window_.open(now);
  for (const auto& each : system_.components()) each->open_window(now);
  for (const auto& end : system_.link_ends()) end->open_window(now);
  kernel_->open_window(now);
  recorders_.open_window(now);
  observer_.measuring_begins(now);
}

// What one throws is thrown when all the others are closed: their measures are results, if of a run that ends
// unfinished.
void Simulation::close_window(Time now) {
  window_.close(now);
  std::exception_ptr thrown;
  for (const auto& each : system_.components()) {
    try {
      each->close_window(now);
    } catch (...) {
      if (!thrown) thrown = std::current_exception();
    }
  }
  for (const auto& end : system_.link_ends()) end->close_window(now);
  kernel_->close_window(now);
  recorders_.close_window(now);
  observer_.work_ends(now);
  if (thrown) std::rethrow_exception(thrown);
}

}  // namespace cxloom
