#include "device/switch/input_queue.hpp"

#include <utility>

#include "device/switch/core.hpp"

namespace cxloom {

const EventHandler& InputQueue::owner() const { return core_.owner(); }

std::uint16_t InputQueue::input() const { return core_.is_port(key_.input) ? key_.input : kOwnMessages; }

void InputQueue::push(Message& message, std::uint16_t output) {
  const bool first = queue_.empty() && !leaving_;
  message.port = output;
  message.virtual_channel = core_.next_virtual_channel(key_.input, output, message);
  queue_.push(message);
  if (core_.in_order()) {
    // Behind another head it waits for its own port: the port's queue has all messages that leave by it.
    message.since = core_.now();
    core_.output(output).count_waiting();
  } else {
    core_.output(output).stamp(message);
  }
  if (first) ask();
}

void InputQueue::taken(Time end) {
  queue_.pop();
  core_.release(key_.vc, key_.input, end);
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

bool InputQueue::all_wait() const { return !core_.in_order(); }

// Messages behind the head may leave by other ports: each is looked at when its turn comes.
void InputQueue::turn_back() {
  if (!core_.in_order()) {
    turn_back_all();
    return;
  }
  Message& message = queue_.front();
  core_.output(message.port).withdraw(message);
  const std::uint16_t output = core_.other_output_of(message, key_.input);
  message.virtual_channel = virtual_channel_of(key_.vc);
  if (output != Routes::kNowhere) {
    message.port = output;
    message.virtual_channel = core_.next_virtual_channel(key_.input, output, message);
    core_.output(output).count_waiting();
    ask();
    return;
  }
  queue_.pop();
  message.port = key_.input;
  core_.nowhere(message);
  go_on();
}

// They join the queues of other ports, in their order.
void InputQueue::turn_back_all() {
  MessageQueue turned = std::exchange(queue_, {});
  const Key before = key_;
  core_.put_away(*this);
  while (!turned.empty()) {
    Message& message = turned.pop();
    core_.output(before.output).withdraw(message);
    message.port = before.input;
    message.virtual_channel = virtual_channel_of(before.vc);
    core_.forward_anew(message);
  }
}

void InputQueue::ask() {
  Message& message = queue_.front();
  VirtualChannels& output = core_.output(message.port);
  if (output.closed()) [[unlikely]] {
    if (core_.in_order()) message.charge(Segment::kSwitchQueue, core_.now());
    turn_back();
    return;
  }
  if (core_.in_order()) {
    // It waited for its turn at the head; from here on it waits for the output. Its tail has kept coming in.
    message.charge(Segment::kSwitchQueue, core_.now());
    const Time waited = core_.now() - message.since;
    message.tail = message.tail > waited ? message.tail - waited : Time{};
    output.stamp(message, true);
  }
  output.ask(*this, vc_of(message));
}

}  // namespace cxloom
