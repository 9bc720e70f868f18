// What the requesters of a part of a divided system tell.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "kernel/kernel.hpp"
#include "kernel/measured_window.hpp"
#include "protocol/request_observer.hpp"
#include "system/run/livelock_watch.hpp"

namespace cxloom {

/// While parts run side by side it counts what is of its part alone, and notes the order of the rest. In a
/// merged window what concerns the whole run goes on to `run` at once.
class alignas(128) PartObserver final : public RequestObserver {
 public:
  struct Answer {
    EventPlace place;
    Time latency;
    std::uint32_t moved;
    AccessKind kind;
    bool failed;
  };

  /// A request that is measured was answered, in the order of the whole run.
  using Measured =
      std::function<void(AccessKind kind, Time latency, std::uint64_t moved, Time now, bool failed)>;

  /// All outlive it. `observer`: of this part, as RequestObserver::divide has made it.
  PartObserver(const Kernel& kernel, RequestObserver& run, Measured measured,
               std::unique_ptr<RequestObserver> observer, const MeasuredWindow& window,
               const LivelockWatch& livelock_watch)
      : kernel_(kernel),
        run_(run),
        measured_(std::move(measured)),
        observer_(std::move(observer)),
        window_(window),
        livelock_watch_(livelock_watch) {}

  /// Parts run side by side from now on, or do not.
  void go_side_by_side(bool side_by_side) {
    side_by_side_ = side_by_side;
    if (side_by_side) overlooked_ = false;
  }
  /// Somebody has run out of work while parts ran side by side lately, and the measured window was open.
  bool overlooked_end_of_work() const { return overlooked_; }

  RequestObserver& observer() { return *observer_; }
  /// Measured answers since parts run side by side.
  std::vector<Answer>& answers() { return answers_; }
  /// Requests completed since the last call, warm-up included.
  std::uint64_t take_completed() { return std::exchange(completed_, 0); }
  /// Requests and lines answered since the last call that LivelockWatch counts.
  std::uint64_t take_signs_of_life() { return std::exchange(signs_of_life_, 0); }

  void measuring_begins(Time now) override {
    if (!side_by_side_) run_.measuring_begins(now);  // others are cold
  }
  void work_ends(Time now) override {
    if (side_by_side_) overlooked_ |= window_.is_open();
    else run_.work_ends(now);
  }
  void completed(const Request& request, Time now) override;
  // While parts run side by side somebody else has work.
  void rests() override {
    if (!side_by_side_) run_.rests();
  }
  void line_completed(const Request& line, Time now) override {
    if (livelock_watch_.counts(line)) ++signs_of_life_;
    if (window_.is_open()) observer_->line_completed(line, now);
  }
  void written_back(NodeId requester, NodeId target, std::uint64_t bytes) override {
    if (window_.is_open()) observer_->written_back(requester, target, bytes);
  }
  void prefetched(NodeId requester, NodeId target, std::uint64_t bytes) override {
    if (window_.is_open()) observer_->prefetched(requester, target, bytes);
  }
  void drained(NodeId buffer, NodeId target, std::uint64_t bytes) override {
    if (window_.is_open()) observer_->drained(buffer, target, bytes);
  }
  void copied_from(NodeId source, std::uint64_t bytes) override {
    if (window_.is_open()) observer_->copied_from(source, bytes);
  }

 private:
  const Kernel& kernel_;
  RequestObserver& run_;
  Measured measured_;
  std::unique_ptr<RequestObserver> observer_;
  const MeasuredWindow& window_;
  const LivelockWatch& livelock_watch_;
  std::vector<Answer> answers_;
  std::uint64_t completed_ = 0;
  std::uint64_t signs_of_life_ = 0;
  bool side_by_side_ = false;
  bool overlooked_ = false;
};

}  // namespace cxloom
