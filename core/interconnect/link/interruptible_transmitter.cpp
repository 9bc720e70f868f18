#include "interconnect/link/interruptible_transmitter.hpp"

#include "interconnect/wire/interrupted_wait.hpp"
#include "kernel/event_handler.hpp"
#include "kernel/kernel.hpp"

namespace cxloom {

void InterruptibleTransmitter::send(Message& message, Time ready) {
  if (ready > path_.kernel().now()) {
    path_.kernel().schedule(ready, path_.owner_source(), *this, kReady, payload_of(message));
  } else {
    offer(message);
  }
}

void InterruptibleTransmitter::offer(Message& message) {
  const Time now = path_.kernel().now();
  if (state() == State::kClosed) {
    path_.take_back(message);
  } else if (state() == State::kUp && waiting_.empty() && path_.wire().free_at() <= now) {
    path_.depart(message, now);
  } else {
    message.since = now;
    path_.monitor().queue().change(now, +1);
    waiting_.push(message);
    wake_when_free();
  }
}

void InterruptibleTransmitter::wake_when_free() {
  if (wake_pending_ || state() != State::kUp || waiting_.empty()) return;
  wake_pending_ = true;
  const Time now = path_.kernel().now();
  path_.kernel().schedule(std::max(now, path_.wire().free_at()), path_.source(), *this, kWireFree);
}

void InterruptibleTransmitter::work_off() {
  const Time now = path_.kernel().now();
  while (state() == State::kUp && !waiting_.empty() && path_.wire().free_at() <= now) {
    Message& message = waiting_.pop();
    path_.monitor().queue().change(now, -1);
    pass_tail(message, now);
    path_.depart(message, now);
  }
  wake_when_free();
}

void InterruptibleTransmitter::wake(std::uint8_t kind, std::uint64_t payload) {
  if (kind == kReady) {
    offer(object_of<Message>(payload));
    return;
  }
  wake_pending_ = false;
  work_off();
}

void InterruptibleTransmitter::interrupt() {
  Transmitter::interrupt();
  for (Message* message = waiting_.first(); message; message = message->next)
    charge_wait(*message, path_.queue_segment(), path_.kernel().now());
}

void InterruptibleTransmitter::reopen() {
  Transmitter::reopen();
  for (Message* message = waiting_.first(); message; message = message->next)
    charge_wait(*message, kInterrupted, path_.kernel().now());
  wake_when_free();
}

void InterruptibleTransmitter::close() {
  Transmitter::close();
  const Time now = path_.kernel().now();
  while (!waiting_.empty()) {
    Message& message = waiting_.pop();
    path_.monitor().queue().change(now, -1);
    charge_wait(message, kInterrupted, now);
    path_.take_back(message);
  }
}

}  // namespace cxloom
