#include "interconnect/channel/virtual_channels.hpp"

#include <bit>
#include <optional>
#include <string>
#include <utility>

#include "base/arena.hpp"
#include "base/error.hpp"
#include "interconnect/wire/interrupted_wait.hpp"
#include "kernel/kernel.hpp"

namespace cxloom {

namespace {

ArrayInArena<CreditLine> make_credit_lines(const VirtualChannelsSetup& setup, const CreditUser& user,
                                           std::size_t vcs) {
  return user.kernel.arena().make_array<CreditLine>(setup.credits.any() ? vcs : 0, [&](std::size_t i) {
    const auto vc = static_cast<ClassVc>(i);
    return CreditLine(user, setup.credit_delay, vc, setup.credits.of(class_of(vc)));
  });
}

/// Calls `charge` for each message that waits for this port and nothing else.
template <class Charge>
void each_waiting(const Feeder& feeder, Charge charge) {
  for (Message* message = &feeder.head(); message; message = feeder.all_wait() ? message->next : nullptr)
    charge(*message);
}

}  // namespace

VirtualChannels::VirtualChannels(LinkPath& path, WireServer& server, const Setup& setup)
    : path_(path),
      kernel_(path.kernel()),
      server_(server),
      vcs_(static_cast<ClassVc>(kChannelCount * setup.per_class)),
      credit_user_{path.kernel(), *this, path.kernel().new_source()},
      credit_lines_(make_credit_lines(setup, credit_user_, vcs_)),
      flits_(setup.flits),
      channels_(path.kernel().arena().make_array<VirtualChannel>(vcs_, [&](std::size_t vc) {
        const std::optional<std::uint32_t> limit = setup.credits.of(class_of(static_cast<ClassVc>(vc)));
        return VirtualChannel(path.kernel(), path.receiver(), limit ? &credit_lines_[vc] : nullptr,
                              limit.value_or(0));
      })) {
  first_ = channels_.data();
}

WireCost VirtualChannels::cost() const {
  if (flits_) return WireCost(*flits_);
  return {static_cast<std::uint16_t>(path_.message_bytes(0)),
          static_cast<std::uint16_t>(path_.message_bytes(1) - 1)};
}

// A decision at the end of an instant must not depend on the order of arrivals: as soon as there are two,
// both queue, the first one first.
bool VirtualChannels::bypass(Message& message, BypassSource& source) {
  if (bypassing_) {
    end_bypass();
    return false;
  }
  VirtualChannel& wanted = channel(vc_of(message));
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
  const ClassVc vc = vc_of(*std::exchange(bypassing_, nullptr));
  served(vc);
  channel(vc).use_credit(now);
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

void VirtualChannels::stamp(Message& message, bool counted) { stamp(message, kernel_.now(), counted); }

void VirtualChannels::count_waiting() { path_.monitor().queue().change(kernel_.now(), +1); }

void VirtualChannels::stamp(Message& message, Time since, bool counted) {
  message.since = since;
  VirtualChannel& wanted = channel(vc_of(message));
  if (wanted.limited()) {
    const Time now = kernel_.now();
    wanted.update(now);
    message.blocked = wanted.blocked_clock(now);
  }
  if (!counted) path_.monitor().queue().change(since, +1);
}

void VirtualChannels::ask(Feeder& feeder, ClassVc vc) {
  if (bypassing_) end_bypass();
  const Time now = kernel_.now();
  VirtualChannel& wanted = channel(vc);
  if (arbiter_ && asking_++ == 0 && path_.wire().free_at() < now) after_idle_ = true;
  wanted.update(now);
  wanted.wait(feeder, now);
  if (wanted.has_credit()) {
    can_go_ |= std::uint64_t{1} << vc;
    server_.arrange();
  } else {
    wanted.watch_for_credit();
    if (server_.turns_back()) server_.arrange();
  }
}

Feeder* VirtualChannels::choose(std::uint64_t vcs) {
  const Contenders waiting(channels_.data(), vcs, std::exchange(after_idle_, false));
  --asking_;
  const std::size_t chosen = arbiter_->choose(waiting, kernel_.now());
  std::size_t count = 0;
  for (auto each = waiting.begin(); each != waiting.end(); ++each) {
    if (count++ == chosen) return &each.queue();
  }
  throw InternalError("the arbitration of '" + sender().name() + "' chose queue " + std::to_string(chosen) +
                      " of " + std::to_string(count));
}

Feeder* VirtualChannels::pick_of(ClassVc vc) {
  WaitList& waits = channel(vc).waits;
  // In turns: the first to ask goes, and each queue asks again after its turn.
  Feeder* chosen = arbiter_ ? choose(std::uint64_t{1} << vc) : static_cast<Feeder*>(waits.first());
  waits.leave(*chosen);
  return chosen;
}

Feeder* VirtualChannels::pick_among(std::uint64_t vcs) {
  Feeder* chosen = choose(vcs);
  channel(vc_of(chosen->head())).waits.leave(*chosen);
  return chosen;
}

Feeder* VirtualChannels::pick() {
  if (can_go_ == 0) return nullptr;
  if (arbiter_) return pick_among(can_go_);
  ClassVc vc = 0;
  if (one_per_class()) [[likely]] {
    vc = next_of_one();
  } else {
    vc = next_of_several();
  }
  served(vc);
  return pick_of(vc);
}

// Classes take turns, and within a class the first to ask goes, whichever its
// virtual channel: a class that uses more of these has no more of the wire.
ClassVc VirtualChannels::next_of_several() const {
  std::uint64_t classes = can_go_;
  for (unsigned first = kChannelCount; first < vcs_; first += kChannelCount) classes |= can_go_ >> first;
  classes &= (std::uint64_t{1} << kChannelCount) - 1;
  const std::uint64_t rest = classes >> turn_ << turn_;
  const auto which = static_cast<unsigned>(std::countr_zero(rest != 0 ? rest : classes));
  ClassVc chosen = 0;
  Time earliest = Time::max();
  for (unsigned vc = which; vc < vcs_; vc += kChannelCount) {
    if ((can_go_ >> vc & 1U) == 0 || channels_[vc].waits.first()->since() >= earliest) continue;
    earliest = channels_[vc].waits.first()->since();
    chosen = static_cast<ClassVc>(vc);
  }
  return chosen;
}

// With the account that lies behind it in a request.
void VirtualChannels::foresee_head() const {
  const Waiter* const queue = has_turn() ? whose_turn() : nullptr;
  if (!queue) return;
  const Message& head = static_cast<const Feeder*>(queue)->head();
  prefetch(&head);
  prefetch(&head, 4);
}

void VirtualChannels::use_credit(Message& message, Time now) {
  VirtualChannel& used = channel(vc_of(message));
  if (used.limited()) {
    used.update(now);
    // The time without credits is charged to credits, and the rest of the wait when the message departs.
    const Time blocked = used.blocked_clock(now) - message.blocked;
    if (Account* account = message.account) account->charge(Segment::kCredit, account->mark() + blocked);
    used.use_credit(now);
  }
  const Time waited = now - message.since;
  message.tail = message.tail > waited ? message.tail - waited : Time{};
}

// Charges the part of each wait without credits to credits.
void VirtualChannels::charge_waits() {
  const Time now = kernel_.now();
  for (unsigned vc = 0; vc < vcs_; ++vc) {
    VirtualChannel& waited = channels_[vc];
    waited.update(now);
    for (Waiter* waiter = waited.waits.first(); waiter; waiter = waiter->next()) {
      each_waiting(*static_cast<Feeder*>(waiter), [&](Message& message) {
        if (waited.limited()) {
          const Time blocked = waited.blocked_clock(now);
          if (Account* account = message.account)
            account->charge(Segment::kCredit, account->mark() + (blocked - message.blocked));
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
  for (unsigned vc = 0; vc < vcs_; ++vc) {
    VirtualChannel& waited = channels_[vc];
    waited.update(now);
    for (Waiter* waiter = waited.waits.first(); waiter; waiter = waiter->next()) {
      each_waiting(*static_cast<Feeder*>(waiter), [&](Message& message) {
        if (waited.limited()) message.blocked = waited.blocked_clock(now);
        charge_wait(message, kInterrupted, now);
      });
    }
  }
}

void VirtualChannels::turn_back() {
  closed_ = true;
  for (unsigned i = 0; i < vcs_; ++i) {
    while (!channels_[i].waits.empty()) {
      auto& feeder = static_cast<Feeder&>(*channels_[i].waits.first());
      leave(feeder, static_cast<ClassVc>(i));
      feeder.turn_back();
    }
  }
}

void VirtualChannels::withdraw(Message& message) {
  charge_wait(message, kInterrupted, kernel_.now());
  path_.monitor().queue().change(kernel_.now(), -1);
}

void VirtualChannels::leave(Feeder& feeder, ClassVc vc) {
  if (arbiter_) --asking_;
  channel(vc).waits.leave(feeder);
  if (channel(vc).waits.empty()) can_go_ &= ~(std::uint64_t{1} << vc);
}

void VirtualChannels::left(ClassVc vc) {
  VirtualChannel& used = channel(vc);
  if (used.waits.empty() || !used.has_credit()) can_go_ &= ~(std::uint64_t{1} << vc);
  used.watch_for_credit();
}

void VirtualChannels::wake(std::uint8_t kind, std::uint64_t /*payload*/) {
  VirtualChannel& credited = channel(ClassVc{kind});
  credited.credit_line()->awaited();
  credited.update(kernel_.now());
  if (credited.has_credit() && !credited.waits.empty()) {
    can_go_ |= std::uint64_t{1} << kind;
    server_.arrange();
  } else {
    credited.watch_for_credit();
  }
}

std::uint32_t VirtualChannels::count_credits_in_use(Channel which) {
  std::uint32_t used = 0;
  for (unsigned vc = vc_of(which); vc < vcs_; vc += kChannelCount)
    used += channels_[vc].in_use(kernel_.now());
  return used;
}

void VirtualChannels::give_back(Channel which, Time now) {
  if (CreditLine* line = channel(which).credit_line()) line->take_back(now);
}

// By class: the sums over all of its virtual channels.
VirtualChannels::ClassTimes VirtualChannels::starved_clocks(Time now) {
  ClassTimes starved{};
  for (ClassVc vc = 0; vc < vcs_; ++vc) {
    channels_[vc].update(now);
    starved[static_cast<std::size_t>(class_of(vc))] += channels_[vc].starved_clock(now);
  }
  return starved;
}

void VirtualChannels::open_window(Time now) { starved_.open(now, starved_clocks(now)); }

void VirtualChannels::close_window(Time now) { starved_.close(now, starved_clocks(now)); }

}  // namespace cxloom
