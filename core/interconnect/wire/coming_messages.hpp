// Messages that are sent before they are ready for a flit, soonest first.
#pragma once

#include "base/ring.hpp"
#include "protocol/message.hpp"

namespace cxloom {

/// When a message is ready whose head is at `ready`: data are packed into flits once they are here, so that
/// the tail which is still to come delays it.
inline Time ready_with_tail(Message& message, Time ready) {
  if (message.tail == Time{}) return ready;
  ready += message.tail;
  message.tail = Time{};
  message.charge(Segment::kSerialization, ready);
  return ready;
}

class ComingMessages {
 public:
  struct Coming {
    Message* message;
    Time ready;
  };

  bool empty() const { return coming_.empty(); }
  std::size_t size() const { return coming_.size(); }
  /// The i-th from the soonest.
  const Coming& operator[](std::size_t i) const { return coming_[i]; }
  const Coming& front() const { return coming_.front(); }
  void pop_front() { coming_.pop_front(); }
  void expect(Message& message, Time ready) {
    coming_.insert({&message, ready}, [](const Coming& a, const Coming& b) { return a.ready < b.ready; });
  }

 private:
  Ring<Coming> coming_;
};

}  // namespace cxloom
