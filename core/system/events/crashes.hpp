// Hosts and accelerators that crash, and boot again: docs/model/failures.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/units.hpp"
#include "kernel/event_handler.hpp"
#include "system/spec/event_params.hpp"

namespace cxloom {

class EventSource;
class Kernel;
class Requester;
class System;
struct FailingPart;

class Crashes final : public EventHandler {
 public:
  struct Crash {
    std::size_t event = 0;  ///< its number
    NodeId node;
    std::optional<Time> restarts;  ///< its work goes on then; none: it is over
    /// Requests that its work had still to make, and never makes; none: nobody knows how many.
    std::optional<std::uint64_t> never_made = 0;
  };

  Crashes(Kernel& kernel, EventSource& source, System& system)
      : kernel_(kernel), source_(source), system_(system) {}

  /// Null: it is a link, a switch or a memory.
  Requester* requester_of(const FailingPart& part) const;
  /// The requester crashes by the event of that number.
  void expect(std::size_t event, const FailingPart& part);
  /// It is repaired by an event after that. Throws InputError.
  void expect_boot(std::size_t number, const EventParams& event, const FailingPart& part);
  /// Throws InputError for work that is to go on and is not there.
  void expect_work(const EventParams& event) const;

  /// It makes no more requests, and all that is in its cache is gone. Those under way end with its links.
  void crash(std::size_t event);
  /// It is there again, with nothing in its cache.
  void boot(const FailingPart& part) const;
  /// By the event of a repair, that of the crash before it.
  const std::map<std::size_t, std::size_t>& boots() const { return boots_; }
  /// By that event; null: nothing crashes by it.
  const Crash* find(std::size_t event) const;
  /// The modified lines of the cache at that node are gone. Of those that nobody keeps coherent nobody else
  /// knows.
  void lost(const std::vector<LineAddress>& lines, NodeId node) const;

  std::string name() const override { return "events"; }
  /// What comes to the time at which work goes on is no end of the run.
  void wake(std::uint8_t /*kind*/, std::uint64_t /*payload*/) override {}

 private:
  Requester& requester_at(NodeId node) const;

  Kernel& kernel_;
  EventSource& source_;
  System& system_;
  std::vector<Crash> crashes_;  // in the order of their events
  std::map<std::size_t, std::size_t> boots_;
};

}  // namespace cxloom
