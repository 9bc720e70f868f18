// Sends the messages of a link end in flits: all classes share them by the packing rules, and credits ride on
// them. docs/model/flit_link.md says what it models.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "interconnect/channel/virtual_channels.hpp"
#include "interconnect/flit/credits.hpp"
#include "interconnect/flit/outage.hpp"
#include "interconnect/flit/retries.hpp"
#include "interconnect/flit/sender.hpp"
#include "interconnect/wire/coming_messages.hpp"
#include "interconnect/wire/transmitter.hpp"
#include "interconnect/wire/turn_alarm.hpp"

namespace cxloom {

/// The setup of a link end of flits, whatever way they are sent.
struct FlitSetup {
  VirtualChannels::Setup channels;
  FlitSender::Setup sender;
  LinkErrorParams errors;
  OutageParams outage;
  std::optional<Time> degraded_at;
  Rate degraded_rate;
  std::uint64_t seed = 0;
  bool may_fail = false;  ///< by an event
};

class FlitTransmitter final : public Transmitter, public WireServer, public EventHandler {
 public:
  FlitTransmitter(LinkPath& path, const FlitSetup& setup);

  std::string name() const override { return path_.name(); }
  void send(Message& message, Time ready) override;
  Time line_time() const override { return sender_.line_time(); }
  VirtualChannels* channels() override { return &channels_; }
  const FlitMonitor* flits() const override { return &sender_.monitor(); }
  FlitRetries* retries() override { return &retries_; }
  void connect(CreditLine* far_credits, FlitRetries* far_retries) override;
  bool carries_credits() const override { return true; }
  void return_credit(Channel which, Time at) override;
  void expect_failures(const std::vector<Time>& at) override { outage_.expect_failures(at); }
  void interrupt() override;
  void close() override;
  void reopen() override;
  void catch_up(Time now) override;
  void open_window(Time now) override;
  void close_window(Time now) override;

  void arrange() override;
  bool turns_back() const override { return outage_.turns_back(kernel_.now()); }
  void wake(std::uint8_t kind, std::uint64_t payload) override;
  void settle() override;

 private:
  enum Wake : std::uint8_t { kTurn, kDown, kDegrade };

  /// When there may be something to do: the wire is free and up, or what waits is turned back, which takes no
  /// wire.
  Time may_act_at() const {
    return turns_back() ? Time{} : std::max(path_.wire().free_at(), outage_.up_at());
  }
  /// Wakes it by this time; never, if the link has failed.
  void wake_by(Time at) {
    if (at != Time::max()) alarm_.wake_by(at);
  }
  bool work_waits() const { return sender_.protocol_waits() || sender_.io_waits() || retries_.control_due(); }
  void admit_coming(Time now);
  void admit(Message& message, Time since, bool counted);
  void fill_stages(Time now);
  void fill_by_share(Time now);
  bool staged_enough() const;
  void stage(Feeder& feeder, Time now);
  void take_turn(Time now);
  void plan_next_turn();
  void wait_for_end_of_outage(Time now);
  void fail_requests(Time now);
  void fail_staged_requests(Time now);
  void fail(Message& message, Time now);
  void turn_back_staged(Time now);

  LinkPath& path_;
  Kernel& kernel_;
  TurnAlarm alarm_;
  FlitOutage outage_;
  Rate degraded_rate_;
  bool settling_ = false;  // asked for the end of this instant
  bool in_turn_ = false;   // choosing what goes next
  ComingMessages coming_;
  std::size_t counted_ = 0;  // the first coming messages: the monitor counts them as waiting
  FlitSender sender_;
  FlitRetries retries_;
  FlitCredits credits_;  // that this end gives back
  WireCost cost_;
  VirtualChannels channels_;
};

}  // namespace cxloom
