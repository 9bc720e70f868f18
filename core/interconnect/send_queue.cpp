#include "interconnect/send_queue.hpp"

#include "interconnect/virtual_channels.hpp"

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

}  // namespace cxloom
