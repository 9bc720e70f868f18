// The state of one message class at a link end: who waits for the wire, the credits left, and the messages pushed.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <vector>

#include "kernel/wait_list.hpp"
#include "protocol/message_queue.hpp"

namespace cxloom {

class QueuedLinkEnd;

/// A queue whose head waits for a port.
class Feeder : public Waiter {
 public:
  virtual ~Feeder() = default;
  virtual Message& head() = 0;
  /// The head leaves: take it out, free its buffer when its last byte is out, at `end`, and ask for the next one.
  virtual void taken(Time end) = 0;
};

/// Credits on their way back are kept with the time at which they arrive, and counted when the others are used up: a
/// credit costs an event only when somebody waits for it.
class VirtualChannel final : public Feeder {
 public:
  VirtualChannel(QueuedLinkEnd& end, Kernel& kernel, Channel which, std::optional<std::uint32_t> credits);

  /// Counts the credits that have come back by now, if there is no other left.
  void update(Time now) {
    if (has_credit()) return;
    while (head_ != tail_ && at(head_) <= now) {
      const Time came = at(head_++);
      if (credits_++ > 0) continue;
      if (came > blocked_since_) blocked_ += came - blocked_since_;
      if (came > starved_since_ && !waits.empty()) starved_ += came - starved_since_;
    }
  }
  bool limited() const { return limited_; }
  bool has_credit() const { return !limited_ || credits_ > 0; }
  void use_credit(Time now) {
    if (!limited_ || --credits_ > 0) return;
    blocked_since_ = starved_since_ = now;
    update(now);
  }
  /// A credit is under way; usually, but not always, behind those that are.
  void credit_comes(Time when) {
    std::uint64_t place = tail_++;
    for (; place != head_ && when < at(place - 1); --place) at(place) = at(place - 1);
    at(place) = when;
  }
  /// When the next credit arrives, if one is under way.
  std::optional<Time> next_credit() { return head_ == tail_ ? std::nullopt : std::optional(at(head_)); }

  void wait(Feeder& feeder, Time now) {
    if (waits.empty()) starved_since_ = now;
    waits.join(feeder, now);
  }
  /// Time so far in which this class had no credit; of these, with messages waiting. After `update`.
  Time blocked_clock(Time now) const { return blocked_ + (has_credit() ? Time{} : now - blocked_since_); }
  Time starved_clock(Time now) const {
    return starved_ + (has_credit() || waits.empty() ? Time{} : now - starved_since_);
  }

  Message& head() override { return queue.front(); }
  void taken(Time end) override;

  WaitList waits;
  MessageQueue queue;
  bool wake_pending = false;  ///< an event will come with the next credit

 private:
  Time& at(std::uint64_t index) { return returning_[index & (returning_.size() - 1)]; }

  QueuedLinkEnd& end_;
  Channel which_;
  bool limited_;
  std::uint32_t credits_;
  std::vector<Time> returning_;  // a ring: when each credit under way arrives, soonest first
  std::uint64_t head_ = 0;
  std::uint64_t tail_ = 0;
  Time blocked_;
  Time blocked_since_;
  Time starved_;
  Time starved_since_;
};

}  // namespace cxloom
