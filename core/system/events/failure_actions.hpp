// Links and devices fail, and work again: events `fail` and `repair`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/units.hpp"
#include "kernel/event_handler.hpp"
#include "system/events/actions.hpp"
#include "system/events/crashes.hpp"
#include "system/routes/link_failures.hpp"

namespace cxloom {

class EventSource;
class Kernel;
class LinkEnd;
class MemoryOwner;
class System;

/// Where nothing fails, nothing is lost: throws InputError for a requester with a timeout.
void check_no_timeouts(const System& system);
/// Throws InputError for an answer_timeout of a home that keeps nothing coherent.
void check_answer_timeouts(const System& system);
/// Throws InputError, at the event, if a requester crashes by one: that of this name, or any if it is empty.
void refuse_crashes(const std::vector<EventParams>& events, const System& system, const std::string& device,
                    const std::string& beside);

class FailureActions final : public EventActions, public EventHandler {
 public:
  /// Sends its events from `source`. The system is built, so that its
  /// links are known. `rerouted` is called when there are other routes.
  FailureActions(Kernel& kernel, EventSource& source, System& system, std::size_t events,
                 std::function<void()> rerouted);

  bool has(const EventParams& event) const override { return event.fail || event.repair; }
  void expect(std::size_t number, const EventParams& event) override;
  /// All events were expected: the system hears what will fail, and which routes there will be.
  void foretell(const std::vector<EventParams>& events);
  void expect_work(const EventParams& event) override;
  void act(std::size_t number, const EventParams& event) override;
  bool unsettled() const override;
  const Crashes& crashes() const { return crashes_; }

  std::string name() const override { return "events"; }
  /// The event of this number becomes known.
  void wake(std::uint8_t kind, std::uint64_t number) override;

 private:
  FailingPart find_part(const FailedPart& part) const;
  void check_links(const FailingPart& part) const;
  void fail(std::size_t number, Time reroute_time);
  void become_known(std::size_t number);
  void repair(std::size_t number, bool cleared);
  MemoryOwner* failing_memory(const FailingPart& part) const;
  void check_cleared(const FailingPart& part) const;
  void forget_lines_of(NodeId home) const;
  void each_end_at(const FailingPart& part, const std::function<void(LinkEnd&)>& action) const;
  void wait_for_discovery(const FailingPart& repaired);
  void compute_routes();
  void cut_caches_off() const;
  bool cuts_off() const;
  Time last_arrival(const FailingPart& part) const;

  Kernel& kernel_;
  EventSource& source_;
  System& system_;
  LinkFailures failures_;
  Crashes crashes_;
  std::vector<FailingPart> parts_;   // by the number of the event; of others nothing
  std::vector<FailingPart> failed_;  // behind what was expected so far
  std::function<void()> rerouted_;
  bool anything_failed_ = false;
  Time quiet_at_;                        // nothing is in devices that have failed
  bool memory_failed_ = false;           // what was in its media then is lost later
  mutable std::optional<bool> cut_off_;  // no way leads from some device to some other; none: not looked at
};

}  // namespace cxloom
