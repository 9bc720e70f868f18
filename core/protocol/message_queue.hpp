// A first-in first-out queue of messages, linked through the messages themselves.
#pragma once

#include "protocol/message.hpp"

namespace cxloom {

class MessageQueue {
 public:
  bool empty() const { return first_ == nullptr; }
  Message& front() const { return *first_; }
  /// The same, or null if it is empty.
  const Message* first() const { return first_; }
  void push(Message& message) {
    message.next = nullptr;
    (last_ ? last_->next : first_) = &message;
    last_ = &message;
  }
  Message& pop() {
    Message& message = *first_;
    first_ = message.next;
    if (!first_) last_ = nullptr;
    return message;
  }

 private:
  Message* first_ = nullptr;
  Message* last_ = nullptr;
};

}  // namespace cxloom
