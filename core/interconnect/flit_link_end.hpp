// A link end whose wire takes flits: messages of all classes share them by the packing rules, credits ride on them, and
// a corrupted one is sent again (flit_link_faults.cpp). docs/model/flit_link.md says what is modelled.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/ring.hpp"
#include "interconnect/credit_returns.hpp"
#include "interconnect/flit_errors.hpp"
#include "interconnect/flit_monitor.hpp"
#include "interconnect/flit_params.hpp"
#include "interconnect/flit_staging.hpp"
#include "interconnect/queued_link_end.hpp"
#include "protocol/flit_packer.hpp"
#include "protocol/io_packer.hpp"

namespace cxloom {

class FlitLinkEnd : public QueuedLinkEnd {
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
  Time line_time() const override;

 protected:
  enum Wake : std::uint8_t { kTurn = QueuedLinkEnd::kOwnWakes, kDown, kDegrade };

  /// A message that is not ready yet.
  struct Coming {
    Message* message;
    Time ready;
  };

  void arrange() override;
  bool turns_back() const override { return outage_.fail && up_at_ > kernel().now(); }
  void return_credit(const Message& message, Time at) override;

  /// Data are packed into flits once they are here: the tail that is still to come delays the message.
  static Time with_tail(Message& message, Time ready) {
    if (message.tail == Time{}) return ready;
    ready += message.tail;
    message.tail = Time{};
    message.charge(Segment::kSerialization, ready);
    return ready;
  }
  void expect(Message& message, Time ready) {
    coming_.insert({&message, ready}, [](const Coming& a, const Coming& b) { return a.ready < b.ready; });
  }
  void stage(Message& message);
  bool work_waits() const { return protocol_waits() || io_waits() || control_due_ > 0; }
  /// Nothing waits, and no flit before the next one matters to it.
  bool starts_afresh() const { return packer_.fresh() && !io_went_last_ && !work_waits(); }
  /// Asks for an event of kind kTurn by `at`.
  void wake_by(Time at);
  /// That event has come.
  void woken(Time now) {
    if (wake_at_ && *wake_at_ <= now) wake_at_.reset();
  }
  /// Sends a flit with what is staged.
  void take_turn(Time now);
  std::array<Time, 2> halves_of(Time start, Time end) const;
  const FlitGeometry& flit() const { return geometry_; }
  FlitMonitor& flit_monitor() { return flits_; }

  Ring<Coming> coming_;  // soonest first

 private:
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

  /// When there may be something to do: the wire is free and up, or what waits is turned back, which takes no wire.
  Time may_act_at() const { return FlitLinkEnd::turns_back() ? Time{} : std::max(wire().free_at(), up_at_); }
  void admit_coming(Time now);
  void admit(Message& message, Time since, bool counted);
  void fill_stages(Time now);
  void fail_requests(Time now);
  void fail_staged_requests(Time now);
  void fail(Message& message, Time now);
  bool protocol_waits() const;
  bool io_waits() const;
  Passed pass_wire(Time now);
  void retry(Passed& passed);
  Time when_up(Time at) const;
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

  std::optional<Time> wake_at_;
  FlitMonitor flits_;
  FlitStaging staging_;
  Ring<Line> lines_;  // data under way, in the order of their headers
  FlitPacker packer_;
  IoPacker io_;
  const FlitGeometry& geometry_;
  Flit flit_;
  bool zero_extended_;
  bool containment_;
  FlitErrors errors_;
  OutageParams outage_;
  Rate degraded_rate_;
  FlitLinkEnd* far_ = nullptr;

  MessageQueue unchecked_;  // complete, waiting for their MAC
  std::vector<std::uint32_t> io_bytes_;
  MessageQueue io_under_way_;
  bool io_went_last_ = false;

  CreditReturns returns_;     // for which a flit is awaited
  unsigned control_due_ = 0;  // flits of link control to send, not before `control_from_`
  Time control_from_;

  std::size_t counted_ = 0;  // of those that come, the first so many wait already, as the monitor has it
  Time up_at_;               // the link is down until then
  bool settling_ = false;    // asked for the end of this instant
  bool in_turn_ = false;     // choosing what goes next
  std::array<std::uint32_t, kChannelCount>
      not_from_far_{};  // answers of this end's own, which took no buffer
};

}  // namespace cxloom
