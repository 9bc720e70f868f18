// What becomes of messages that find no way, or were in something that failed: docs/model/failures.md.
#pragma once

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <string>

#include "base/units.hpp"
#include "component/failures.hpp"
#include "kernel/event_handler.hpp"
#include "system/events/lost_transactions.hpp"

namespace cxloom {

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

class LostMessages final : public EventHandler, public Failures, private LostTransactions::Requesters {
 public:
  /// Sends its events from `source`, and counts in `cost`.
  LostMessages(Kernel& kernel, EventSource& source, System& system, EventCost& cost);

  /// What happens from now on is counted there.
  void count_in(EventCost& cost) { cost_ = &cost; }
  /// Parts of the system run side by side from now on, or do not. While they do nothing is lost: all of the
  /// system hears of that at once.
  void go_side_by_side(bool side_by_side) { side_by_side_ = side_by_side; }

  std::string name() const override { return "events"; }
  void wake(std::uint8_t kind, std::uint64_t payload) override;

  bool answers(Message& message, NodeId node, Time now) override;
  bool refuses(Message& message, Time now) override;
  void lose(Message& message, Time now) override;
  void lose_inside(Message& message, Time now) override;
  void ends_later(Message& message, Time now) override;
  void gives_up(LineAddress line, NodeId node) override;
  void rerouted(Time now) override;

 private:
  enum Wake : std::uint8_t { kTimeout, kTakeKept };

  CacheAgent* cache_of(NodeId node) override;
  bool is_requester(NodeId node) const override;
  Time completion_timeout_of(NodeId node) const override;

  void time_out(Message& message);
  IoLosses& sender_of(const Message& packet) const;
  void lose_packet(Message& message, Time now);
  void forget(const Message& message);
  EventCost& cost(Time until);
  void expect_one_thread() const;

  Kernel& kernel_;
  EventSource& source_;
  System& system_;
  LostTransactions transactions_;
  EventCost* cost_;  // of the last failure or repair that happened
  std::mutex counting_;
  bool side_by_side_ = false;
};

}  // namespace cxloom
