#include "interconnect/queued_link_end.hpp"

#include <bit>

namespace cxloom {

VirtualChannel::VirtualChannel(QueuedLinkEnd& end, Kernel& kernel, Channel which,
                               std::optional<std::uint32_t> credits)
    : waits(kernel, credits ? "buffer credits and the wire of the link" : "the wire of the link",
            end.receiver()),
      end_(end),
      which_(which),
      limited_(credits.has_value()),
      credits_(credits.value_or(0)) {
  set_owner(end.owner());
  if (limited_) returning_.resize(std::bit_ceil(std::size_t{credits_}));
}

void VirtualChannel::taken(Time /*end*/) {
  queue.pop();
  if (!queue.empty()) end_.ask(*this, which_);
}

QueuedLinkEnd::QueuedLinkEnd(Kernel& kernel, const Setup& setup)
    : LinkEnd(kernel, setup.link),
      credits_(setup.credits),
      arbitration_(setup.arbitration),
      credit_delay_(setup.credit_delay) {}

void QueuedLinkEnd::set_opposite(QueuedLinkEnd& opposite) {
  opposite_ = &opposite;
  returns_credits_ = opposite.credits_.any();
}

VirtualChannel& QueuedLinkEnd::make_channel(Channel which) {
  auto& slot = channels_[static_cast<std::size_t>(which)];
  slot = std::make_unique<VirtualChannel>(*this, kernel(), which, credits_.of(which));
  return *slot;
}

void QueuedLinkEnd::enqueue(Message& message, Time since, bool counted) {
  stamp(message, since, counted);
  VirtualChannel& own = channel(message.channel);
  const bool first = own.queue.empty();
  own.queue.push(message);
  if (first) ask(own, message.channel);
}

void QueuedLinkEnd::stamp(Message& message, Time since, bool counted) {
  message.since = since;
  VirtualChannel& wanted = channel(message.channel);
  if (wanted.limited()) {
    wanted.update(kernel().now());
    message.blocked = wanted.blocked_clock(kernel().now());
  }
  if (!counted) monitor().queue().change(since, +1);
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
    if (turns_back()) arrange();
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

namespace {

Time age_of(const Message& message) { return message.account ? message.age : message.since; }

Feeder* oldest_of(WaitList& waits) {
  Feeder* oldest = nullptr;
  for (Waiter* waiter = waits.first(); waiter; waiter = waiter->next()) {
    auto* feeder = static_cast<Feeder*>(waiter);
    if (!oldest || age_of(feeder->head()) < age_of(oldest->head())) oldest = feeder;
  }
  return oldest;
}

}  // namespace

Feeder* QueuedLinkEnd::pick_of(Channel which) {
  WaitList& waits = channels_[static_cast<std::size_t>(which)]->waits;
  // In turns: who asked first, for each queue asks again after its turn.
  Feeder* chosen = arbitration_ == Arbitration::kAge ? oldest_of(waits) : static_cast<Feeder*>(waits.first());
  waits.leave(*chosen);
  return chosen;
}

Feeder* QueuedLinkEnd::pick() {
  if (can_go_ == 0) return nullptr;
  if (arbitration_ == Arbitration::kRoundRobin) {
    const std::uint32_t rest = can_go_ >> turn_ << turn_;
    const auto index = static_cast<unsigned>(std::countr_zero(rest != 0 ? rest : can_go_));
    turn_ = (index + 1) % kChannelCount;
    return pick_of(static_cast<Channel>(index));
  }
  WaitList* chosen_list = nullptr;
  Feeder* chosen = nullptr;
  for (std::uint32_t left = can_go_; left != 0; left &= left - 1) {
    WaitList& waits = channels_[static_cast<std::size_t>(std::countr_zero(left))]->waits;
    Feeder* oldest = oldest_of(waits);
    if (chosen && age_of(chosen->head()) <= age_of(oldest->head())) continue;
    chosen = oldest;
    chosen_list = &waits;
  }
  chosen_list->leave(*chosen);
  return chosen;
}

void QueuedLinkEnd::use_credit(Message& message, Time now) {
  VirtualChannel& used = channel(message.channel);
  if (used.limited()) {
    used.update(now);
    // Of the wait in the queue, the time without credits is the credits'; the rest is charged when the message departs.
    const Time blocked = used.blocked_clock(now) - message.blocked;
    if (Account* account = message.account) account->charge(Segment::kCredit, account->mark + blocked);
    used.use_credit(now);
  }
  const Time waited = now - message.since;
  message.tail = message.tail > waited ? message.tail - waited : Time{};
}

void QueuedLinkEnd::left(Channel which) {
  VirtualChannel& used = channel(which);
  if (used.waits.empty() || !used.has_credit()) can_go_ &= ~(1U << static_cast<unsigned>(which));
  watch_for_credit(used, which);
}

void QueuedLinkEnd::wake(std::uint8_t /*kind*/, std::uint64_t payload) {
  const auto which = static_cast<Channel>(payload);
  VirtualChannel& credited = channel(which);
  credited.wake_pending = false;
  credited.update(kernel().now());
  if (credited.has_credit() && !credited.waits.empty()) {
    can_go_ |= 1U << static_cast<unsigned>(payload);
    arrange();
  } else {
    watch_for_credit(credited, which);
  }
}

void QueuedLinkEnd::return_credit(const Message& message, Time at) {
  opposite_->credit_comes(message.channel, at + opposite_->credit_delay_);
}

void QueuedLinkEnd::credit_comes(Channel which, Time at) {
  VirtualChannel& credited = channel(which);
  if (!credited.limited()) return;
  credited.credit_comes(at);
  if (credited.wake_pending && at == *credited.next_credit())
    credited.wake_pending = false;  // it overtook the others
  watch_for_credit(credited, which);
}

Time QueuedLinkEnd::starved_clock(std::size_t channel, Time now) {
  if (!channels_[channel]) return {};
  channels_[channel]->update(now);
  return channels_[channel]->starved_clock(now);
}

void QueuedLinkEnd::open_window(Time now) {
  LinkEnd::open_window(now);
  for (std::size_t i = 0; i < kChannelCount; ++i) starved_when_opened_[i] = starved_clock(i, now);
}

void QueuedLinkEnd::close_window(Time now) {
  LinkEnd::close_window(now);
  for (std::size_t i = 0; i < kChannelCount; ++i) {
    blocked_in_window_[i] = starved_clock(i, now) - starved_when_opened_[i];
  }
}

}  // namespace cxloom
