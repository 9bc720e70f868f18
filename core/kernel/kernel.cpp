#include "kernel/kernel.hpp"

#include <algorithm>
#include <utility>

#include "base/arena.hpp"
#include "kernel/kernel_group.hpp"
#include "kernel/outbox.hpp"

namespace cxloom {

Kernel::Kernel(std::uint64_t counted_together)
    : arena_(std::make_unique<Arena>()),
      own_group_(std::make_unique<KernelGroup>()),
      group_(*own_group_),
      counted_together_(counted_together),
      count_anew_at_(counted_together) {
  group_.kernels.push_back(this);
}

Kernel::Kernel(KernelGroup& group, std::uint64_t counted_together)
    : arena_(std::make_unique<Arena>()),
      group_(group),
      index_(group.kernels.size()),
      counted_together_(counted_together),
      count_anew_at_(counted_together),
      attends_(true) {
  group_.kernels.push_back(this);
}

Kernel::~Kernel() = default;

Arena& Kernel::arena() { return *arena_; }

EventSource Kernel::new_source() {
  ensure(group_.sources.size() < EventSource::kMost,
         "more sources of events than the order of events can tell apart");
  return EventSource(group_.sources);
}

const std::vector<WaitedFor>& Kernel::wait_lists() const { return group_.wait_lists; }

void Kernel::register_wait_list(const WaitedFor& waited) { group_.wait_lists.push_back(waited); }

// By itself, so that what comes with every arbitration needs no stack.
[[gnu::noinline]] static void add(std::vector<EventHandler*>& settling, EventHandler& handler) {
  settling.push_back(&handler);
}
[[gnu::noinline]] static void add_in(KernelGroup& group, Kernel& kernel, std::vector<EventHandler*>& settling,
                                     EventHandler& handler) {
  if (group.one_thread) group.settling.push_back(&kernel);
  settling.push_back(&handler);
}

void Kernel::at_end_of_instant(EventHandler& handler) {
  if (!own_group_) [[unlikely]]
    return add_in(group_, *this, settling_, handler);
  if (settling_.size() == settling_.capacity()) [[unlikely]]
    return add(settling_, handler);
  settling_.push_back(&handler);
}

MeasuredParts& Kernel::measured() { return group_.measured; }

MeasuredParts& measured_parts(Kernel& kernel) { return kernel.measured(); }

void Kernel::schedule_background(Time at, EventSource& source, EventHandler& handler, std::uint8_t kind,
                                 std::uint64_t payload) {
  ++background_;
  push(at, source, handler, kind | Event::kBackground, payload);
}

// There are as many as parts, which are few. It does not look into the other kernel, whose thread writes
// there.
[[gnu::always_inline]] inline Outbox& Kernel::outbox_to(const Kernel& to) {
  for (Outbox& outbox : outboxes_) {
    if (outbox.to() == &to) return outbox;
  }
  throw InternalError("a part that has no outbox to another");
}

void Kernel::send(const Kernel& to, Time at, EventSource& source, EventHandler& handler, std::uint8_t kind,
                  std::uint64_t payload) {
  outbox_to(to).send(Outbox::Sent{at, source.next(kind), &handler, payload});
}

void Kernel::send(const Kernel& to, Time at, void* receiver, void (*take)(void* receiver, Time at)) {
  outbox_to(to).send(Outbox::Call{at, receiver, take});
}

// What a message touches on its way is another processor's: it is asked for at once for all messages, since
// they come one by one and each would wait. A request has the account of its way four lines behind its
// message; a message by itself seldom begins a cache line.
[[gnu::always_inline]] static inline void fetch_message(const Outbox::Sent& sent) {
  if ((sent.order & 0xffU) != Event::kArrival) return;
  const void* const message = reinterpret_cast<const void*>(sent.payload);
  prefetch_owned(message);
  prefetch_owned(message, 1);
  if (sent.payload % kCacheLine != 0) return;
  prefetch_owned(message, 4);
  prefetch_owned(message, 5);
}

void Kernel::take_in(Outbox& outbox) {
  Outbox::Page& page = outbox.sent();
  for (const Outbox::Sent& sent : page.events) {
    ensure(sent.at >= now_, "an event before now");
    prefetch(&sent, 2 * Outbox::kAhead);
    fetch_message(sent);
    background_ += (sent.order & Event::kBackground) != 0 && (sent.order & 0xffU) != Event::kArrival ? 1 : 0;
    queue_.push_next(sent.at, sent.order, sent.handler, sent.payload);
  }
  page.events.clear();
  for (const Outbox::Call& call : page.calls) {
    ensure(call.at >= now_, "news that come after they should be known");
    prefetch(&call, 2 * Outbox::kAhead);
    call.take(call.to, call.at);
  }
  page.calls.clear();
  page.earliest = Time::max();
}

Time Kernel::next_event_time() {
  if (!settling_.empty()) return now_;
  return queue_.empty() ? Time::max() : queue_.top().time;
}

// A handler is foreseen when so many others settle before it, and again at half as many, when what the first
// call fetched is there.
constexpr std::size_t kSettlingAhead = 4;
// Where so many settle, their state does not fit in the cache (as EventQueue::kCrowded).
constexpr std::size_t kManySettle = 24;

void Kernel::end_instant() {
  // A handler may cause events at this same instant, and these may ask for its end again.
  settling_now_.swap(settling_);
  if (std::exchange(settled_at_, now_) != now_) round_ = 0;
  ++round_;
  order_ = 0;
  const std::size_t count = settling_now_.size();
  for (std::size_t i = 0; i < count; ++i) {
    if (count >= kManySettle && i + kSettlingAhead < count) {
      settling_now_[i + kSettlingAhead]->foresee_settle(true);
      settling_now_[i + kSettlingAhead / 2]->foresee_settle(false);
    }
    EventHandler* const handler = settling_now_[i];
    try {
      handler->settle();
    } catch (...) {
      failed_ = handler;
      throw;
    }
  }
  settling_now_.clear();
}

/// Gives the pending events of each source the least counts, in their order, and lets the source go on from
/// there.
void Kernel::count_anew() {
  std::vector<Event*> pending;
  for (Kernel* kernel : group_.kernels) kernel->queue_.list_pending(pending);
  std::sort(pending.begin(), pending.end(),
            [](const Event* a, const Event* b) { return a->order < b->order; });
  std::vector<std::uint32_t> counts(group_.sources.size(), 0);
  for (Event* event : pending) {
    const std::uint32_t source = EventSource::identity_in(event->order);
    if (!group_.sources[source]->uncounted())
      event->order = EventSource::with_count(event->order, counts[source]++);
  }
  for (EventSource* source : group_.sources) source->count_from(counts[source->identity()]);
  for (Kernel* kernel : group_.kernels) kernel->count_anew_at_ = kernel->events_ + kernel->counted_together_;
}

/// The event at the top, which is now.
[[gnu::always_inline]] inline void Kernel::run_event(const Event& next) {
  if (attends_) [[unlikely]] {
    if (watcher_) watcher_->before(next);
    order_ = std::max(order_, next.order);
  }
  EventHandler& handler = *next.handler;
  const std::uint64_t payload = next.payload;
  const std::uint8_t kind = next.kind();
  if (const Event* const soon = queue_.pop()) soon->handler->foresee(soon->kind() & 0x7fU, soon->payload);
  ++events_;
  try {
    if (kind == Event::kArrival) {
      handler.receive(object_of<Message>(payload));
    } else {
      if ((kind & Event::kBackground) != 0) --background_;
      handler.wake(kind & 0x7fU, payload);
    }
  } catch (...) {
    failed_ = &handler;
    throw;
  }
}

void Kernel::run_top() { run_event(queue_.top()); }

[[gnu::hot]] std::uint64_t Kernel::run(Time limit, std::uint64_t max_events, Time stop) {
  paused_ = false;
  const Time last = std::min(limit, stop);
  const std::uint64_t before = events_;
  const std::uint64_t enough = max_events < ~before ? before + max_events : ~std::uint64_t{0};
  // One of several kernels leaves counting anew to DividedKernels: others may be at work.
  look_up_at_ = own_group_ ? std::min(enough, count_anew_at_) : enough;
  while (true) {
    if (events_ >= look_up_at_) [[unlikely]] {
      if (paused_ || events_ >= enough) break;
      count_anew();
      look_up_at_ = std::min(enough, count_anew_at_);
    }
    if (queue_.size() == background_) [[unlikely]] {
      // The remaining events go on by themselves for ever.
      if (settling_.empty() && (queue_.empty() || !awake_ || limit == Time::max())) break;
      if (queue_.empty()) {
        end_instant();
        continue;
      }
    }
    const Event& next = queue_.top();
    if (const Time at = next.time; at > now_) {
      if (!settling_.empty()) {
        end_instant();
        continue;
      }
      if (at > last) {
        if (at > limit) break;
        if (!idle()) return events_ - before;
      }
      begin_instant(at);
    }
    run_event(next);
  }
  const std::uint64_t count = events_ - before;
  if (count < max_events && !paused_ && limit != Time::max() && limit > now_) begin_instant(limit);
  return count;
}

}  // namespace cxloom
