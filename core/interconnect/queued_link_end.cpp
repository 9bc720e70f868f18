#include "interconnect/queued_link_end.hpp"

#include <algorithm>
#include <bit>
#include <vector>

#include "protocol/message_queue.hpp"

namespace cxloom {

/// The state of one message class: who waits for the wire, the credits left, and the queue of pushed messages.
///
/// Credits on their way back are kept with the time at which they arrive, and counted when the others are used up: a credit
/// costs an event only when somebody waits for it.
class QueuedLinkEnd::VirtualChannel final : public Feeder {
 public:
  VirtualChannel(QueuedLinkEnd& end, Kernel& kernel, Channel which)
      : waits(kernel, end.credits_ ? "buffer credits and the wire of the link" : "the wire of the link",
              end.receiver()),
        end_(end),
        which_(which),
        limited_(end.credits_.has_value()),
        credits_(end.credits_.value_or(0)) {
    set_owner(end.owner());
    if (limited_) returning_.resize(std::bit_ceil(std::size_t{credits_}));
  }

  /// Counts the credits that have come back by now, if there is no other left.
  void update(Time now) {
    if (has_credit()) return;
    while (head_ != tail_ && at(head_) <= now) {
      const Time came = at(head_++);
      if (credits_++ > 0) continue;
      if (came > blocked_since_) blocked_ += came - blocked_since_;
      if (came > starved_since_ && !waits.empty()) starved_ += came - starved_since_;
    }
  }
  bool has_credit() const { return !limited_ || credits_ > 0; }
  void use_credit(Time now) {
    if (!limited_ || --credits_ > 0) return;
    blocked_since_ = starved_since_ = now;
    update(now);
  }
  /// A credit is under way; usually, but not always, behind those that are.
  void credit_comes(Time when) {
    std::uint64_t place = tail_++;
    for (; place != head_ && when < at(place - 1); --place) at(place) = at(place - 1);
    at(place) = when;
  }
  /// When the next credit arrives, if one is under way.
  std::optional<Time> next_credit() { return head_ == tail_ ? std::nullopt : std::optional(at(head_)); }

  void wait(Feeder& feeder, Time now) {
    if (waits.empty()) starved_since_ = now;
    waits.join(feeder, now);
  }
  /// Time so far in which this class had no credit; of these, with messages waiting. After `update`.
  Time blocked_clock(Time now) const { return blocked_ + (has_credit() ? Time{} : now - blocked_since_); }
  Time starved_clock(Time now) const {
    return starved_ + (has_credit() || waits.empty() ? Time{} : now - starved_since_);
  }

  Message& head() override { return queue.front(); }
  void taken(Time /*end*/) override {
    queue.pop();
    if (!queue.empty()) end_.ask(*this, which_);
  }

  WaitList waits;
  MessageQueue queue;
  bool wake_pending = false;  // an event will come with the next credit

 private:
  Time& at(std::uint64_t index) { return returning_[index & (returning_.size() - 1)]; }

