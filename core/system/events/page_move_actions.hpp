// Pages of a program go to another memory: events `move_pages`.
#pragma once

#include "device/requester/page_mover.hpp"
#include "device/requester/requester.hpp"
#include "system/events/actions.hpp"

namespace cxloom {

class Requester;
class System;

class PageMoveActions final : public EventActions {
 public:
  explicit PageMoveActions(System& system) : system_(system) {}

  bool has(const EventParams& event) const override { return event.move_pages.has_value(); }
  /// Whose pages they are is known with the work alone.
  void expect(std::size_t /*number*/, const EventParams& /*event*/) override {}
  void expect_work(const EventParams& event) override;
  void act(std::size_t number, const EventParams& event) override;

 private:
  Requester& mover_of(const MovePagesParams& move) const;
  PageMover::Order order_of(const MovePagesParams& move, MovablePages& pages) const;

  System& system_;
};

}  // namespace cxloom
