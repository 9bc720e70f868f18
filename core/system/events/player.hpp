// Makes the events of a spec happen during a run: docs/model/failures.md.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernel/event_handler.hpp"
#include "kernel/event_source.hpp"
#include "system/events/actions.hpp"
#include "system/events/answered.hpp"
#include "system/events/crashes.hpp"
#include "system/events/lost_messages.hpp"
#include "system/spec/event_params.hpp"

namespace cxloom {

class FailureActions;
class Kernel;
class OfflineActions;
class Removal;
class System;

class EventPlayer final : public EventHandler {
 public:
  struct PlannedEvent {
    const EventParams* params;
    std::string
        name;  ///< "10us fail link sw0-mem1", then "10us fail link sw0-mem1 (2)": no two have the same
    bool happened = false;
    bool counted = false;  ///< what it did, and to whom
    EventCost cost;
    EventActions* actions = nullptr;           ///< of events like this one
    std::vector<AnsweredSoFar> answered = {};  ///< as it happens, if it is counted
  };

  /// To be made before everything else that sends events: its own come first at their instants.
  EventPlayer(Kernel& kernel, const std::vector<EventParams>& events);
  /// The system is built: checks the events against it, and waits for their times. Throws InputError.
  void attach(System& system);
  /// The requesters have their work: checks the events that are about it. Throws InputError.
  void expect_work();

  /// Is called when what memory devices have a way to, or extents of, has changed.
  void on_memory_change(std::function<void()> changed) { changed_ = std::move(changed); }

  std::string name() const override { return "events"; }
  /// The event of this number happens.
  void wake(std::uint8_t kind, std::uint64_t number) override;

  /// The host or accelerator that crashes by the event of this number; null: none does.
  const Crashes::Crash* crash(std::size_t number) const;
  /// What has become of a memory that the event of this number takes out of use; null: it takes none, or has
  /// not happened.
  const Removal* removal(std::size_t number) const;

  /// EventActions::unsettled of what has happened so far.
  bool unsettled() const;
  /// LostMessages::go_side_by_side.
  void go_side_by_side(bool side_by_side) {
    if (lost_) lost_->go_side_by_side(side_by_side);
  }

  /// In the order of the spec.
  const std::vector<PlannedEvent>& entries() const { return entries_; }

 private:
  void check_order() const;
  void memory_changed() const {
    if (changed_) changed_();
  }
  EventActions& actions_of(const EventParams& event) const;

  struct Source {
    explicit Source(Kernel& kernel);
    EventSource events;
  };

  Kernel& kernel_;
  const System* system_ = nullptr;  // null: there are no events, or they are not attached
  std::unique_ptr<Source> source_;  // none: there are no events
  std::vector<PlannedEvent> entries_;
  std::vector<std::unique_ptr<EventActions>> actions_;
  OfflineActions* offlines_ = nullptr;  // one of them
  FailureActions* failures_ = nullptr;  // another
  std::unique_ptr<LostMessages> lost_;
  std::function<void()> changed_;
};

}  // namespace cxloom
