#include "device/input_queue.hpp"

#include "device/switch_core.hpp"

namespace cxloom {

const EventHandler& InputQueue::owner() const { return core_.owner(); }

std::uint16_t InputQueue::input() const { return core_.is_port(place_.input) ? place_.input : kOwnMessages; }

void InputQueue::push(Message& message, std::uint16_t output) {
  const bool first = queue_.empty() && !leaving_;
  message.port = output;
  queue_.push(message);
  if (core_.in_order()) {
    // Behind another one's head it waits for its own port all the same: the port's queue is whoever is to leave by it.
    message.since = core_.now();
    core_.output(output).count_waiting();
  } else {
    core_.output(output).stamp(message);
  }
  if (first) ask();
}

void InputQueue::taken(Time end) {
  Message& gone = queue_.pop();
  core_.release(gone, place_.input, end);
  if (core_.in_order() && end > core_.now()) {
    leaving_ = true;  // one message at a time leaves the queue, whatever port it goes to
    core_.wake_when_left(*this, end);
  } else {
    go_on();
  }
}

void InputQueue::left() {
  leaving_ = false;
  go_on();
}

void InputQueue::go_on() {
  if (queue_.empty()) {
    core_.put_away(*this);
  } else {
    ask();
  }
}

void InputQueue::ask() {
  Message& message = queue_.front();
  VirtualChannels& output = core_.output(message.port);
  if (core_.in_order()) {
    // It waited for its turn at the head; from here on it waits for the output. Its tail has kept coming in.
    message.charge(Segment::kSwitchQueue, core_.now());
    const Time waited = core_.now() - message.since;
    message.tail = message.tail > waited ? message.tail - waited : Time{};
    output.stamp(message, true);
  }
  output.ask(*this, place_.channel);
}

}  // namespace cxloom
