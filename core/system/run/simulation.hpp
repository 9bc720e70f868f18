// A running system: what is built, its work and its window, driven from outside in slices. It is an object
// like any other; a thousand can live in one process.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "device/requester/requester.hpp"
#include "kernel/measured_window.hpp"
#include "memory/media/byte_store.hpp"
#include "protocol/request_observer.hpp"
#include "system/model/system.hpp"
#include "system/record/run_recorders.hpp"
#include "system/run/driven_requesters.hpp"
#include "system/run/livelock_watch.hpp"
#include "system/run/outside_parts.hpp"
#include "system/run/plugin_failure.hpp"
#include "system/run/stopping_rule.hpp"
#include "system/run/system_past.hpp"
#include "system/run/whole_run.hpp"
#include "system/work/workload_builder.hpp"

namespace cxloom {

class EventPlayer;
class EventWatcher;
class Kernel;
class ProtocolObserver;
class RunKernels;
class TaskPlayer;
class VersionWatcher;
class WindowOpener;
struct ThreadDivision;

class Simulation final : private RequestObserver, private WholeRun {
 public:
  struct Progress {
    std::uint64_t completed = 0;  ///< requests, warm-up included
    std::optional<std::uint64_t> expected;
    Time now;
    std::uint64_t events = 0;
  };
  enum class State : std::uint8_t { kRunning, kFinished, kStopped };

  /// Builds the system and checks it. Throws InputError with the path of what is wrong. `observer` hears of
  /// the requests that complete inside the measured window. The system is divided among `run.threads`, unless
  /// a `division` says how.
  Simulation(const Registry& registry, Spec spec, const TraceOpener& open_trace, RequestObserver& observer,
             const ThreadDivision* division = nullptr);
  ~Simulation() override;

  /// Steps that are left of what media have been through before the run (`MediaPast`). They are played when
  /// the media are first accessed, if nobody has played them before; who shows progress does, in parts.
  std::uint64_t past_left() const { return past_.left(); }
  /// Plays so many of them at most.
  void play_past(std::uint64_t steps);
  /// Leaves out all of them.
  void leave_past_out() { past_.leave_out(); }

  /// Runs events up to and including `limit`, at most `max_events`; true when the simulation is over. Throws
  /// SimulationError with a diagnosis if it cannot finish, and InputError if it is called by what it calls.
  bool advance(Time limit, std::uint64_t max_events);
  /// Runs everything that happens up to and including `limit`.
  bool run_until(Time limit) { return advance(limit, ~std::uint64_t{0}); }
  Time next_event_time();
  Time now() const;

  /// Lets the outside give accesses to a host or accelerator that has no workload; to be called before it
  /// runs. Throws InputError if there is no such device or it has work already.
  void drive(const std::string& device);
  /// Gives one access to a device that is driven from outside, now; `answered` is called at its completion.
  /// Throws InputError, with everything as it was, for an access that nobody can serve, and for one after the
  /// end.
  void inject(const std::string& device, const Access& access, ExternalFeed::Answered answered);
  /// The parts in whose place there is something outside.
  OutsideParts& outside() { return outside_; }
  const DrivenRequesters& driven() const { return driven_; }
  /// Null: it is not driven from outside.
  DrivenRequester* driven(NodeId device) const { return driven_.at(device); }
  /// Gives a device that is driven from outside a block to move, now; `moved` is called at its end. Throws
  /// InputError, with everything as it was, for one that it cannot move, and for one after the end.
  void transfer(const std::string& device, const BlockOrder& order, FedBlock::Moved moved);
  /// No more accesses will come from outside, but for those of answers to others. Throws InputError if the
  /// simulation is over.
  void close_feeds();
  /// Throws InputError if it is over: what is over stays so.
  void check_running() const;
  /// It is inside of `advance`: an answer, or something else that it calls, has asked.
  bool advancing() const { return advancing_; }
  /// Reads or writes bytes at once, without time passing: for those who need values.
  ByteStore& bytes() { return bytes_; }

  /// The measured window ends now, if it is open, and the next one begins. `ended` is called between these:
  /// what was measured can be had there. Throws InputError if the simulation is over, has a graph of tasks,
  /// or runs in several threads.
  void begin_window(const std::function<void()>& ended);
  /// As `begin_window`, for parts of one window that follow each other to its end: the last one closes with
  /// the work when that would have.
  void begin_next_part(const std::function<void()>& ended);

  /// Reads the traces of the workloads, as far as a run is sure to read them, and the beginning of what
  /// patterns make; to be called instead of running it. Throws InputError for what a run would refuse.
  void read_work();

  /// Ends it now; `reason` completes "stopped: ...". Closes the window with what there is.
  void stop(const std::string& reason);

  State state() const { return state_; }
  const std::string& stop_reason() const { return stop_reason_; }
  /// What the user should know of the run, a sentence each.
  const std::vector<std::string>& notes() const { return notes_; }
  Progress progress() const;

