#include "interconnect/link/message_transmitter.hpp"

#include "kernel/event_handler.hpp"
#include "kernel/kernel.hpp"

namespace cxloom {

MessageTransmitter::MessageTransmitter(LinkPath& path, const VirtualChannels::Setup& setup)
    : path_(path), kernel_(path.kernel()), channels_(path, *this, setup) {}

bool MessageTransmitter::idle() const {
  return !settling_ && state() == State::kUp && path_.wire().free_for(path_.direction()) <= kernel_.now();
}

void MessageTransmitter::queue(Message& message, std::uint16_t /*output*/) {
  channels_.enqueue(message, kernel_.now());
}

Time MessageTransmitter::line_time() const {
  return RateMeter(path_.rate()).advance(path_.message_bytes(kLineBytes));
}

void MessageTransmitter::send(Message& message, Time ready) {
  if (ready > kernel_.now()) {
    kernel_.schedule(ready, path_.source(), *this, kReady, payload_of(message));
  } else if (state() == State::kClosed) {
    path_.take_back(message);
  } else if (ready < kernel_.now() || !channels_.bypass(message, *this)) {
    channels_.enqueue(message, ready);
  }
}

void MessageTransmitter::arrange() {
  if (settling_ || state() != State::kUp) return;  // it wants the wire already, or cannot have it
  Wire& wire = path_.wire();
  wire.want(path_.direction());
  const Time free = wire.free_for(path_.direction());
  if (free > kernel_.now()) {
    wake_when_free(free);
  } else {
    settling_ = true;
    kernel_.at_end_of_instant(*this);
  }
}

void MessageTransmitter::wake_when_free(Time at) {
  if (wire_wake_pending_) return;
  wire_wake_pending_ = true;
  kernel_.schedule(at, path_.source(), *this, kWireFree);
}

// When both directions of a shared wire want it, they take turns.
bool MessageTransmitter::should_yield() const {
  const Wire& wire = path_.wire();
  return wire.wanted(1 - path_.direction()) && wire.last_direction() == path_.direction();
}

void MessageTransmitter::settle() {
  const Time now = kernel_.now();
  Wire& wire = path_.wire();
  if (channels_.bypassing()) {
    if (channels_.can_go() == 0 && wire.free_for(path_.direction()) <= now && !should_yield()) {
      settling_ = false;
      pass();
      return;
    }
    channels_.end_bypass();
  }
  settling_ = false;
  if (wire.free_for(path_.direction()) > now) {  // the other direction was first
    arrange();
    return;
  }
  if (should_yield()) {
    const Time other = wire.free_for(1 - path_.direction());
    if (other <= now) {
      arrange();  // it goes at the end of this same instant
    } else {
      wake_when_free(other);
    }
    return;
  }
  Feeder* feeder = channels_.pick();
  wire.want_no_more(path_.direction());
  if (!feeder) return;

  Message& message = feeder->head();
  const ClassVc vc = vc_of(message);
  channels_.use_credit(message, now);
  path_.monitor().queue().change(now, -1);
  const Time end = depart(message, now);
  channels_.left(vc);
  feeder->taken(end);
  if (channels_.can_go() != 0) arrange();
}

void MessageTransmitter::interrupt() {
  channels_.charge_waits();
  Transmitter::interrupt();
  path_.wire().want_no_more(path_.direction());
}

void MessageTransmitter::close() {
  Transmitter::close();
  channels_.turn_back();
}

void MessageTransmitter::reopen() {
  channels_.charge_interruption();
  Transmitter::reopen();
  if (channels_.can_go() != 0) arrange();
}

// Returns when its last byte leaves.
Time MessageTransmitter::depart(Message& message, Time now) {
  const Time tail = message.tail;
  path_.depart(message, now);
  return path_.unlimited() ? now + tail : path_.wire().free_at();
}

void MessageTransmitter::pass() {
  Message& message = *channels_.bypassing();
  const std::uint16_t input = message.port;
  BypassSource& source = channels_.pass(kernel_.now());
  path_.wire().want_no_more(path_.direction());
  const Time end = depart(message, kernel_.now());
  source.passed(message, input, end);
}

void MessageTransmitter::foresee(std::uint8_t kind, std::uint64_t payload) const {
  path_.fetch();
  if (kind == kReady) {
    channels_.fetch_channel(vc_of(object_of<Message>(payload)));
  } else {
    channels_.foresee_turn();
  }
}

void MessageTransmitter::wake(std::uint8_t kind, std::uint64_t payload) {
  if (kind == kReady) {
    auto& message = object_of<Message>(payload);
    if (state() == State::kClosed) {
      path_.take_back(message);
      return;
    }
    if (!channels_.bypass(message, *this)) channels_.enqueue(message, kernel_.now());
    return;
  }
  wire_wake_pending_ = false;
  if (channels_.can_go() != 0) arrange();
}

}  // namespace cxloom
