#include "interconnect/queued_link_end.hpp"

#include "protocol/message_queue.hpp"

namespace cxloom {

/// The state of one message class: who waits for the wire, the credits left, and the queue of pushed messages.
class QueuedLinkEnd::VirtualChannel final : public Feeder {
 public:
  VirtualChannel(QueuedLinkEnd& end, Kernel& kernel, Channel which)
      : waits(kernel, end.credits_ ? "buffer credits and the wire of the link" : "the wire of the link", end.receiver()),
        credits(end.credits_.value_or(0)),
        end_(end),
        which_(which) {
    set_owner(end.owner());
  }

  bool has_credit() const { return !end_.credits_ || credits > 0; }
  /// Time so far in which this class had no credit.
  Time blocked_clock(Time now) const { return blocked_total + (has_credit() ? Time{} : now - blocked_since); }
  /// Of these, the time in which something waited.
  Time starved_clock(Time now) const {
    return starved_total + (has_credit() || waits.empty() ? Time{} : now - starved_since);
  }

  Message& head() override { return queue.front(); }
  void taken(Time /*end*/) override {
    queue.pop();
    if (!queue.empty()) end_.ask(*this, which_);
  }

  WaitList waits;
  std::uint32_t credits;
  Time blocked_total;
  Time blocked_since;
  Time starved_total;
  Time starved_since;
  MessageQueue queue;

 private:
  QueuedLinkEnd& end_;
  Channel which_;
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

QueuedLinkEnd::VirtualChannel& QueuedLinkEnd::channel(Channel which) {
  auto& slot = channels_[static_cast<std::size_t>(which)];
  if (!slot) slot = std::make_unique<VirtualChannel>(*this, kernel(), which);
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
  message.since = kernel().now();
  message.blocked = channel(message.channel).blocked_clock(message.since);
  monitor().queue().change(message.since, +1);
}

void QueuedLinkEnd::ask(Feeder& feeder, Channel which) {
  VirtualChannel& wanted = channel(which);
  if (wanted.waits.empty()) wanted.starved_since = kernel().now();
  wanted.waits.join(feeder, kernel().now());
  if (wanted.has_credit()) arrange();
}

void QueuedLinkEnd::arrange() {
  wants_wire_ = true;
  if (wire().free_for(direction()) > kernel().now()) {
    if (wire_wake_pending_) return;
    wire_wake_pending_ = true;
    kernel().schedule(wire().free_for(direction()), source(), *this, kWireFree);
  } else if (!settling_) {
    settling_ = true;
    kernel().at_end_of_instant(*this);
  }
}

bool QueuedLinkEnd::someone_can_go() const {
  for (const auto& each : channels_) {
    if (each && each->has_credit() && !each->waits.empty()) return true;
  }
  return false;
}

namespace {

Time age_of(const Message& message) { return message.parent ? message.parent->created : message.since; }

}  // namespace

Feeder* QueuedLinkEnd::pick() {
  VirtualChannel* chosen_channel = nullptr;
  Feeder* chosen = nullptr;
  for (unsigned i = 0; i < kChannelCount; ++i) {
    const unsigned index = (turn_ + i) % kChannelCount;
    VirtualChannel* each = channels_[index].get();
    if (!each || each->waits.empty() || !each->has_credit()) continue;
    if (arbitration_ == Arbitration::kRoundRobin) {
      chosen_channel = each;
      chosen = static_cast<Feeder*>(each->waits.first());  // who asked first: each queue asks again after its turn
      turn_ = (index + 1) % kChannelCount;
      break;
    }
    for (Waiter* waiter = each->waits.first(); waiter; waiter = waiter->next()) {
      auto* feeder = static_cast<Feeder*>(waiter);
      if (!chosen || age_of(feeder->head()) < age_of(chosen->head())) {
        chosen_channel = each;
        chosen = feeder;
      }
    }
  }
  if (chosen) chosen_channel->waits.leave(*chosen);
  return chosen;
}

// When both directions of a shared wire want it, they take turns.
bool QueuedLinkEnd::should_yield() const {
  return opposite_ && &opposite_->wire() == &wire() && opposite_->wants_wire_ && wire().last_direction() == direction();
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
  VirtualChannel& used = channel(message.channel);
  if (Request* request = message.parent) {
    // Of the wait in the queue, the time without credits is the credits'; `depart` charges the rest to the queue.
    const Time blocked = used.blocked_clock(now) - message.blocked;
    request->charge(Segment::kCredit, request->mark + blocked);
  }
  // The tail has kept coming in while the head waited.
  const Time waited = now - message.since;
  message.tail = message.tail > waited ? message.tail - waited : Time{};
  monitor().queue().change(now, -1);
  if (credits_ && --used.credits == 0) used.blocked_since = used.starved_since = now;
  const Time end = depart(message, now);
  feeder->taken(end);
  if (someone_can_go()) arrange();
}

void QueuedLinkEnd::wake(std::uint8_t kind, std::uint64_t payload) {
  switch (kind) {
    case kReady:
      enqueue(*reinterpret_cast<Message*>(payload));
      return;
    case kWireFree:
      wire_wake_pending_ = false;
      if (someone_can_go()) arrange();
      return;
    default: {
      VirtualChannel& credited = channel(static_cast<Channel>(payload));
      if (credited.credits++ == 0) {
        credited.blocked_total += kernel().now() - credited.blocked_since;
        if (credited.waits.empty()) return;
        credited.starved_total += kernel().now() - credited.starved_since;
        arrange();
      }
    }
  }
}

void QueuedLinkEnd::return_credit(const Message& message, Time at) {
  kernel().schedule(at + opposite_->credit_delay_, source(), *opposite_, kCredit,
                    static_cast<std::uint64_t>(message.channel));
}

Time QueuedLinkEnd::starved_clock(Time now) const {
  Time total;
  for (const auto& each : channels_) {
    if (each) total += each->starved_clock(now);
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
