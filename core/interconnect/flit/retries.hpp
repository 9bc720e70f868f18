// Flits that arrive corrupted are requested and sent again.
#pragma once

#include <cstdint>

#include "interconnect/flit/monitor.hpp"
#include "interconnect/flit/outage.hpp"
#include "interconnect/wire/flit_errors.hpp"
#include "interconnect/wire/link_path.hpp"
#include "interconnect/wire/turn_alarm.hpp"
#include "protocol/flit/format.hpp"

namespace cxloom {

/// A flit's use of the wire: when it first started, when it started for the last time, and its end.
struct FlitPassage {
  Time first_start;
  Time start;
  Time end;
  std::uint32_t bytes;  ///< on the wire in all
  bool arrives = true;  ///< whole, at last: not if the link fails before it starts for the last time
};

class FlitRetries final : public EventHandler {
 public:
  FlitRetries(LinkPath& path, const FlitOutage& outage, FlitMonitor& flits, TurnAlarm& alarm,
              const LinkErrorParams& errors, std::uint64_t seed);
  /// The retries of the other end, which asks for flits that arrive there corrupted, on such a wire.
  void connect(FlitRetries& far);
  /// From now on flits come back at another rate.
  void change_far_rate(Rate rate) { far_rate_ = rate; }

  /// Whether the next new flit is corrupted.
  bool corrupts() { return errors_.possible() && errors_.corrupts(); }
  /// Sends a corrupted flit until it arrives whole. What would start during an outage starts when that is
  /// over; what would when the link has failed never does, and until then nothing else has the wire.
  void send_again(FlitPassage& passed);
  /// The link has failed: nobody asks for anything any more.
  void forget() { control_due_ = 0; }

  // Flits of link control that this end is to send: it asks for what has arrived here corrupted.

  bool control_due() const { return control_due_ > 0; }
  void send_control(Time now);
  /// A corrupted flit has arrived from the other end: so many flits ask for it.
  void wake(std::uint8_t kind, std::uint64_t flits) override;

 private:
  void give_up(FlitPassage& passed);

  LinkPath& path_;
  const FlitOutage& outage_;
  FlitMonitor& flits_;
  TurnAlarm& alarm_;
  const FlitGeometry& geometry_;
  FlitErrors errors_;
  FlitRetries* far_ = nullptr;  // for events alone
  Rate far_rate_;
  Time far_flight_;
  std::uint32_t control_due_ = 0;
};

}  // namespace cxloom
