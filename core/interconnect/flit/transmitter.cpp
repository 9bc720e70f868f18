#include "interconnect/flit/transmitter.hpp"

#include <algorithm>
#include <bit>

#include "interconnect/wire/interrupted_wait.hpp"
#include "protocol/error_answer.hpp"

namespace cxloom {

FlitTransmitter::FlitTransmitter(LinkPath& path, const FlitSetup& setup)
    : path_(path),
      kernel_(path.kernel()),
      alarm_(path.kernel(), path.source(), *this, kTurn),
      outage_(setup.outage),
      degraded_rate_(setup.degraded_rate),
      sender_(path, setup.sender, &retries_),
      retries_(path, outage_, sender_.monitor(), alarm_, setup.errors, setup.seed),
      credits_(setup.sender.packing.mode),
      cost_(setup.sender.packing.mode),
      channels_(path, *this, setup.channels) {
  if (outage_.possible()) kernel_.schedule_background(outage_.begins_at(), path_.source(), *this, kDown);
  if (setup.degraded_at) kernel_.schedule_background(*setup.degraded_at, path_.source(), *this, kDegrade);
}

void FlitTransmitter::connect(CreditLine* far_credits, FlitRetries* far_retries) {
  credits_.connect(far_credits);
  if (far_retries) retries_.connect(*far_retries);
}

// --- What comes to this end ---

void FlitTransmitter::send(Message& message, Time ready) {
  ready = ready_with_tail(message, ready);
  const Time now = kernel_.now();
  admit_coming(now);
  if (ready <= now) {
    admit(message, ready, false);
    return;
  }
  coming_.expect(message, ready);
  wake_by(std::max(coming_.front().ready, may_act_at()));
}

void FlitTransmitter::admit_coming(Time now) {
  while (!coming_.empty() && coming_.front().ready <= now) {
    const ComingMessages::Coming first = coming_.front();
    coming_.pop_front();
    const bool counted = counted_ > 0;
    if (counted) --counted_;
    admit(*first.message, first.ready, counted);
  }
}

/// Ready messages wait, though nobody looks before the next turn. They stay first: others are ready later.
void FlitTransmitter::catch_up(Time now) {
  while (counted_ < coming_.size() && coming_[counted_].ready < now) {
    path_.monitor().queue().change(coming_[counted_++].ready, +1);
  }
}

void FlitTransmitter::admit(Message& message, Time since, bool counted) {
  VirtualChannel& own = channels_.channel(message.channel);
  const Time now = kernel_.now();
  own.update(now);
  const bool at_once = own.waits.empty() && own.has_credit() && !sender_.staging().full(message.channel) &&
                       outage_.up_at() <= now;
  if (!at_once) {
    if (state() == State::kClosed) [[unlikely]] {
      path_.take_back(message);
    } else {
      channels_.enqueue(message, since, counted);
    }
    return;
  }
  channels_.stamp(message, since, counted);
  channels_.use_credit(message, now);
  sender_.stage(message);
  arrange();
}

void FlitTransmitter::stage(Feeder& feeder, Time now) {
  Message& message = feeder.head();
  channels_.use_credit(message, now);
  channels_.left(vc_of(message.channel));
  feeder.taken(now);
  sender_.stage(message);
}

// Whether the next two flits are staged. The rules of packing order what is staged: more of it would be a
// queue in which the arbiter has no say.
bool FlitTransmitter::staged_enough() const {
  constexpr std::uint64_t kFlits = 2;
  std::uint64_t units = 0;
  for (std::size_t i = 0; i < kChannelCount; ++i) {
    const auto which = static_cast<Channel>(i);
    if (which != Channel::kIo) units += sender_.staging().lines(which) * cost_.line_units(which);
  }
  return units >= kFlits * WireCost::kUnitsOfByte * kChunkBytes * sender_.geometry().slots;
}

void FlitTransmitter::fill_by_share(Time now) {
  while (!staged_enough()) {
    std::uint64_t classes = channels_.can_go() & ~(std::uint64_t{1} << vc_of(Channel::kIo));
    for (std::uint64_t left_over = classes; left_over != 0; left_over &= left_over - 1) {
      const auto index = static_cast<unsigned>(std::countr_zero(left_over));
      if (sender_.staging().full(static_cast<Channel>(index))) classes &= ~(std::uint64_t{1} << index);
    }
    if (classes == 0) return;
    stage(*channels_.pick_among(classes), now);
  }
}

void FlitTransmitter::fill_stages(Time now) {
  std::uint64_t left_over = channels_.can_go();
  if (channels_.shares_bytes()) {
    fill_by_share(now);
    left_over = channels_.can_go() & std::uint64_t{1} << vc_of(Channel::kIo);
  }
  for (; left_over != 0; left_over &= left_over - 1) {
    const auto index = static_cast<unsigned>(std::countr_zero(left_over));
    const auto which = static_cast<Channel>(index);
    while ((channels_.can_go() >> index & 1U) != 0 && !sender_.staging().full(which)) {
      stage(*channels_.pick_of(vc_of(which)), now);
    }
  }
}

// --- Turns on the wire ---

void FlitTransmitter::arrange() {
  if (settling_ || in_turn_) return;
  const Time at = may_act_at();
  if (at > kernel_.now()) {
    wake_by(at);
  } else {
    settling_ = true;
    kernel_.at_end_of_instant(*this);
  }
}

void FlitTransmitter::wake(std::uint8_t kind, std::uint64_t /*payload*/) {
  const Time now = kernel_.now();
  switch (kind) {
    case kTurn:
      alarm_.rang(now);
      if (state() == State::kClosed) [[unlikely]] {
        admit_coming(now);
        if (!coming_.empty()) alarm_.wake_by(coming_.front().ready);
      } else {
        arrange();
      }
      return;
    case kDown:
      outage_.begin(now);
      if (turns_back()) {
        fail_staged_requests(now);
        arrange();
      }
      return;
    default: path_.wire().change_rate(degraded_rate_); retries_.change_far_rate(degraded_rate_);
  }
}

void FlitTransmitter::settle() {
  settling_ = false;
  const Time now = kernel_.now();
  in_turn_ = true;
  admit_coming(now);
  if (outage_.up_at() > now) {
    wait_for_end_of_outage(now);
  } else if (path_.wire().free_at() > now) {
    in_turn_ = false;
    alarm_.wake_by(path_.wire().free_at());
  } else {
    fill_stages(now);
    take_turn(now);
    in_turn_ = false;
    plan_next_turn();
  }
}

// Link control goes first.
void FlitTransmitter::take_turn(Time now) {
  if (retries_.control_due()) {
    retries_.send_control(now);
    return;
  }
  const FlitSender::Sent sent = sender_.take_turn(now, credits_.due(now));
  if (sent.carries_credits) credits_.give_some(now, sent.end);
}

void FlitTransmitter::plan_next_turn() {
  const Time free = path_.wire().free_at();
  // A flit may take all that was staged (twelve completions), and leave others waiting to be.
  if (channels_.can_go() != 0 || work_waits()) {
    alarm_.wake_by(free);
    return;
  }
  credits_.give_all(free, sender_.flit_time());
  if (!coming_.empty()) alarm_.wake_by(std::max(coming_.front().ready, free));
}

// --- Credits that ride on this end's flits ---

void FlitTransmitter::return_credit(Channel which, Time at) {
  if (!credits_.counts(which)) return;
  if (outage_.failed()) [[unlikely]] {  // no flit will go; after the repair it is there, as all that are free
    credits_.give(which, at);
    return;
  }
  // A wire with nothing to send carries empty flits, of which the next one takes it; CXL.io has credits of
  // its own.
  if (which == Channel::kIo || !work_waits()) {
    const Time from = std::max({at, path_.wire().free_at(), outage_.up_at()});
    credits_.give(which, from + sender_.flit_time());
  } else {
    credits_.hold(which, at);
  }
}

// --- Outages ---

void FlitTransmitter::wait_for_end_of_outage(Time now) {
  if (turns_back()) fail_requests(now);
  in_turn_ = false;
  if (work_waits() || channels_.can_go() != 0) wake_by(outage_.up_at());
  if (!coming_.empty()) wake_by(turns_back() ? coming_.front().ready : outage_.up_at());
}

// While the link is down: requests that want to cross it are answered here, by the device in front of it.
void FlitTransmitter::fail_requests(Time now) {
  for (const Channel which : {Channel::kM2SReq, Channel::kM2SRwD}) {
    while (!channels_.channel(which).waits.empty()) {
      Feeder* feeder = channels_.pick_of(vc_of(which));
      Message& message = feeder->head();
      channels_.left(vc_of(which));
      feeder->taken(now);
      fail(message, now);
    }
  }
}

// The link has just gone down: requests that have not begun to cross it give their credits back.
void FlitTransmitter::fail_staged_requests(Time now) {
  for (const Channel which : {Channel::kM2SReq, Channel::kM2SRwD}) {
    sender_.staging().remove_untouched(which, [&](Message& message) {
      channels_.give_back(which, now);
      fail(message, now);
    });
  }
}

// A request that cannot cross the link becomes its own error response, which the device in front of the link
// gives.
void FlitTransmitter::fail(Message& message, Time now) {
  path_.monitor().queue().change(now, -1);
  message.charge(path_.queue_segment(), now);
  make_error_answer(message, path_.owner().id());
  credits_.expect_own(message.channel);
  path_.return_to_owner(message);
}

// --- A link that fails by an event ---

// Its link layer keeps nothing: neither flits, nor credits that wait for one, nor retries.
void FlitTransmitter::interrupt() {
  const Time now = kernel_.now();
  admit_coming(now);
  Transmitter::interrupt();
  outage_.fail(now);
  retries_.forget();
  sender_.recall(now);
  credits_.give_all(now, Time{});
  channels_.charge_waits();
  sender_.staging().each([&](Message& message) { message.charge(path_.queue_segment(), now); });
}

void FlitTransmitter::close() {
  const Time now = kernel_.now();
  admit_coming(now);
  Transmitter::close();
  outage_.close();
  turn_back_staged(now);
  channels_.turn_back();
  if (!coming_.empty()) alarm_.wake_by(coming_.front().ready);
}

// These messages are before the ones in queues, and give their credits back.
void FlitTransmitter::turn_back_staged(Time now) {
  const auto turn_back = [&](Message& message) {
    channels_.give_back(message.channel, now);
    path_.monitor().queue().change(now, -1);
    const Time last_byte = last_byte_of(message);
    message.tail = last_byte > now ? last_byte - now : Time{};
    message.charge(kInterrupted, now);
    path_.take_back(message);
  };
  for (std::size_t i = 0; i < kChannelCount; ++i) {
    const auto which = static_cast<Channel>(i);
    if (which != Channel::kIo) sender_.staging().remove_untouched(which, turn_back);
  }
  while (!sender_.staging().io().empty()) turn_back(sender_.staging().take_io());
}

void FlitTransmitter::reopen() {
  const Time now = kernel_.now();
  Transmitter::reopen();
  admit_coming(now);
  channels_.charge_interruption();
  sender_.staging().each([&](Message& message) { message.charge(kInterrupted, now); });
  outage_.repair(now);
  arrange();
}

// --- Measuring ---

void FlitTransmitter::open_window(Time now) {
  channels_.open_window(now);
  sender_.monitor().open(now);
}

void FlitTransmitter::close_window(Time now) {
  channels_.close_window(now);
  sender_.monitor().close(now);
}

}  // namespace cxloom
