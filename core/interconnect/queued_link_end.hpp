// A link end with flow control: a queue a message class, credits for the receiver's buffers, and turns among the queues
// whose head wants this wire. Switches bring queues of their own; other components push into the end's. What a turn on
// the wire is, the kinds of link end say: a message (MessageLinkEnd) or a flit (FlitLinkEnd).
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "interconnect/class_credits.hpp"
#include "interconnect/link_end.hpp"
#include "interconnect/virtual_channel.hpp"

namespace cxloom {

class QueuedLinkEnd : public LinkEnd {
 public:
  struct Setup {
    LinkEndSetup link;
    ClassCredits credits;
    Arbitration arbitration = Arbitration::kRoundRobin;
    Time credit_delay;  ///< from the receiver's end of the link to this one
  };

  QueuedLinkEnd(Kernel& kernel, const Setup& setup);
  /// The end at the other side, whose credits this one returns.
  virtual void set_opposite(QueuedLinkEnd& opposite);

  bool queues() const override { return true; }
  /// Asks for the wire on behalf of a queue whose head is of the given class.
  void ask(Feeder& feeder, Channel channel);
  /// A credit of this end's is under way, and arrives at `at`.
  void credit_comes(Channel which, Time at);
  /// Starts the account of a message's wait for this port. `counted`: it is among those that wait, as the monitor has it,
  /// already.
  void stamp(Message& message, bool counted = false) { stamp(message, kernel().now(), counted); }
  /// A message that is to leave by this port waits, though another blocks its way there.
  void count_waiting() { monitor().queue().change(kernel().now(), +1); }

  void wake(std::uint8_t kind, std::uint64_t payload) override;
  void open_window(Time now) override;
  void close_window(Time now) override;
  Time credit_blocked(Channel channel) const override {
    return blocked_in_window_[static_cast<std::size_t>(channel)];
  }

 protected:
  /// Kinds of events; those of the classes below begin at kOwnWakes.
  enum Wake : std::uint8_t { kCredit, kOwnWakes };

  /// Something may be able to go: sees to it that somebody's turn comes, at the end of this instant or later.
  virtual void arrange() = 0;
  /// What waits is turned back, with credits or without.
  virtual bool turns_back() const { return false; }

  VirtualChannel& channel(Channel which) {
    VirtualChannel* known = channels_[static_cast<std::size_t>(which)].get();
    return known ? *known : make_channel(which);
  }
  /// The classes that have both messages and credits, a bit each.
  std::uint32_t can_go() const { return can_go_; }
  /// Whose turn it is, taken out of its wait list; none if nobody can go.
  Feeder* pick();
  /// The same within a class that can go.
  Feeder* pick_of(Channel which);
  /// The feeder's head is to leave: uses a credit and charges the wait for it. Its tail has kept coming in.
  void use_credit(Message& message, Time now);
  /// Its head has left: whether the class can still go.
  void left(Channel which);

  /// `counted`: it is among those that wait, as the monitor has it, already.
  void enqueue(Message& message, Time since, bool counted = false);
  void stamp(Message& message, Time since, bool counted);
  void return_credit(const Message& message, Time at) override;
  /// The receiver's buffers for a class are limited.
  bool limits(Channel which) const { return credits_.of(which).has_value(); }
  bool limits_any() const { return credits_.any(); }
  QueuedLinkEnd* opposite() { return opposite_; }
  Time credit_delay() const { return credit_delay_; }

 private:
  VirtualChannel& make_channel(Channel which);
  void watch_for_credit(VirtualChannel& starving, Channel which);
  Time starved_clock(std::size_t channel, Time now);

  ClassCredits credits_;
  Arbitration arbitration_;
  Time credit_delay_;
  QueuedLinkEnd* opposite_ = nullptr;
  std::array<std::unique_ptr<VirtualChannel>, kChannelCount> channels_;
  std::uint32_t can_go_ = 0;
  unsigned turn_ = 0;  // the class after the one served last
  std::array<Time, kChannelCount> starved_when_opened_{};
  std::array<Time, kChannelCount> blocked_in_window_{};
};

}  // namespace cxloom
