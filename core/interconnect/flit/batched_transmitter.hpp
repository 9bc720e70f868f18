// Sends flits where nothing but the arrival of messages depends on when a turn on the wire is taken: no
// credits, no errors, no checks, no queues of a switch. Turns are worked off in batches, as late as the first
// arrival allows: when the next turn is taken, it is known whether anything joins the flit, and a message
// that goes alone is never packed.
#pragma once

#include <array>

#include "interconnect/flit/sender.hpp"
#include "interconnect/flit/transmitter.hpp"
#include "interconnect/wire/coming_messages.hpp"
#include "interconnect/wire/transmitter.hpp"
#include "interconnect/wire/turn_alarm.hpp"

namespace cxloom {

class BatchedFlitTransmitter final : public Transmitter, public EventHandler {
 public:
  BatchedFlitTransmitter(LinkPath& path, const FlitSender::Setup& setup);
  /// Whether turns may be taken in batches, with a far end that is set up alike.
  static bool possible(const LinkPath& path, const FlitSetup& setup);

  std::string name() const override { return path_.name(); }
  void send(Message& message, Time ready) override;
  Time line_time() const override { return sender_.line_time(); }
  const FlitMonitor* flits() const override { return &sender_.monitor(); }
  void connect(CreditLine* far_credits, FlitRetries* far_retries) override;
  void catch_up(Time now) override;
  void open_window(Time now) override { sender_.monitor().open(now); }
  void close_window(Time now) override { sender_.monitor().close(now); }
  void wake(std::uint8_t kind, std::uint64_t payload) override;

 private:
  using Coming = ComingMessages::Coming;
  /// The flits of a message of a class that goes alone, one behind the other.
  struct Isolated {
    Time reach;  ///< so long at least after the start of the first one it must be handed over, alone or not
    Time last_starts;  ///< so long at most after the first one: messages ready by then may join
    Time time;         ///< of all, to the picosecond below
    std::uint16_t bytes = 0;
    std::uint8_t flits = 0;  ///< none: the class never goes alone
    std::uint8_t slots = 0;
    std::uint8_t first_data = 0;  ///< bytes of data in the first one
    bool first_half = false;      ///< the message ends in the first half of its only flit

    /// Whether they are this message's too.
    bool takes(const Message& message) const {
      return flits > 0 && message.size <= kLineBytes && !has_byte_enables(message);
    }
  };
  /// The turns to be taken: all, or those without which a message would arrive too late.
  enum class Upto : std::uint8_t { kNow, kArrivals };

  const Isolated& isolated_of(const Message& message) const {
    return isolated_[static_cast<std::size_t>(message.channel)];
  }
  Time pass_alone(const Coming& coming, const Isolated& isolated, Time turn, Time now);
  Message* work_off(Time now, Upto upto);
  Time first_arrival(Time turn) const;
  void admit_until(Time until);

  LinkPath& path_;
  Kernel& kernel_;
  TurnAlarm alarm_;
  ComingMessages coming_;
  bool packing_ = false;  // something is staged, or under way in the packer
  bool fresh_ = true;     // the packer is as if nothing had ever gone
  Time reach_;            // of any message
  std::array<Isolated, kChannelCount> isolated_{};
  FlitSender sender_;
};

}  // namespace cxloom
