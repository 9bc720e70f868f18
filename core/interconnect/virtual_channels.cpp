#include "interconnect/virtual_channels.hpp"

#include <bit>
#include <optional>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "interconnect/interrupted_wait.hpp"

namespace cxloom {

namespace {

std::vector<CreditLine> make_credit_lines(const ClassCredits& credits, const CreditUser& user, Time delay) {
  std::vector<CreditLine> lines;
  if (!credits.any()) return lines;
  lines.reserve(kChannelCount);
  for (std::size_t i = 0; i < kChannelCount; ++i) {
    const auto which = static_cast<Channel>(i);
    lines.emplace_back(user, delay, which, credits.of(which));
  }
  return lines;
}

// They stay where they are made, so that an array of them has to be made at once.
template <std::size_t... kIndex>
std::array<VirtualChannel, kChannelCount> make_channels(LinkPath& path, const ClassCredits& credits,
                                                        std::vector<CreditLine>& lines,
                                                        std::index_sequence<kIndex...> /*classes*/) {
  const auto make = [&](std::size_t index) {
    const std::optional<std::uint32_t> limit = credits.of(static_cast<Channel>(index));
    return VirtualChannel(path.kernel(), path.receiver(), limit ? &lines[index] : nullptr, limit.value_or(0));
  };
  return {{make(kIndex)...}};
}

}  // namespace

VirtualChannels::VirtualChannels(LinkPath& path, WireServer& server, const Setup& setup)
    : path_(path),
      kernel_(path.kernel()),
      server_(server),
      credit_user_{path.kernel(), *this, path.kernel().new_source()},
      credit_lines_(make_credit_lines(setup.credits, credit_user_, setup.credit_delay)),
      flits_(setup.flits),
      channels_(
          make_channels(path, setup.credits, credit_lines_, std::make_index_sequence<kChannelCount>{})) {}

WireCost VirtualChannels::cost() const {
  if (flits_) return WireCost(*flits_);
  return {static_cast<std::uint16_t>(path_.message_bytes(0)),
          static_cast<std::uint16_t>(path_.message_bytes(1) - 1)};
}

// What is decided at the end of an instant must not depend on the order of those that came: as soon as there are two, both
// queue, the first one first.
bool VirtualChannels::bypass(Message& message, BypassSource& source) {
  if (bypassing_) {
    end_bypass();
    return false;
  }
  VirtualChannel& wanted = channel(message.channel);
  if (can_go_ != 0 || !may_bypass_ || !wanted.waits.empty() || !server_.idle()) return false;
  wanted.update(kernel_.now());
  if (!wanted.has_credit()) return false;
  bypassing_ = &message;
  bypass_source_ = &source;
  server_.arrange();
  return true;
}

void VirtualChannels::end_bypass() {
  bypass_source_->queue(*std::exchange(bypassing_, nullptr), path_.owner_port());
}

BypassSource& VirtualChannels::pass(Time now) {
  const Channel which = std::exchange(bypassing_, nullptr)->channel;
  served(which);
  channel(which).use_credit(now);
  return *bypass_source_;
}

void VirtualChannels::enqueue(Message& message, Time since, bool counted) {
  if (bypassing_) end_bypass();
  stamp(message, since, counted);
  std::unique_ptr<SendQueue>& queue = send_queues_[static_cast<std::size_t>(message.channel)];
  if (!queue) [[unlikely]]
    queue = std::make_unique<SendQueue>(*this, message.channel);
  queue->push(message);
}

void VirtualChannels::stamp(Message& message, Time since, bool counted) {
  message.since = since;
  VirtualChannel& wanted = channel(message.channel);
  if (wanted.limited()) {
    const Time now = kernel_.now();
    wanted.update(now);
    message.blocked = wanted.blocked_clock(now);
  }
  if (!counted) path_.monitor().queue().change(since, +1);
}

void VirtualChannels::ask(Feeder& feeder, Channel which) {
  if (bypassing_) end_bypass();
  const Time now = kernel_.now();
  VirtualChannel& wanted = channel(which);
  if (arbiter_ && asking_++ == 0 && path_.wire().free_at() < now) after_idle_ = true;
  wanted.update(now);
  wanted.wait(feeder, now);
  if (wanted.has_credit()) {
    can_go_ |= 1U << static_cast<unsigned>(which);
    server_.arrange();
  } else {
    wanted.watch_for_credit();
    if (server_.turns_back()) server_.arrange();
  }
}

Feeder* VirtualChannels::choose(std::uint32_t classes) {
  const Contenders waiting(channels_.data(), classes, std::exchange(after_idle_, false));
  --asking_;
  const std::size_t chosen = arbiter_->choose(waiting, kernel_.now());
  std::size_t count = 0;
  for (auto each = waiting.begin(); each != waiting.end(); ++each) {
    if (count++ == chosen) return &each.queue();
  }
  throw InternalError("the arbitration of '" + sender().name() + "' chose queue " + std::to_string(chosen) +
                      " of " + std::to_string(count));
}

Feeder* VirtualChannels::pick_of(Channel which) {
  WaitList& waits = channel(which).waits;
  // In turns: who asked first, for each queue asks again after its turn.
  Feeder* chosen =
      arbiter_ ? choose(1U << static_cast<unsigned>(which)) : static_cast<Feeder*>(waits.first());
  waits.leave(*chosen);
  return chosen;
}

Feeder* VirtualChannels::pick_among(std::uint32_t classes) {
  Feeder* chosen = choose(classes);
  channel(chosen->head().channel).waits.leave(*chosen);
  return chosen;
}

Feeder* VirtualChannels::pick() {
  if (can_go_ == 0) return nullptr;
  if (arbiter_) return pick_among(can_go_);
  const std::uint32_t rest = can_go_ >> turn_ << turn_;
  const auto index = static_cast<unsigned>(std::countr_zero(rest != 0 ? rest : can_go_));
  served(static_cast<Channel>(index));
  return pick_of(static_cast<Channel>(index));
}

void VirtualChannels::use_credit(Message& message, Time now) {
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

// Of the wait, the time without credits is the credits'.
void VirtualChannels::charge_waits() {
  const Time now = kernel_.now();
  for (VirtualChannel& waited : channels_) {
    waited.update(now);
    for (Waiter* waiter = waited.waits.first(); waiter; waiter = waiter->next()) {
      static_cast<Feeder*>(waiter)->each_waiting([&](Message& message) {
        if (waited.limited()) {
          const Time blocked = waited.blocked_clock(now);
          if (Account* account = message.account)
            account->charge(Segment::kCredit, account->mark + (blocked - message.blocked));
          message.blocked = blocked;
        }
        charge_wait(message, path_.queue_segment(), now);
      });
    }
  }
}

void VirtualChannels::charge_interruption() {
  closed_ = false;
  const Time now = kernel_.now();
  for (VirtualChannel& waited : channels_) {
    waited.update(now);
    for (Waiter* waiter = waited.waits.first(); waiter; waiter = waiter->next()) {
      static_cast<Feeder*>(waiter)->each_waiting([&](Message& message) {
        if (waited.limited()) message.blocked = waited.blocked_clock(now);
        charge_wait(message, kInterrupted, now);
      });
    }
  }
}

void VirtualChannels::turn_back() {
  closed_ = true;
  for (std::size_t i = 0; i < kChannelCount; ++i) {
    while (!channels_[i].waits.empty()) {
      auto& feeder = static_cast<Feeder&>(*channels_[i].waits.first());
      leave(feeder, static_cast<Channel>(i));
      feeder.turn_back();
    }
  }
}

void VirtualChannels::withdraw(Message& message) {
  charge_wait(message, kInterrupted, kernel_.now());
  path_.monitor().queue().change(kernel_.now(), -1);
}

void VirtualChannels::leave(Feeder& feeder, Channel which) {
  channel(which).waits.leave(feeder);
  if (channel(which).waits.empty()) can_go_ &= ~(1U << static_cast<unsigned>(which));
}

void VirtualChannels::left(Channel which) {
  VirtualChannel& used = channel(which);
  if (used.waits.empty() || !used.has_credit()) can_go_ &= ~(1U << static_cast<unsigned>(which));
  used.watch_for_credit();
}

void VirtualChannels::wake(std::uint8_t kind, std::uint64_t /*payload*/) {
  VirtualChannel& credited = channel(static_cast<Channel>(kind));
  credited.credit_line()->awaited();
  credited.update(kernel_.now());
  if (credited.has_credit() && !credited.waits.empty()) {
    can_go_ |= 1U << kind;
    server_.arrange();
  } else {
    credited.watch_for_credit();
  }
}

std::uint32_t VirtualChannels::credits_in_use(Channel which) { return channel(which).in_use(kernel_.now()); }

void VirtualChannels::give_back(Channel which, Time now) {
  if (CreditLine* line = channel(which).credit_line()) line->take_back(now);
}

Time VirtualChannels::starved_clock(std::size_t channel, Time now) {
  channels_[channel].update(now);
  return channels_[channel].starved_clock(now);
}

void VirtualChannels::open_window(Time now) {
  for (std::size_t i = 0; i < kChannelCount; ++i) starved_when_opened_[i] = starved_clock(i, now);
}

void VirtualChannels::close_window(Time now) {
  for (std::size_t i = 0; i < kChannelCount; ++i) {
    blocked_in_window_[i] = starved_clock(i, now) - starved_when_opened_[i];
  }
}

}  // namespace cxloom
