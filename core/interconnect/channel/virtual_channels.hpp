// Where messages wait for the wire of a link: a virtual channel or several for each message class, with
// credits for the receiver's buffers, and turns among the queues whose head wants the wire. Switches bring
// queues of their own; other components push into those of the channels.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/arena.hpp"
#include "base/prefetch.hpp"
#include "component/port.hpp"
#include "interconnect/arbitration/arbitration.hpp"
#include "interconnect/channel/send_queue.hpp"
#include "interconnect/wire/class_credits.hpp"
#include "interconnect/wire/credit_line.hpp"
#include "interconnect/wire/link_path.hpp"
#include "interconnect/wire/virtual_channel.hpp"
#include "kernel/windowed.hpp"
#include "protocol/class_vc.hpp"

namespace cxloom {

/// Puts on the wire what it picks from the channels.
class WireServer {
 public:
  /// Something may be able to go: sees to it that somebody's turn comes, at the end of this instant or later.
  virtual void arrange() = 0;
  /// Nobody's turn is coming, and the wire is free now. False: messages of this server never go past their
  /// queues.
  virtual bool idle() const { return false; }
  /// What waits is turned back, with credits or without.
  virtual bool turns_back() const { return false; }

 protected:
  ~WireServer() = default;
};

struct VirtualChannelsSetup {
  ClassCredits credits;
  Time credit_delay;                   ///< from the receiver's end of the link to this one
  unsigned per_class = 1;              ///< virtual channels of each class
  std::optional<FlitMode> flits = {};  ///< none: messages have the wire one after the other
};

class alignas(64) VirtualChannels final : public EventHandler, public PortQueues {
 public:
  using Setup = VirtualChannelsSetup;

  VirtualChannels(LinkPath& path, WireServer& server, const Setup& setup);

  std::string name() const override { return path_.name(); }
  /// Whose link end it is.
  const Component& sender() const { return path_.owner(); }

  /// The virtual channels of a port; null: it has no turns to give.
  static VirtualChannels* of(const Port& port) { return static_cast<VirtualChannels*>(port.queues()); }

  // For senders.

  /// Takes a message, ready now, that would find its queue and the wire idle, so that it need not be queued:
  /// it leaves at the end of this instant, unless another comes by then. False, and the message not taken,
  /// where somebody waits.
  bool bypass(Message& message, BypassSource& source);
  /// Starts the account of a message's wait for the wire. `counted`: it is among those that wait, as the
  /// monitor has it, already.
  void stamp(Message& message, bool counted = false);
  /// A message that is to leave by this port waits, though another blocks its way there.
  void count_waiting();
  /// Asks for the wire on behalf of a queue whose head is of the given virtual channel.
  void ask(Feeder& feeder, ClassVc vc);
  void ask(Feeder& feeder, Channel which) { ask(feeder, vc_of(which)); }
  /// Puts a message into its class's own queue, where it has been since `since`.
  void enqueue(Message& message, Time since, bool counted = false);

  /// To be called before the run, if the queues do not just take turns.
  void arbitrate_by(std::unique_ptr<Arbiter> arbiter) {
    arbiter_ = std::move(arbiter);
    may_bypass_ = arbiter_->memoryless();
  }
  /// What a message takes of the wire.
  WireCost cost() const;

  // For the server of the wire.

  /// The message that goes past the queues; null if there is none.
  Message* bypassing() { return bypassing_; }
  /// It has to queue after all.
  void end_bypass();
  /// It leaves now: uses a credit. Who handed it over must hear that it passed.
  BypassSource& pass(Time now);
  VirtualChannel& channel(ClassVc vc) { return first_[vc]; }
  VirtualChannel& channel(Channel which) { return first_[vc_of(which)]; }
  /// The virtual channels that have both messages and credits, a bit each.
  std::uint64_t can_go() const { return can_go_; }
  /// Whose turn it is, taken out of its wait list; none if nobody can go.
  Feeder* pick();
  /// The feeder whose turn it is within a virtual channel that can go.
  Feeder* pick_of(ClassVc vc);
  /// The arbiter chooses among queues of all classes, also where these share flits.
  bool shares_bytes() const { return arbiter_ && arbiter_->shares_bytes(); }
  /// Whose turn it is among virtual channels that can go, a bit each, by the arbiter.
  Feeder* pick_among(std::uint64_t vcs);
  void stamp(Message& message, Time since, bool counted);
  /// A message is to leave: uses a credit and charges the wait for it. Its tail has kept coming in.
  void use_credit(Message& message, Time now);
  /// Its head has left: whether the virtual channel can still go.
  void left(ClassVc vc);

  // A link that fails.