  /// Shows every event from now on to `watcher`; null ends it.
  void watch(EventWatcher* watcher);
  /// Shows to `observer` from now on the messages of the protocol; null ends it.
  void watch(ProtocolObserver* observer);
  /// Shows to `watcher` from now on what becomes of versions of lines, which are kept; null ends it.
  void watch(VersionWatcher* watcher);
  /// Records from now on the messages of the protocol; of these addresses' lines alone if there are any.
  /// Throws InputError for an address that no region holds.
  void log_protocol(const std::vector<Address>& addresses);

  // What there is to look at.
  const Kernel& kernel() const { return *kernel_; }
  /// What plays its events, in one part or several.
  const RunKernels& kernels() const { return *kernels_; }
  const System& system() const { return system_; }
  const Spec& spec() const { return spec_; }
  const Registry& registry() const { return registry_; }
  /// What happened to the system during the run.
  const EventPlayer& events() const { return *events_; }
  /// Its graph of tasks; null: it has none.
  const TaskPlayer* tasks() const { return tasks_.get(); }
  bool window_opened() const { return window_.has_opened(); }
  Time window_start() const { return window_.opened(); }
  Time window_end() const { return window_.closed(); }
  const MeasuredWindow& window() const { return window_; }
  RunRecorders& recorders() { return recorders_; }

 private:
  RequestObserver& observer_at(NodeId node);
  void give_work();
  void record_commands();
  void give_tasks();
  void tasks_over();
  Requester& requester_at(const std::string& device) const;
  void open_at_given_time();
  void end_unmeasured();
  bool all_warm();
  bool has_tasks_left() const;
  void conclude();
  void add_note(std::string note);
  void add_notes(const std::vector<std::string>& notes) {
    for (const std::string& note : notes) add_note(note);
  }

  void measuring_begins(Time now) override;
  void work_ends(Time now) override;
  void completed(const Request& request, Time now) override;
  void line_completed(const Request& line, Time now) override {
    livelock_watch_.answered(line);
    if (window_.is_open()) observer_.line_completed(line, now);
  }
  void written_back(NodeId requester, NodeId target, std::uint64_t bytes) override {
    if (window_.is_open()) observer_.written_back(requester, target, bytes);
  }
  void prefetched(NodeId requester, NodeId target, std::uint64_t bytes) override {
    if (window_.is_open()) observer_.prefetched(requester, target, bytes);
  }
  void drained(NodeId buffer, NodeId target, std::uint64_t bytes) override {
    if (window_.is_open()) observer_.drained(buffer, target, bytes);
  }
  void copied_from(NodeId source, std::uint64_t bytes) override {
    if (window_.is_open()) observer_.copied_from(source, bytes);
  }
  void rests() override;

  NextOfAll next() const override {
    if (has_tasks_left()) return NextOfAll::kTaskEnds;
    if (!counting_ && !opener_) return NextOfAll::kAllWarm;
    return window_.is_open() ? NextOfAll::kFirstOutOfWork : NextOfAll::kAllOutOfWork;
  }
  std::uint64_t answers_until_look() const override { return stopping_rule_.answers_until_look(); }
  bool overlooked_warmth() override { return !counting_ && !opener_ && all_warm(); }
  std::uint64_t accesses_of_task(const Requester& requester) const override;
  bool unsettled() const override;
  void go_side_by_side(bool side_by_side) override;
  void measured() override {
    if (stopping_rule_.measured()) [[unlikely]]
      conclude();
  }

  void begin_counting(Time now);
  void open_window(Time now);
  void close_window(Time now);
  void end_io_with_work();
  void cease_io();
  bool advance_events(Time limit, std::uint64_t max_events);
  std::uint64_t run_events(Time limit, std::uint64_t most);
  void look_for_livelock(std::uint64_t events);
  void finish();
  std::string diagnosis(const std::string& problem, Time now) const;

  const Registry& registry_;
  Spec spec_;
  RequestObserver& observer_;
  std::unique_ptr<RunKernels> kernels_;
  Kernel* kernel_;  // of what concerns the whole system
  std::unique_ptr<EventPlayer> events_;
  System system_;
  PluginFailure plugin_failure_;
  SystemPast past_;
  WorkloadBuilder workload_builder_;
  std::unique_ptr<TaskPlayer> tasks_;
  ByteStore bytes_;
  DrivenRequesters driven_;
  OutsideParts outside_;
  bool advancing_ = false;
  bool counting_ = false;
  RunRecorders recorders_;

  State state_ = State::kRunning;
  std::string stop_reason_;
  std::vector<std::string> notes_;
  std::unique_ptr<WindowOpener> opener_;  // none: the window opens when all are warm
  MeasuredWindow window_;
  std::vector<const Requester*> cold_;  // the last of them is; others may be warm meanwhile
  std::uint64_t completed_ = 0;
  StoppingRule stopping_rule_;
  LivelockWatch livelock_watch_;
};

}  // namespace cxloom
