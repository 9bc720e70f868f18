// Flits that arrive corrupted are asked for and sent again.
#pragma once

#include <cstdint>

#include "interconnect/flit_errors.hpp"
#include "interconnect/flit_monitor.hpp"
#include "interconnect/flit_outage.hpp"
#include "interconnect/link_path.hpp"
#include "interconnect/turn_alarm.hpp"
#include "protocol/flit_format.hpp"

namespace cxloom {

/// A flit's use of the wire: when it first started, when it started for the last time, and its end.
struct FlitPassage {
  Time first_start;
  Time start;
  Time end;
  std::uint32_t bytes;  ///< on the wire in all
};

class FlitRetries {
 public:
  FlitRetries(LinkPath& path, const FlitOutage& outage, FlitMonitor& flits, TurnAlarm& alarm,
              const LinkErrorParams& errors, std::uint64_t seed);
  /// The retries of the other end, which asks for what arrives there corrupted.
  void connect(FlitRetries* far) { far_ = far; }

  /// Whether the next new flit is corrupted.
  bool corrupts() { return errors_.possible() && errors_.corrupts(); }
  /// Sends a corrupted flit until it arrives whole. What would start while the link is down starts when it is up again.
  void send_again(FlitPassage& passed);

  // Flits of link control that this end is to send: it asks for what arrived here corrupted.

  bool control_due() const { return control_due_ > 0; }
  /// Not before then.
  Time control_from() const { return control_from_; }
  void send_control(Time now);

 private:
  Time flit_time() const { return RateMeter(path_.rate()).advance(geometry_.bytes); }
  void expect_control(unsigned flits, Time at);

  LinkPath& path_;
  const FlitOutage& outage_;
  FlitMonitor& flits_;
  TurnAlarm& alarm_;
  const FlitGeometry& geometry_;
  FlitErrors errors_;
  FlitRetries* far_ = nullptr;
  unsigned control_due_ = 0;  // not before `control_from_`
  Time control_from_;
};

}  // namespace cxloom
