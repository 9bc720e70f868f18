#include "interconnect/flit/batched_transmitter.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "interconnect/wire/link_path_delivery.hpp"
#include "protocol/flit/isolated_flits.hpp"

namespace cxloom {

BatchedFlitTransmitter::BatchedFlitTransmitter(LinkPath& path, const FlitSender::Setup& setup)
    : path_(path),
      kernel_(path.kernel()),
      alarm_(path.kernel(), path.source(), *this, 0),
      sender_(path, setup, nullptr) {
  const FlitGeometry& flit = sender_.geometry();
  const auto time_of = [&](std::uint64_t bytes) { return RateMeter(path_.rate()).advance(bytes); };
  // The last event at this end that a message needs is its arrival, or its leaving if the receiver has a
  // queue of its own.
  const Time behind = path_.cut() ? Time{} : path_.flight() + path_.pipeline();
  reach_ = time_of(flit.half_end[0]) + behind;
  const auto& all = isolated_flits(setup.packing.mode, setup.packing.zero_extended);
  for (std::size_t i = 0; i < kChannelCount; ++i) {
    const IsolatedFlits& flits = all[i];
    Isolated& isolated = isolated_[i];
    isolated.reach = reach_;
    if (flits.count == 0) continue;
    isolated.bytes = static_cast<std::uint16_t>(flit.bytes * flits.count);
    isolated.time = time_of(isolated.bytes);
    isolated.flits = flits.count;
    isolated.slots = flits.slots;
    isolated.first_data = static_cast<std::uint8_t>(flits.flit[0].count(SlotKind::kData) * kChunkBytes);
    isolated.first_half = flit.half[flits.end_slot] == 0 && flit.half_end[0] < flit.bytes;
    ensure(flits.count == 1 || !isolated.first_half, "halves are those of the only flit");
    // A remainder carried along may make a flit a picosecond longer.
    isolated.last_starts = (time_of(flit.bytes) + Time{1}) * (flits.count - 1);
    if (flits.count > 1) isolated.reach = isolated.time + behind;
  }
}

bool BatchedFlitTransmitter::possible(const LinkPath& path, const FlitSetup& setup) {
  return !path.owner().arbitrates() && !setup.channels.credits.any() && !setup.errors.every &&
         setup.errors.bit_error_rate == 0.0 && setup.sender.packing.mac_every == 0 && !setup.outage.at &&
         !setup.degraded_at && !setup.may_fail;
}

void BatchedFlitTransmitter::connect(CreditLine* far_credits, FlitRetries* /*far_retries*/) {
  ensure(!far_credits, "a far end whose credits ride on flits that are sent in batches");
}

void BatchedFlitTransmitter::send(Message& message, Time ready) {
  ready = ready_with_tail(message, ready);
  coming_.expect(message, ready);
  alarm_.wake_by(std::max(ready, path_.wire().free_at()) + isolated_of(message).reach);
}

void BatchedFlitTransmitter::wake(std::uint8_t /*kind*/, std::uint64_t /*payload*/) {
  const Time now = kernel_.now();
  alarm_.rang(now);
  if (Message* message = work_off(now, Upto::kArrivals)) path_.deliver_now(*message);
}

/// Takes the turns before this instant: of this one, not all that takes part in it may be here yet. Returns
/// the message that is with the receiver at this very instant, if one is that went alone: no other event need
/// report it.
Message* BatchedFlitTransmitter::work_off(Time now, Upto upto) {
  Message* arrived = nullptr;
  while (packing_ || !coming_.empty()) {
    const Time free = path_.wire().free_at();
    const Time turn = packing_ ? free : std::max(coming_.front().ready, free);
    if (turn >= now) {
      alarm_.wake_by(packing_ ? turn + reach_ : first_arrival(turn));
      break;
    }
    if (fresh_) {
      const Coming& first = coming_.front();
      const Isolated& isolated = isolated_of(*first.message);
      const Time last_starts = turn + isolated.last_starts;
      const bool alone =
          (coming_.size() == 1 || coming_[1].ready > last_starts) && isolated.takes(*first.message);
      if (alone && last_starts < now) {
        Message& message = *first.message;
        const Time arrival = pass_alone(first, isolated, turn, now);
        coming_.pop_front();
        if (arrival == now) {
          arrived = &message;
        } else {
          path_.deliver(message, arrival);
        }
        continue;
      }
      if (alone && upto == Upto::kArrivals) {  // so far: something may join its last flit
        alarm_.wake_by(first_arrival(turn));
        break;
      }
    }
    admit_until(turn);
    sender_.take_turn(turn, false);
    packing_ = sender_.protocol_waits() || sender_.io_waits();
    fresh_ = sender_.starts_afresh();
  }
  return arrived;
}

/// The earliest time at which one of those that come may be with the receiver, the next flit being at `turn`.
Time BatchedFlitTransmitter::first_arrival(Time turn) const {
  const Time first = turn + isolated_of(*coming_.front().message).reach;
  return coming_.size() == 1 ? first : std::min(first, std::max(coming_[1].ready, turn) + reach_);
}

/// Accounts for the message and its flits. Returns when it is with the receiver.
Time BatchedFlitTransmitter::pass_alone(const Coming& coming, const Isolated& isolated, Time turn, Time now) {
  Message& message = *coming.message;
  if (coming.ready < turn) {
    path_.monitor().queue().change(coming.ready, +1);
    path_.monitor().queue().change(turn, -1);
  }
  const auto payload = static_cast<std::uint16_t>(message.payload());
  Wire::Use use{};
  // Flits that have all gone are one passage: no window opens or closes between them.
  const Time longest = isolated.time + (turn > path_.wire().free_at() ? Time{} : Time{1});
  if (turn + longest <= now) {
    use = path_.wire().carry(isolated.bytes, turn, turn, path_.direction());
    path_.monitor().book({use.start, use.start, use.end, isolated.bytes, payload, 1}, turn);
  } else {
    std::uint16_t payload_left = payload;
    for (unsigned left = isolated.flits; left > 0; --left) {
      use = path_.wire().carry(sender_.geometry().bytes, turn, turn, path_.direction());
      const bool last = left == 1;
      const std::uint16_t carried =
          last ? payload_left : std::min<std::uint16_t>(payload, isolated.first_data);
      payload_left = static_cast<std::uint16_t>(payload_left - carried);
      path_.monitor().book({use.start, use.start, use.end, sender_.geometry().bytes, carried,
                            last ? std::uint16_t{1} : std::uint16_t{0}},
                           use.start);
    }
  }
  sender_.monitor().count_isolated(message.channel, isolated.slots);
  const Time sent = isolated.first_half ? sender_.halves_of(use.start, use.end)[0] : use.end;
  message.charge(path_.queue_segment(), turn);
  return path_.account_arrival(message, sent);
}

void BatchedFlitTransmitter::admit_until(Time until) {
  while (!coming_.empty() && coming_.front().ready <= until) {
    const Coming first = coming_.front();
    coming_.pop_front();
    path_.monitor().queue().change(first.ready, +1);
    sender_.stage(*first.message);
    packing_ = true;
    fresh_ = false;
  }
}

void BatchedFlitTransmitter::catch_up(Time now) {
  if (Message* message = work_off(now, Upto::kNow)) path_.deliver(*message, now);
  admit_until(now - Time{1});  // they wait for a flit that is on the wire
}

}  // namespace cxloom
