// The state of one message class at a link end: the messages that wait for the wire, and the credits left.
#pragma once

#include <cstdint>

#include "base/error.hpp"
#include "interconnect/wire/credit_line.hpp"
#include "kernel/wait_list.hpp"
#include "protocol/message.hpp"

namespace cxloom {

/// In place of a port, for a message of the component itself.
inline constexpr std::uint16_t kOwnMessages = 0xffff;

/// A queue whose head waits for a port.
class Feeder : public Waiter {
 public:
  virtual Message& head() const = 0;
  /// The head leaves: take it out, free its buffer when its last byte is out, at `end`, and ask for the next
  /// one.
  virtual void taken(Time end) = 0;
  /// Whether all messages of the queue wait for this port and nothing else, not the head alone.
  virtual bool all_wait() const { return false; }
  /// The port is closed: what waits for it is to leave by another. Not in the queue of its class any more.
  virtual void turn_back() { throw InternalError("messages that wait for a link that was not made to fail"); }
  /// The port by which the head came in.
  virtual std::uint16_t input() const { return kOwnMessages; }
};

/// Hands over messages that may go past its queues, because everything on their way is idle.
class BypassSource {
 public:
  /// It has to queue after all, at this same instant, to leave by the port `output`.
  virtual void queue(Message& message, std::uint16_t output) = 0;
  /// The message is on the wire, until `end`; `input` is its port when it was handed over.
  virtual void passed(const Message& message, std::uint16_t input, Time end) = 0;

 protected:
  ~BypassSource() = default;
};

/// One cache line: whatever passes a queued hop touches one of these.
class alignas(64) VirtualChannel final {
 public:
  /// Without a credit line, the receiver's buffers have no limit.
  VirtualChannel(Kernel& kernel, const EventHandler& receiver, CreditLine* credit_line, std::uint32_t credits)
      : waits(kernel, credit_line ? "buffer credits and the wire of the link" : "the wire of the link",
              receiver),
        credit_line_(credit_line),
        credits_(credits) {}

  /// Counts the credits that have come back by now, if there is no other left.
  void update(Time now) {
    if (!has_credit()) count_credits(now);
  }
  /// Credits in use, of a class that is limited.
  std::uint32_t in_use(Time now) {
    if (!limited()) return 0;
    count_credits(now);
    return credit_line_->total() - credits_;
  }
  bool limited() const { return credit_line_ != nullptr; }
  bool has_credit() const { return !limited() || credits_ > 0; }
  void use_credit(Time now) {
    if (!limited() || --credits_ > 0) return;
    blocked_since_ = starved_since_ = now;
    update(now);
  }

  void wait(Feeder& feeder, Time now) {
    if (waits.empty()) starved_since_ = now;
    waits.join(feeder, now);
  }
  /// Time so far in which this class had no credit; of these, with messages waiting. After `update`.
  Time blocked_clock(Time now) const { return blocked_ + (has_credit() ? Time{} : now - blocked_since_); }
  Time starved_clock(Time now) const {
    return starved_ + (has_credit() || waits.empty() ? Time{} : now - starved_since_);
  }
  /// Asks for an event with the next credit if somebody waits for it.
  void watch_for_credit() {
    if (!waits.empty() && !has_credit()) credit_line_->await();
  }
  /// Null: the receiver's buffers have no limit.
  CreditLine* credit_line() { return credit_line_; }

  WaitList waits;

 private:
  void count_credits(Time now) {
    while (credit_line_->arrived(now)) {
      const Time came = credit_line_->take();
      if (credits_++ > 0) continue;
      if (came > blocked_since_) blocked_ += came - blocked_since_;
      if (came > starved_since_ && !waits.empty()) starved_ += came - starved_since_;
    }
  }

  CreditLine* credit_line_;
  Time blocked_;
  Time blocked_since_;
  Time starved_;
  Time starved_since_;
  std::uint32_t credits_;
};

static_assert(sizeof(VirtualChannel) == 64);

}  // namespace cxloom
