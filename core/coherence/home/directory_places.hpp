// The places for requests among the transactions of a home. Who finds none waits outside, in order.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "base/units.hpp"
#include "kernel/distribution.hpp"
#include "kernel/wait_list.hpp"
#include "protocol/message.hpp"
#include "protocol/message_queue.hpp"

namespace cxloom {

class ResourceSink;

class DirectoryPlaces final : private Waiter {
 public:
  /// None: as many as there are requests.
  DirectoryPlaces(std::optional<std::uint32_t> places, Kernel& kernel, const EventHandler& home);

  /// A request has come. False: it waits until `leave` gives it.
  bool enter(Message& message, Time now) {
    if (!places_) return true;
    if (taken_ < *places_) {
      ++taken_;
      level_.change(now, +1);
      return true;
    }
    if (outside_.empty()) list_.join(*this, now);
    outside_.push(message);
    ++waiting_;
    return false;
  }
  /// A request with a place is answered. Gives the one that has its place now; null: none waited.
  Message* leave(Time now) {
    if (!places_) return nullptr;
    if (outside_.empty()) {
      --taken_;
      level_.change(now, -1);
      return nullptr;
    }
    --waiting_;
    Message& next = outside_.pop();
    if (outside_.empty()) list_.leave(*this);
    return &next;
  }
  /// Requests with a place are gone, and those that wait are given back.
  MessageQueue abandon(Time now) {
    if (!outside_.empty()) list_.leave(*this);
    if (taken_ > 0) level_.change(now, -static_cast<std::int32_t>(taken_));
    taken_ = 0;
    waiting_ = 0;
    return std::exchange(outside_, {});
  }
  const MessageQueue& outside() const { return outside_; }
  std::size_t waiting() const { return waiting_; }

  /// Requests that have a place, the mean over the window; none: there is no limit.
  std::optional<double> mean_taken() const { return places_ ? std::optional(level_.mean()) : std::nullopt; }
  void resources(ResourceSink& sink) const;

 private:
  const EventHandler& owner() const override { return home_; }

  const std::optional<std::uint32_t> places_;
  const EventHandler& home_;
  std::uint32_t taken_ = 0;  // from the admission of a request to its answer, where there is a limit
  LevelMonitor level_;       // of the same
  MessageQueue outside_;
  std::size_t waiting_ = 0;
  WaitList list_;
};

}  // namespace cxloom
