// The discrete-event kernel: simulated time, the pending events, and the ends of instants.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/error.hpp"
#include "base/units.hpp"
#include "kernel/event_handler.hpp"
#include "kernel/event_queue.hpp"
#include "kernel/event_source.hpp"
#include "kernel/measured_window.hpp"

namespace cxloom {

/// The end of simulated time, 53 days: what a parameter adds to it still fits into 64 bits of picoseconds.
inline constexpr Time kLatest{Time::max().ps() / 2};

/// Sees every event before it happens: for logs and tests. A message that leaves a link end of flits in the
/// event with which it arrives is not seen as an arrival of its own.
class EventWatcher {
 public:
  virtual ~EventWatcher() = default;
  virtual void before(const Event& event) = 0;
};

class Arena;
class Outbox;
struct KernelGroup;
struct WaitedFor;

class alignas(128) Kernel {
 public:
  /// So many events happen at most before the events are counted anew. A source's count has 32 bits: it stays
  /// far below, since what it counts has happened or is pending.
  static constexpr std::uint64_t kCountedTogether = std::uint64_t{1} << 31U;

  explicit Kernel(std::uint64_t counted_together = kCountedTogether);
  /// One of several, which have the same numbering of sources; they live as long as the group.
  explicit Kernel(KernelGroup& group, std::uint64_t counted_together = kCountedTogether);
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;
  ~Kernel();

  Time now() const { return now_; }
  /// For what the events touch all the time: it lives as long as the kernel.
  Arena& arena();
  /// That of what the event at hand does, among all parts of a divided system: of one of several kernels.
  EventPlace place() const { return {now_, order_, settled_at_ == now_ ? round_ : 0}; }
  /// Events so far, the one at hand included.
  std::uint64_t events() const { return events_; }

  /// A new identity for something that sends events.
  EventSource new_source();

  /// Calls `handler.wake(kind, payload)` at `at`, not before now.
  void schedule(Time at, EventSource& source, EventHandler& handler, std::uint8_t kind,
                std::uint64_t payload = 0) {
    push(at, source, handler, kind, payload);
  }
  /// Schedules for a source that never counts: the order of its events of one time and kind does not matter.
  void schedule_uncounted(Time at, const EventSource& source, EventHandler& handler, std::uint8_t kind) {
    ensure(at >= now_, "an event before now");
    queue_.push(at, source.order_of(kind), &handler, 0);
  }
  /// Calls `handler.receive(message)` at `at`. Every hop does: in line, however much there is around it.
  [[gnu::always_inline]] void deliver(Time at, EventSource& source, EventHandler& handler, Message& message) {
    push(at, source, handler, Event::kArrival, payload_of(message));
  }
  /// Schedules an event of another part, at which it is when the window ends in which both run side by
  /// side.
  void send(const Kernel& to, Time at, EventSource& source, EventHandler& handler, std::uint8_t kind,
            std::uint64_t payload);
  /// Something else that another part is to know by `at`: that one calls `take(receiver, at)`.
  void send(const Kernel& to, Time at, void* receiver, void (*take)(void* receiver, Time at));
  /// As `schedule`, for what goes on by itself (refresh, samplers): it keeps no simulation alive.
  void schedule_background(Time at, EventSource& source, EventHandler& handler, std::uint8_t kind,
                           std::uint64_t payload = 0);
  /// Calls `handler.settle()` once everything that happens at this instant has happened. The caller asks at
  /// most once per instant.
  void at_end_of_instant(EventHandler& handler);

  /// Runs all events up to and including `limit`, at most `max_events`. Returns how many it ran. If it is not
  /// idle behind those up to and including `stop`, it returns with time where it is.
  std::uint64_t run(Time limit, std::uint64_t max_events, Time stop = Time::max());
  /// The handler that was at work when `run` threw; null if it did not.
  const EventHandler* failed() const { return failed_; }
  /// No event is pending that would bring the simulation forward.
  bool idle() const { return queue_.size() == background_ && settling_.empty(); }
  /// Time of the next event, Time::max() if there is none.
  Time next_event_time();
  /// Whether more may come from outside: then background events go on happening up to the limit of `run`, if
  /// it has one, when nothing else is left.
  void stay_awake(bool awake) { awake_ = awake; }
  /// Ends `run` after the event at hand.
  void pause() {
    paused_ = true;
    look_up_at_ = 0;
  }

  /// Shows every event from now on to `watcher`; null ends it.
  void watch(EventWatcher* watcher) {
    watcher_ = watcher;
    attends_ = watcher_ || !own_group_;
  }

  /// Every wait list of the simulation, for the diagnosis of a deadlock.
  const std::vector<WaitedFor>& wait_lists() const;
  void register_wait_list(const WaitedFor& waited);

  /// Opens and closes these with the measured window, as MeasuredParts::add says. They live as long as the
  /// simulation, stay where they are, and come once each, before the window opens.
  template <class... Parts>
  void measure(Parts&... parts) {
    measured().add(parts...);
  }
  /// The window of the whole simulation. What a component does itself when it opens or closes comes before.
  void open_window(Time at) { measured().open(at); }
  void close_window(Time at) { measured().close(at); }

 private:
  friend class DividedKernels;
  friend MeasuredParts& measured_parts(Kernel& kernel);

  Outbox& outbox_to(const Kernel& to);
  void take_in(Outbox& outbox);
  [[gnu::hot]] void push(Time at, EventSource& source, EventHandler& handler, std::uint8_t kind,
                         std::uint64_t payload) {
    ensure(at >= now_, "an event before now");
    queue_.push_next(at, source.next(kind), &handler, payload);
  }
  MeasuredParts& measured();
  void run_event(const Event& next);
  void run_top();
  void end_instant();
  void count_anew();

  void begin_instant(Time at) {
    now_ = at;
    order_ = 0;
  }

  Time now_;
  std::uint64_t order_ = 0;  // highest of this round
  std::uint32_t round_ = 0;  // of the instant whose end was the last to come
  Time settled_at_{-1};      // that instant
  EventQueue queue_;
  std::unique_ptr<Arena> arena_;
  std::unique_ptr<KernelGroup> own_group_;
  KernelGroup& group_;
  std::size_t index_ = 0;  // in the group
  std::vector<Outbox> outboxes_;
  std::vector<EventHandler*> settling_;
  std::vector<EventHandler*> settling_now_;
  std::uint64_t events_ = 0;
  std::uint64_t background_ = 0;
  std::uint64_t counted_together_;
  std::uint64_t count_anew_at_;   // this number of events
  std::uint64_t look_up_at_ = 0;  // as many events, and `run` asks whether it is to end
  bool paused_ = false;
  bool awake_ = false;
  bool attends_ = false;  // to each event, before it happens: it is watched, or has a place among parts
  EventWatcher* watcher_ = nullptr;
  const EventHandler* failed_ = nullptr;
};

}  // namespace cxloom
