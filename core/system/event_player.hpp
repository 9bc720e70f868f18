// Makes the events of a spec happen during a run, and accounts for what they cost: docs/model/failures.md.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "component/failures.hpp"
#include "device/page_mover.hpp"
#include "device/virtual_switches.hpp"
#include "kernel/event_handler.hpp"
#include "kernel/event_source.hpp"
#include "system/event_params.hpp"
#include "system/link_failures.hpp"

namespace cxloom {

class IoLosses;
class Kernel;
class LinkEnd;
class Sequencer;
class System;

/// What an event did, up to the one after it.
struct EventCost {
  std::uint64_t rerouted = 0;  ///< messages that waited for what failed, and left by another way
  std::uint64_t failed = 0;    ///< requests answered with an error, because no way led on
  std::uint64_t lost = 0;      ///< messages that are gone; their requests end with their timeouts
  Time felt_until;             ///< the last of these, timeouts included; zero: there was none
};

class EventPlayer final : public EventHandler, private Failures {
 public:
  struct Entry {
    const EventParams* params;
    std::string
        name;  ///< "10us fail link sw0-mem1", then "10us fail link sw0-mem1 (2)": no two have the same
    bool happened = false;
    EventCost cost;
  };

  /// To be made before everything else that sends events: its own come first at their instants.
  EventPlayer(Kernel& kernel, const std::vector<EventParams>& events);
  /// The system is built: checks the events against it, and waits for their times. Throws InputError.
  void attach(System& system);

  /// The requesters have their work: checks the events that move pages of it. Throws InputError.
  void expect_moves();

  std::string name() const override { return "events"; }
  void wake(std::uint8_t kind, std::uint64_t payload) override;

  /// In the order of the spec.
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  enum Wake : std::uint8_t { kAct, kReroute, kTimeout, kTakeKept };
  /// By the name of the switch.
  using VirtualTrials = std::map<std::string, VirtualSwitches>;

  using ExtentTrials = std::map<std::string, DynamicCapacity>;

  DynamicCapacity& capacity_of(const std::string& name) const;
  void try_extent(const EventParams& event, ExtentTrials& trials) const;
  PageMover::Order order_of(const MovePagesParams& move, MovablePages& pages) const;
  Sequencer& mover_of(const MovePagesParams& move) const;
  VirtualSwitches& virtual_switches_at(const std::string& name) const;
  void try_binding(const EventParams& event, VirtualTrials& trials) const;
  FailingPart find_part(const FailedPart& part) const;
  void check_links(const FailingPart& part) const;
  void check_order() const;
  void check_no_timeouts() const;
  void act(std::size_t event);
  void fail(std::size_t event);
  void repair(std::size_t event);
  void reroute(std::size_t event);
  void each_end_at(const FailingPart& part, const std::function<void(LinkEnd&)>& action) const;
  void wait_for_discovery(const FailingPart& repaired);
  void compute_routes();
  void time_out(Message& message);
  IoLosses& sender_of(const Message& packet) const;
  void lose_packet(Message& message, Time now);
  void forget(const Message& message);
  /// Of something that lasts until then.
  EventCost& cost(Time until) {
    EventCost& of = entries_[current_].cost;
    of.felt_until = std::max(of.felt_until, until);
    return of;
  }

  bool answers(Message& message, NodeId node, Time now) override;
  void lose(Message& message, Time now) override;
  void rerouted() override;

  struct Source {
    explicit Source(Kernel& kernel);
    EventSource events;
  };

  Kernel& kernel_;
  System* system_ = nullptr;
  std::unique_ptr<Source> source_;  // none: there are no events
  std::vector<Entry> entries_;
  std::vector<FailingPart> parts_;        // of the events
  std::optional<LinkFailures> failures_;  // none: there are no events
  std::size_t current_ = 0;               // the last failure or repair that happened
};

}  // namespace cxloom
