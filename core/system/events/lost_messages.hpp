// What becomes of messages that find no way, or were in something that failed: docs/model/failures.md.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "base/units.hpp"
#include "component/failures.hpp"
#include "kernel/event_handler.hpp"

namespace cxloom {

class CoherenceHome;
class EventSource;
class IoLosses;
class Kernel;
class System;

/// What a failure or a repair did, up to the one after it.
struct EventCost {
  std::uint64_t rerouted = 0;  ///< messages that waited for what failed, and left by another way
  std::uint64_t failed = 0;    ///< requests answered with an error, because no way led on
  std::uint64_t lost = 0;      ///< messages that are gone; their requests end with their timeouts
  Time felt_until;             ///< the last of these, timeouts included; zero: there was none
};

class LostMessages final : public EventHandler, public Failures {
 public:
  /// Sends its events from `source`, and counts in `cost`.
  LostMessages(Kernel& kernel, EventSource& source, System& system, EventCost& cost)
      : kernel_(kernel), source_(source), system_(system), cost_(&cost) {}

  /// What happens from now on is counted there.
  void count_in(EventCost& cost) { cost_ = &cost; }

  std::string name() const override { return "events"; }
  void wake(std::uint8_t kind, std::uint64_t payload) override;

  bool answers(Message& message, NodeId node, Time now) override;
  void lose(Message& message, Time now) override;
  void lose_inside(Message& message, Time now) override;
  void rerouted() override;

 private:
  enum Wake : std::uint8_t { kTimeout, kTakeKept };

  CoherenceHome* waiting_home(const Message& message) const;
  Time end_of_wait(const Message& message, Time now) const;
  bool is_of_cache(const Message& message) const;
  void note_lost_data(const Message& message) const;
  void end_snoop(Message& message, CoherenceHome& home);
  void time_out(Message& message);
  IoLosses& sender_of(const Message& packet) const;
  void lose_packet(Message& message, Time now);
  void forget(const Message& message);
  EventCost& cost(Time until);

  Kernel& kernel_;
  EventSource& source_;
  System& system_;
  EventCost* cost_;  // of the last failure or repair that happened
};

}  // namespace cxloom
