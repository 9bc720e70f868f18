#include "interconnect/channel/send_queue.hpp"

#include "interconnect/channel/virtual_channels.hpp"

namespace cxloom {

void SendQueue::push(Message& message) {
  const bool first = queue_.empty();
  queue_.push(message);
  if (first) channels_.ask(*this, which_);
}

const EventHandler& SendQueue::owner() const { return channels_.sender(); }

void SendQueue::taken(Time /*end*/) {
  queue_.pop();
  if (!queue_.empty()) channels_.ask(*this, which_);
}

void SendQueue::turn_back() {
  while (!queue_.empty()) {
    Message& message = queue_.pop();
    channels_.withdraw(message);
    channels_.return_to_sender(message);
  }
}

}  // namespace cxloom
