// One end of a link: it transmits in one direction, and returns credits for what comes in from the other end.
// It is composed of the path to the far end, and a transmitter that says who takes the wire when; without a
// transmitter messages leave in the order in which they come, and the far end never runs out of room.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/arena.hpp"
#include "base/units.hpp"
#include "component/port.hpp"
#include "interconnect/wire/link_path.hpp"
#include "interconnect/wire/transmitter.hpp"

namespace cxloom {

class CreditLine;
struct CutCredits;

class alignas(64) LinkEnd final : public Port {
 public:
  LinkEnd(Kernel& kernel, const LinkPath::Setup& setup);
  ~LinkEnd() override;
  /// To be called before it is connected: its messages are put on the wire by `transmitter`, which has been
  /// made for this path.
  void set_transmitter(InArena<Transmitter> transmitter);
  /// Ends that return credits to each other are connected, in both directions.
  void connect(LinkEnd& opposite);

  /// Without a transmitter the departure is known on arrival, so that a hop costs one event.
  [[gnu::hot]] void send(Message& message, Time ready) override {
    if (transmitter_) {
      transmitter_->send(message, ready);
    } else {
      path_.depart(message, ready);
    }
  }
  void share() override;

  LinkPath& path() { return path_; }
  /// None: departures are known on arrival.
  Transmitter* transmitter() { return transmitter_.get(); }
  PortQueues* queues() const override;
  VirtualChannels* channels() const { return transmitter_ ? transmitter_->channels() : nullptr; }

  std::string name() const { return path_.name(); }
  const Component& owner() const { return path_.owner(); }
  const Component& receiver() const { return path_.receiver(); }
  std::uint32_t load(Channel which) override;
  bool unlimited() const override { return path_.unlimited(); }
  const Rate& rate() const { return path_.rate(); }
  Time flight() const { return path_.flight(); }
  Time pipeline() const { return path_.pipeline(); }
  std::uint64_t message_bytes(std::uint64_t payload) const { return path_.message_bytes(payload); }
  /// The serialisation of a line of data on an idle wire.
  Time line_time() const;

  // For a link that may fail: its transmitter does the same.

  void expect_failures(const std::vector<Time>& at) { may_fail().expect_failures(at); }
  void interrupt() { may_fail().interrupt(); }
  void close() { may_fail().close(); }
  void reopen() { may_fail().reopen(); }

  /// Brings the monitors up to `now`, where turns are worked off later than they happen.
  void catch_up(Time now);
  void open_window(Time now);
  void close_window(Time now);
  /// What the flits carry; none on a wire without flits.
  const FlitMonitor* flits() const { return transmitter_ ? transmitter_->flits() : nullptr; }
  PortMemory memory() const override;
  WireMonitor& monitor() override { return path_.monitor(); }
  const WireMonitor& monitor() const { return path_.monitor(); }
  /// Turns of the wire that both directions share; null: it takes no time to turn.
  const WireMonitor* turns() const { return path_.turns(); }
  /// Time in the window in which messages of a class waited for credits; zero without credits.
  Time credit_blocked(Channel which) const;
  /// Time in which something waited for credits, summed over the classes.
  Time total_credit_blocked() const;

 private:
  std::uint32_t booked_load(Channel which);
  void return_credit(ClassVc vc, Time at) override;
  Transmitter& may_fail();

  bool carries_credits_ = false;       // the transmitter takes them there
  CreditLine* far_credits_ = nullptr;  // by virtual channel, of the other end, for what comes in here
  InArena<Transmitter> transmitter_;
  LinkPath path_;
  std::unique_ptr<CutCredits> cut_credits_;  // none: the far end is in the same part
  VirtualChannels* queues_ = nullptr;        // of messages that have the wire one after the other; else none
};

}  // namespace cxloom
