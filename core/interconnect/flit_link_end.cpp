#include "interconnect/flit_link_end.hpp"

#include <algorithm>
#include <bit>

#include "protocol/lone_flits.hpp"

namespace cxloom {

FlitLinkEnd::FlitLinkEnd(Kernel& kernel, const Setup& setup)
    : QueuedLinkEnd(kernel, setup.queued),
      flits_(setup.packing),
      staging_(setup.packing.mode),
      packer_(setup.packing),
      io_(setup.packing.mode),
      geometry_(geometry(setup.packing.mode)),
      zero_extended_(setup.packing.zero_extended),
      containment_(setup.containment),
      errors_(setup.errors, setup.packing.mode, setup.seed, name()),
      outage_(setup.outage),
      degraded_rate_(setup.degraded_rate),
      returns_(setup.packing.mode) {
  if (outage_.at) this->kernel().schedule_background(*outage_.at, source(), *this, kDown);
  if (setup.degraded_at) this->kernel().schedule_background(*setup.degraded_at, source(), *this, kDegrade);
}

void FlitLinkEnd::set_opposite(QueuedLinkEnd& opposite) {
  QueuedLinkEnd::set_opposite(opposite);
  far_ = static_cast<FlitLinkEnd*>(&opposite);
}

Time FlitLinkEnd::flit_time() const { return RateMeter(rate()).advance(geometry_.bytes); }

/// Of the class of data that takes longer, a write's or a read's: nothing says here on which side the memory is.
Time FlitLinkEnd::line_time() const {
  unsigned bytes = 0;
  for (const Channel channel : {Channel::kM2SRwD, Channel::kS2MDRS}) {
    const LoneFlits& flits = lone_flits(flits_.mode(), zero_extended_).at(static_cast<std::size_t>(channel));
    bytes = std::max(bytes, geometry_.bytes * (flits.count - 1U) +
                                geometry_.half_end.at(geometry_.half.at(flits.end_slot)));
  }
  if (containment_) bytes += geometry_.bytes;  // the flit with its MAC
  return RateMeter(rate()).advance(bytes);
}

// --- What comes to this end ---

void FlitLinkEnd::send(Message& message, Time ready) {
  ready = with_tail(message, ready);
  const Time now = kernel().now();
  admit_coming(now);
  if (ready <= now) {
    admit(message, ready, false);
    return;
  }
  expect(message, ready);
  wake_by(std::max(coming_.front().ready, may_act_at()));
}

void FlitLinkEnd::admit_coming(Time now) {
  while (!coming_.empty() && coming_.front().ready <= now) {
    const Coming first = coming_.front();
    coming_.pop_front();
    const bool counted = counted_ > 0;
    if (counted) --counted_;
    admit(*first.message, first.ready, counted);
  }
}

/// Those that are ready wait, though nobody looks before the next turn. What comes later is ready later, so they stay first.
void FlitLinkEnd::catch_up(Time now) {
  while (counted_ < coming_.size() && coming_[counted_].ready < now) {
    monitor().queue().change(coming_[counted_++].ready, +1);
  }
}

void FlitLinkEnd::admit(Message& message, Time since, bool counted) {
  VirtualChannel& own = channel(message.channel);
  const Time now = kernel().now();
  own.update(now);
  const bool at_once =
      own.waits.empty() && own.has_credit() && !staging_.full(message.channel) && up_at_ <= now;
  if (!at_once) {
    enqueue(message, since, counted);
    return;
  }
  stamp(message, since, counted);
  use_credit(message, now);
  stage(message);
  arrange();
}

void FlitLinkEnd::stage(Message& message) {
  // When its last byte is here.
  message.blocked = message.tail > Time{} ? kernel().now() + message.tail : Time{};
  staging_.add(message);
}

void FlitLinkEnd::fill_stages(Time now) {
  for (std::uint32_t left_over = can_go(); left_over != 0; left_over &= left_over - 1) {
    const auto index = static_cast<unsigned>(std::countr_zero(left_over));
    const auto which = static_cast<Channel>(index);
    while ((can_go() >> index & 1U) != 0 && !staging_.full(which)) {
      Feeder* feeder = pick_of(which);
      Message& message = feeder->head();
      use_credit(message, now);
      left(which);
      feeder->taken(now);
      stage(message);
    }
  }
}

// --- Turns on the wire ---

bool FlitLinkEnd::protocol_waits() const {
  return staging_.lines() > 0 || packer_.must_continue() || packer_.unchecked_flits() > 0;
}

bool FlitLinkEnd::io_waits() const { return io_.must_continue() || !staging_.io().empty(); }

void FlitLinkEnd::wake_by(Time at) {
  if (wake_at_ && *wake_at_ <= at) return;
  wake_at_ = at;
  kernel().schedule(at, source(), *this, kTurn);
}

void FlitLinkEnd::arrange() {
  if (settling_ || in_turn_) return;
  const Time now = kernel().now();
  const Time at = may_act_at();
  if (at > now) {
    wake_by(at);
  } else {
    settling_ = true;
    kernel().at_end_of_instant(*this);
  }
}

void FlitLinkEnd::wake(std::uint8_t kind, std::uint64_t payload) {
  const Time now = kernel().now();
  switch (kind) {
    case kTurn:
      woken(now);
      arrange();
      return;
    case kDown:
      up_at_ = now + outage_.length;
      if (outage_.fail) {
        fail_staged_requests(now);
        arrange();
      }
      return;
    case kDegrade: wire().change_rate(degraded_rate_); return;
    default: QueuedLinkEnd::wake(kind, payload);
  }
}

void FlitLinkEnd::settle() {
  settling_ = false;
  const Time now = kernel().now();
  in_turn_ = true;
  admit_coming(now);
  if (up_at_ > now) {
    if (outage_.fail) fail_requests(now);
    in_turn_ = false;
    if (work_waits() || can_go() != 0) wake_by(up_at_);
    if (!coming_.empty()) wake_by(outage_.fail ? coming_.front().ready : up_at_);
    return;
  }
  if (wire().free_at() > now) {
    in_turn_ = false;
    wake_by(wire().free_at());
    return;
  }
  fill_stages(now);
  take_turn(now);
  in_turn_ = false;
  const Time free = wire().free_at();
  // A flit may take all that was staged (twelve completions), and leave others waiting to be.
  if (can_go() != 0) {
    wake_by(free);
    return;
  }
  if (work_waits()) {
    const bool control_alone = !protocol_waits() && !io_waits();
    wake_by(control_alone ? std::max(free, control_from_) : free);
    if (control_alone && !coming_.empty()) wake_by(std::max(coming_.front().ready, free));
    return;
  }
  give_all_credits(free);
  if (!coming_.empty()) {
    wake_by(std::max(coming_.front().ready, free));
  }
}

// Link control first; flits of CXL.io and of the other protocols alternate, except where an all-data flit is due.
void FlitLinkEnd::take_turn(Time now) {
  if (control_due_ > 0 && control_from_ <= now) {
    send_control(now);
    return;
  }
  // Flits of CXL.io carry no credits: between them, a flit of the other protocols takes those that are due.
  const bool protocol = protocol_waits() || returns_.due(now);
  const bool all_data_due = packer_.mode() == FlitMode::k68B && packer_.data_waiting() > 3;
  if (io_waits() && !all_data_due && !(protocol && io_went_last_)) {
    send_io_flit(now);
    io_went_last_ = true;
  } else if (protocol) {
    send_flit(now);
    io_went_last_ = false;
  }
}

FlitLinkEnd::Passed FlitLinkEnd::pass_wire(Time now) {
  const Wire::Use use = wire().carry(geometry_.bytes, now, now, direction());
  Passed passed{use.start, use.start, use.end, geometry_.bytes};
  if (errors_.possible() && errors_.corrupts()) retry(passed);
  return passed;
}

/// When the last byte of each half of a flit is sent.
std::array<Time, 2> FlitLinkEnd::halves_of(Time start, Time end) const {
  if (geometry_.half_end[0] >= geometry_.bytes) return {end, end};
  const auto length = static_cast<std::uint64_t>((end - start).ps());
  return {start + Time{static_cast<std::int64_t>(length * geometry_.half_end[0] / geometry_.bytes)}, end};
}

void FlitLinkEnd::send_flit(Time now) {
  packer_.pack(staging_.offer(), flit_);
  const Passed passed = pass_wire(now);
  flits_.count(flit_);
  const std::array<Time, 2> sent = halves_of(passed.start, passed.end);
  if (flit_.count(SlotKind::kMac) > 0) {
    while (!unchecked_.empty()) {
      Message& checked = unchecked_.pop();
      hand_over(checked, std::max(sent[0], checked.blocked));
    }
  }
  Done done;
  for (std::size_t i = 0; i < flit_.message_count; ++i) {
    const Flit::Placement& placed = flit_.message[i];
    place(placed.channel, passed, sent[geometry_.half[placed.slot]], done);
  }
  for (std::size_t i = 0; i < flit_.end_count; ++i) {
    const Line line = lines_.front();
    lines_.pop_front();
    if (line.last) complete(*line.message, sent[geometry_.half[flit_.end[i]]], done);
  }
  monitor().book(
      {passed.first_start, passed.first_start, passed.end, passed.bytes, done.payload, done.messages}, now);
  if (flit_.carries_credits()) give_credits(passed.end);
}

// The next line of a class is in the flit.
void FlitLinkEnd::place(Channel which, const Passed& passed, Time sent, Done& done) {
  const FlitStaging::Line line = staging_.take(which);
  if (line.first) start(*line.message, passed);
  if (is_data_class(which)) {
    lines_.push_back({line.message, line.last});
  } else if (line.last) {
    complete(*line.message, sent, done);
  }
}

/// The wire takes the first part of a message: its wait is over.
void FlitLinkEnd::start(Message& message, const Passed& passed) {
  monitor().queue().change(passed.first_start, -1);
  message.charge(queue_segment(), passed.first_start);
  if (passed.start > passed.first_start) message.charge(Segment::kRetry, passed.start);
}

void FlitLinkEnd::complete(Message& message, Time sent, Done& done) {
  ++done.messages;
  done.payload = static_cast<std::uint16_t>(done.payload + message.payload());
  if (containment_) {
    unchecked_.push(message);
  } else {
    hand_over(message, std::max(sent, message.blocked));
  }
}

void FlitLinkEnd::send_io_flit(Time now) {
  io_bytes_.clear();
  std::uint32_t bytes = 0;
  for (const Message* message = staging_.io().first(); message && bytes < geometry_.io_bytes;
       message = message->next) {
    io_bytes_.push_back(staging_.bytes_of_io(*message));
    bytes += io_bytes_.back();
  }
  io_.pack(io_bytes_, flit_);
  const Passed passed = pass_wire(now);
  flits_.count(flit_);
  for (unsigned i = 0; i < flit_.io_begun; ++i) {
    Message& message = staging_.take_io();
    start(message, passed);
    io_under_way_.push(message);
  }
  Done done;
  for (unsigned i = 0; i < flit_.io_ended; ++i) {
    Message& message = io_under_way_.pop();
    ++done.messages;
    done.payload = static_cast<std::uint16_t>(done.payload + message.payload());
    hand_over(message, std::max(passed.end, message.blocked));
  }
  monitor().book(
      {passed.first_start, passed.first_start, passed.end, passed.bytes, done.payload, done.messages}, now);
}

// --- Credits that ride on this end's flits ---

void FlitLinkEnd::return_credit(const Message& message, Time at) {
  const auto index = static_cast<std::size_t>(message.channel);
  if (not_from_far_[index] > 0) {
    --not_from_far_[index];
    return;
  }
  if (!far_->limits(message.channel)) return;
  // A wire with nothing to send carries empty flits, of which the next one takes it; CXL.io has credits of its own.
  if (message.channel == Channel::kIo || !work_waits()) {
    const Time from = std::max({at, wire().free_at(), up_at_});
    far_->credit_comes(message.channel, from + flit_time() + far_->credit_delay());
    return;
  }
  returns_.add(message.channel, at);
}

void FlitLinkEnd::give_credits(Time end) {
  returns_.take(kernel().now(), [&](Channel which, unsigned count) {
    for (unsigned i = 0; i < count; ++i) far_->credit_comes(which, end + far_->credit_delay());
  });
}

/// Nothing is left to send: empty flits take the credits, from `from` on.
void FlitLinkEnd::give_all_credits(Time from) {
  returns_.take_all([&](Channel which, Time at) {
    far_->credit_comes(which, std::max(at, from) + flit_time() + far_->credit_delay());
  });
}

void FlitLinkEnd::open_window(Time now) {
  catch_up(now);
  QueuedLinkEnd::open_window(now);
  flits_.open();
}

void FlitLinkEnd::close_window(Time now) {
  catch_up(now);
  QueuedLinkEnd::close_window(now);
  flits_.close();
}

}  // namespace cxloom
