// A link end whose wire takes flits: messages of all classes share them by the packing rules, credits ride on them, and
// a corrupted one is sent again. docs/model/flit_link.md says what is modelled.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/ring.hpp"
#include "interconnect/credit_returns.hpp"
#include "interconnect/flit_errors.hpp"
#include "interconnect/flit_monitor.hpp"
#include "interconnect/flit_params.hpp"
#include "interconnect/queued_link_end.hpp"
#include "protocol/flit_packer.hpp"
#include "protocol/io_packer.hpp"

namespace cxloom {

class FlitLinkEnd final : public QueuedLinkEnd {
 public:
  struct Setup {
    QueuedLinkEnd::Setup queued;
    FlitPacking packing;
    bool containment = false;  ///< messages wait for the MAC of their flits
    LinkErrorParams errors;
    OutageParams outage;
    std::optional<Time> degraded_at;
    Rate degraded_rate;
    std::uint64_t seed = 0;
  };

  FlitLinkEnd(Kernel& kernel, const Setup& setup);
  void set_opposite(QueuedLinkEnd& opposite) override;

  void send(Message& message, Time ready) override;
  /// Messages wait until they are ready, in the order in which they are.
  bool queues() const override { return false; }
  void wake(std::uint8_t kind, std::uint64_t payload) override;
  void settle() override;
  void catch_up(Time now) override;
  void open_window(Time now) override;
  void close_window(Time now) override;
  const FlitMonitor* flits() const override { return &flits_; }

 protected:
  void arrange() override;
  bool turns_back() const override { return outage_.fail && up_at_ > kernel().now(); }
  void return_credit(const Message& message, Time at) override;

 private:
  enum Wake : std::uint8_t { kTurn = QueuedLinkEnd::kOwnWakes, kDown, kDegrade };

  /// A message that is not ready yet.
  struct Coming {
    Message* message;
    Time ready;
  };
  /// A line of a message whose data are under way; the message is complete with its last one.
  struct Line {
    Message* message;
    bool last;
  };
  /// A flit's use of the wire: when it first started, when it started for the last time, and its end.
  struct Passed {
    Time first_start;
    Time start;
    Time end;
    std::uint32_t bytes;  ///< on the wire in all
  };
  /// Messages that are complete with a flit.
  struct Done {
    std::uint16_t messages = 0;
    std::uint16_t payload = 0;
  };
  /// What may go into the next flits, credits in hand: lines of 64 B, of which a message has one or more.
  struct Stage {
    MessageQueue messages;
    std::uint32_t lines = 0;
    std::uint32_t lines_of_head = 0;  ///< not placed yet
    bool has_partial = false;         ///< some line has byte enables
  };

  Stage& stage_of(Channel channel) { return stages_[static_cast<std::size_t>(channel)]; }
  void admit_coming(Time now);
  void admit(Message& message, Time since);
  void stage(Message& message);
  void fill_stages(Time now);
  void describe_data(Channel channel);
  void fail_requests(Time now);
  void fail_staged_requests(Time now);
  void fail(Message& message, Time now);
  bool protocol_waits() const;
  bool io_waits() const;
  bool work_waits() const;
  void wake_by(Time at);
  Time first_turn() const;
  void work_off(Time now);
  void take_turn(Time now);
  Passed pass_wire(Time now);
  void send_flit(Time now);
  void send_io_flit(Time now);
  void send_control(Time now);
  void place(Channel which, const Passed& passed, Time sent, Done& done);
  void start(Message& message, const Passed& passed);
  void complete(Message& message, Time sent, Done& done);
  Time flit_time() const;
  void give_credits(Time end);
  void give_all_credits(Time from);
  void expect_control(unsigned flits, Time at);

  FlitPacker packer_;
  IoPacker io_;
  const FlitGeometry& geometry_;
  bool containment_;
  bool macs_;
  FlitErrors errors_;
  OutageParams outage_;
  Rate degraded_rate_;
  FlitMonitor flits_;
  FlitLinkEnd* far_ = nullptr;
  // Where nothing but the arrival of messages depends on a turn (no credits, no queues of a switch, no errors), turns are
  // worked off in batches, so much later than they happen as leaves the first arrival in time: few of them need an event.
  bool defers_ = false;
  Time slack_;
  Time data_slack_;  // a line and its header do not fit one flit of 68 B

  Ring<Coming> coming_;  // soonest first
  std::array<Stage, kChannelCount> stages_{};
  std::uint32_t staged_lines_ = 0;  // of all classes but CXL.io
  Offer offer_;
  Flit flit_;
  Ring<Line> lines_;        // data under way, in the order of their headers
  MessageQueue unchecked_;  // complete, waiting for their MAC
  std::vector<std::uint32_t> io_bytes_;
  MessageQueue io_under_way_;
  bool io_went_last_ = false;

  CreditReturns returns_;     // for which a flit is awaited
  unsigned control_due_ = 0;  // flits of link control to send, not before `control_from_`
  Time control_from_;

  Time up_at_;  // the link is down until then
  std::optional<Time> wake_at_;
  bool settling_ = false;  // asked for the end of this instant
  bool in_turn_ = false;   // choosing what goes next
  std::array<std::uint32_t, kChannelCount>
      not_from_far_{};  // answers of this end's own, which took no buffer
};

}  // namespace cxloom