  /// What waits is charged for it up to now.
  void charge_waits();
  /// What waits is charged for a time in which the link was down, whatever else held it up.
  void charge_interruption();
  /// The link is closed: what waits leaves by other ports, if it can.
  void turn_back();
  bool closed() const { return closed_; }
  /// A message leaves its queue by another way: charged up to now, and counted no longer.
  void withdraw(Message& message);
  /// Takes a queue that has asked out of those that wait.
  void leave(Feeder& feeder, ClassVc vc);
  /// For a message that was sent here: its sender finds another way.
  void return_to_sender(Message& message) { path_.take_back(message); }

  // Asking memory for what will be touched, where its first line has been fetched.

  [[gnu::always_inline]] void fetch_channel(ClassVc vc) const { prefetch(first_ + vc); }
  /// A turn comes.
  [[gnu::always_inline]] void foresee_turn() const {
    if (has_turn()) fetch_channel(next_of_one());
  }
  /// It comes at the end of this instant: first the queue, then the message at its head.
  [[gnu::always_inline]] void foresee_queue() const {
    if (has_turn()) prefetch(whose_turn());
  }
  void foresee_head() const;

  // Credits.

  /// By virtual channel, through which the far end gives them back; null if no class is limited.
  CreditLine* credit_lines() { return credit_lines_.size() == 0 ? nullptr : credit_lines_.data(); }
  std::size_t credit_line_count() const { return credit_lines_.size(); }
  const Kernel& kernel() const { return kernel_; }
  /// Buffers of a class at the far end that are taken, as far as is known here, in all of its virtual
  /// channels; zero without a limit.
  std::uint32_t credits_in_use(Channel which) {
    return credit_lines_.size() == 0 ? 0 : count_credits_in_use(which);
  }
  /// A message goes nowhere after all: its credit is free again.
  void give_back(Channel which, Time now);
  /// A credit that was asked for has arrived: the kind of event is its virtual channel.
  void wake(std::uint8_t kind, std::uint64_t payload) override;

  // Measuring.

  void open_window(Time now);
  void close_window(Time now);
  /// Time in the window in which messages of a class waited for credits, summed over its virtual channels.
  Time credit_blocked(Channel which) const {
    return starved_.closed_window()[static_cast<std::size_t>(which)];
  }

 private:
  bool one_per_class() const { return vcs_ == kChannelCount; }
  /// What is foreseen: where classes have several virtual channels, too much would have to be looked at.
  bool has_turn() const { return !bypassing_ && can_go_ != 0 && one_per_class(); }
  const Waiter* whose_turn() const { return first_[next_of_one()].waits.first(); }
  /// The next in turn of those that can go, of which there are some.
  ClassVc next_of_one() const {
    const std::uint64_t rest = can_go_ >> turn_ << turn_;
    return static_cast<ClassVc>(std::countr_zero(rest != 0 ? rest : can_go_));
  }
  ClassVc next_of_several() const;
  void served(ClassVc vc) {
    const unsigned which = one_per_class() ? vc : static_cast<unsigned>(class_of(vc));
    turn_ = static_cast<ClassVc>(which + 1 == kChannelCount ? 0U : which + 1);
  }
  std::uint32_t count_credits_in_use(Channel which);
  Feeder* choose(std::uint64_t vcs);
  using ClassTimes = std::array<Time, kChannelCount>;
  ClassTimes starved_clocks(Time now);

  // One cache line: all of it that a message touches that finds nobody before it.
  LinkPath& path_;
  Kernel& kernel_;
  WireServer& server_;
  std::uint64_t can_go_ = 0;
  ClassVc turn_ = 0;  // the class after the one served last
  ClassVc vcs_;
  bool closed_ = false;              // the link has failed, and messages are to leave by others
  bool may_bypass_ = true;           // the arbiter need not see a message that is alone
  std::uint32_t asking_ = 0;         // queues that wait, where there is an arbiter
  VirtualChannel* first_ = nullptr;  // of `channels_`
  Message* bypassing_ = nullptr;     // taken at this instant; nothing else can go
  BypassSource* bypass_source_ = nullptr;
  std::unique_ptr<Arbiter> arbiter_;       // none: the queues take turns
  bool after_idle_ = false;                // the first of those that ask found nothing on the wire
  CreditUser credit_user_;                 // of the far end's credits, each virtual channel a kind of event
  ArrayInArena<CreditLine> credit_lines_;  // by virtual channel, if any is limited
  std::optional<FlitMode> flits_;
  ArrayInArena<VirtualChannel> channels_;
  std::array<std::unique_ptr<SendQueue>, kChannelCount>
      send_queues_;  // of first virtual channels; null: not in use
  CountsInWindow<ClassTimes> starved_;
};

}  // namespace cxloom
