// A link end with flow control: a queue a message class, credits for the receiver's buffers, and arbitration among the
// queues whose head wants this wire. Switches bring queues of their own; other components push into the end's.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>

#include "interconnect/link_end.hpp"
#include "kernel/wait_list.hpp"

namespace cxloom {

/// A queue whose head waits for a port.
class Feeder : public Waiter {
 public:
  virtual ~Feeder() = default;
  virtual Message& head() = 0;
  /// The head is on the wire until `end`: take it out, free its buffer then, and ask for the next one.
  virtual void taken(Time end) = 0;
};

class QueuedLinkEnd final : public LinkEnd {
 public:
  struct Setup {
    LinkEndSetup link;
    std::optional<std::uint32_t> credits;  ///< a class; none: the receiver's buffers are unbounded
    Arbitration arbitration = Arbitration::kRoundRobin;
    Time credit_delay;  ///< from the receiver's end of the link to this one
  };

  QueuedLinkEnd(Kernel& kernel, const Setup& setup);
  ~QueuedLinkEnd() override;
  /// The end at the other side, whose credits this one returns.
  void set_opposite(QueuedLinkEnd& opposite);

  void send(Message& message, Time ready) override;
  bool queues() const override { return true; }
  /// Asks for the wire on behalf of a queue whose head is of the given class.
  void ask(Feeder& feeder, Channel channel);
  /// Starts the account of a message's wait for this port.
  void stamp(Message& message);

  void wake(std::uint8_t kind, std::uint64_t payload) override;
  void settle() override;
  void open_window(Time now) override;
  void close_window(Time now) override;
  Time credit_blocked() const override { return blocked_in_window_; }

 protected:
  void return_credit(const Message& message, Time at) override;

 private:
  class VirtualChannel;
  enum Wake : std::uint8_t { kReady, kWireFree, kCredit };

  VirtualChannel& channel(Channel which) {
    VirtualChannel* known = channels_[static_cast<std::size_t>(which)].get();
    return known ? *known : make_channel(which);
  }
  VirtualChannel& make_channel(Channel which);
  void credit_comes(Channel which, Time at);
  void watch_for_credit(VirtualChannel& starving, Channel which);
  void arrange();  // something may be able to go: at the end of this instant, or when the wire is free
  Feeder* pick();  // whose turn it is, taken out of its wait list; none if nobody can go
  void enqueue(Message& message);
  bool should_yield() const;  // on a wire that both directions share
  Time starved_clock(Time now);

  std::optional<std::uint32_t> credits_;
  Arbitration arbitration_;
  Time credit_delay_;
  QueuedLinkEnd* opposite_ = nullptr;
  std::array<std::unique_ptr<VirtualChannel>, kChannelCount> channels_;
  std::uint32_t can_go_ = 0;  // the classes that have both messages and credits, a bit each
  unsigned turn_ = 0;         // the class after the one served last
  bool settling_ = false;     // asked for the end of this instant
  bool wire_wake_pending_ = false;
  bool wants_wire_ = false;  // something could go but for the wire
  Time starved_when_opened_;
  Time blocked_in_window_;
};

}  // namespace cxloom