  QueuedLinkEnd& end_;
  Channel which_;
  bool limited_;
  std::uint32_t credits_;
  std::vector<Time> returning_;  // a ring: when each credit under way arrives, soonest first
  std::uint64_t head_ = 0;
  std::uint64_t tail_ = 0;
  Time blocked_;
  Time blocked_since_;
  Time starved_;
  Time starved_since_;
};

QueuedLinkEnd::QueuedLinkEnd(Kernel& kernel, const Setup& setup)
    : LinkEnd(kernel, setup.link),
      credits_(setup.credits),
      arbitration_(setup.arbitration),
      credit_delay_(setup.credit_delay) {}

QueuedLinkEnd::~QueuedLinkEnd() = default;

void QueuedLinkEnd::set_opposite(QueuedLinkEnd& opposite) {
  opposite_ = &opposite;
  returns_credits_ = opposite.credits_.has_value();
}

QueuedLinkEnd::VirtualChannel& QueuedLinkEnd::make_channel(Channel which) {
  auto& slot = channels_[static_cast<std::size_t>(which)];
  slot = std::make_unique<VirtualChannel>(*this, kernel(), which);
  return *slot;
}

void QueuedLinkEnd::send(Message& message, Time ready) {
  if (ready > kernel().now()) {
    kernel().schedule(ready, source(), *this, kReady, reinterpret_cast<std::uintptr_t>(&message));
  } else {
    enqueue(message);
  }
}

void QueuedLinkEnd::enqueue(Message& message) {
  stamp(message);
  VirtualChannel& own = channel(message.channel);
  const bool first = own.queue.empty();
  own.queue.push(message);
  if (first) ask(own, message.channel);
}

void QueuedLinkEnd::stamp(Message& message) {
  const Time now = kernel().now();
  message.since = now;
  if (credits_) {
    VirtualChannel& wanted = channel(message.channel);
    wanted.update(now);
    message.blocked = wanted.blocked_clock(now);
  }
  monitor().queue().change(now, +1);
}

void QueuedLinkEnd::ask(Feeder& feeder, Channel which) {
  const Time now = kernel().now();
  VirtualChannel& wanted = channel(which);
  wanted.update(now);
  wanted.wait(feeder, now);
  if (wanted.has_credit()) {
    can_go_ |= 1U << static_cast<unsigned>(which);
    arrange();
  } else {
    watch_for_credit(wanted, which);
  }
}

// Asks for an event with the next credit if somebody waits for it.
void QueuedLinkEnd::watch_for_credit(VirtualChannel& starving, Channel which) {
  if (starving.waits.empty() || starving.has_credit() || starving.wake_pending) return;
  const auto next = starving.next_credit();
  if (!next) return;
  starving.wake_pending = true;
  kernel().schedule(*next, source(), *this, kCredit, static_cast<std::uint64_t>(which));
}

void QueuedLinkEnd::arrange() {
  wants_wire_ = true;
  const Time free = wire().free_for(direction());
  if (free > kernel().now()) {
    if (wire_wake_pending_) return;
    wire_wake_pending_ = true;
    kernel().schedule(free, source(), *this, kWireFree);
  } else if (!settling_) {
    settling_ = true;
    kernel().at_end_of_instant(*this);
  }
}

namespace {

Time age_of(const Message& message) { return message.parent ? message.parent->created : message.since; }

}  // namespace

Feeder* QueuedLinkEnd::pick() {
  if (can_go_ == 0) return nullptr;
  if (arbitration_ == Arbitration::kRoundRobin) {
    const std::uint32_t rest = can_go_ >> turn_ << turn_;
    const auto index = static_cast<unsigned>(std::countr_zero(rest != 0 ? rest : can_go_));
    turn_ = (index + 1) % kChannelCount;
    WaitList& waits = channels_[index]->waits;
    auto* chosen =
        static_cast<Feeder*>(waits.first());  // who asked first: each queue asks again after its turn
    waits.leave(*chosen);
    return chosen;
  }
  WaitList* chosen_list = nullptr;
  Feeder* chosen = nullptr;
  for (std::uint32_t left = can_go_; left != 0; left &= left - 1) {
    WaitList& waits = channels_[static_cast<std::size_t>(std::countr_zero(left))]->waits;
    for (Waiter* waiter = waits.first(); waiter; waiter = waiter->next()) {
      auto* feeder = static_cast<Feeder*>(waiter);
      if (chosen && age_of(chosen->head()) <= age_of(feeder->head())) continue;
      chosen = feeder;
      chosen_list = &waits;
    }
  }
  chosen_list->leave(*chosen);
  return chosen;
}

// When both directions of a shared wire want it, they take turns.
bool QueuedLinkEnd::should_yield() const {
  return opposite_ && &opposite_->wire() == &wire() && opposite_->wants_wire_ &&
         wire().last_direction() == direction();
}

void QueuedLinkEnd::settle() {
  settling_ = false;
  const Time now = kernel().now();
  if (wire().free_for(direction()) > now) {  // the other direction was first
    arrange();
    return;
  }
  if (should_yield()) {
    const Time other = wire().free_for(opposite_->direction());
    if (other <= now) {
      arrange();  // it goes at the end of this same instant
    } else if (!wire_wake_pending_) {
      wire_wake_pending_ = true;
      kernel().schedule(other, source(), *this, kWireFree);
    }
    return;
  }
  Feeder* feeder = pick();
  wants_wire_ = false;
  if (!feeder) return;

  Message& message = feeder->head();
  const Channel which = message.channel;
  VirtualChannel& used = channel(which);
  if (credits_) {
    used.update(now);
    // Of the wait in the queue, the time without credits is the credits'; `depart` charges the rest to the queue.
    const Time blocked = used.blocked_clock(now) - message.blocked;
    if (Request* request = message.parent) request->charge(Segment::kCredit, request->mark + blocked);
    used.use_credit(now);
  }
  // The tail has kept coming in while the head waited.
  const Time waited = now - message.since;
  message.tail = message.tail > waited ? message.tail - waited : Time{};
  monitor().queue().change(now, -1);
  const Time end = depart(message, now);
  const std::uint32_t bit = 1U << static_cast<unsigned>(which);
  if (used.waits.empty() || !used.has_credit()) can_go_ &= ~bit;
  watch_for_credit(used, which);
  feeder->taken(end);
  if (can_go_ != 0) arrange();
}

void QueuedLinkEnd::wake(std::uint8_t kind, std::uint64_t payload) {
  switch (kind) {
    case kReady: enqueue(*reinterpret_cast<Message*>(payload)); return;
    case kWireFree:
      wire_wake_pending_ = false;
      if (can_go_ != 0) arrange();
      return;
    default: {
      VirtualChannel& credited = channel(static_cast<Channel>(payload));
      credited.wake_pending = false;
      credited.update(kernel().now());
      if (credited.has_credit() && !credited.waits.empty()) {
        can_go_ |= 1U << static_cast<unsigned>(payload);
        arrange();
      } else {
        watch_for_credit(credited, static_cast<Channel>(payload));
      }
    }
  }
}

void QueuedLinkEnd::return_credit(const Message& message, Time at) {
  opposite_->credit_comes(message.channel, at + opposite_->credit_delay_);
}

void QueuedLinkEnd::credit_comes(Channel which, Time at) {
  VirtualChannel& credited = channel(which);
  credited.credit_comes(at);
  if (credited.wake_pending && at == *credited.next_credit())
    credited.wake_pending = false;  // it overtook the others
  watch_for_credit(credited, which);
}

Time QueuedLinkEnd::starved_clock(Time now) {
  Time total;
  for (const auto& each : channels_) {
    if (!each) continue;
    each->update(now);
    total += each->starved_clock(now);
  }
  return total;
}

void QueuedLinkEnd::open_window(Time now) {
  LinkEnd::open_window(now);
  starved_when_opened_ = starved_clock(now);
}

void QueuedLinkEnd::close_window(Time now) {
  LinkEnd::close_window(now);
  blocked_in_window_ = starved_clock(now) - starved_when_opened_;
}

}  // namespace cxloom
