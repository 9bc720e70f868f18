// The miss registers (MSHRs) of a cache: each miss takes one for its transaction, and requests that find none
// wait, in order.
#pragma once

#include <cstdint>
#include <optional>

#include "base/intrusive_queue.hpp"
#include "component/endpoint.hpp"
#include "kernel/wait_list.hpp"
#include "protocol/request.hpp"

namespace cxloom {

class MshrFile final : private Waiter {
 public:
  /// `registers`: how many there are; none: as many as are wanted. They are those of the cache of `device`.
  MshrFile(std::optional<std::uint32_t> registers, Endpoint& device);

  bool full() const { return registers_ && taken_ == *registers_; }
  void take() { ++taken_; }
  void give_back() { --taken_; }
  /// The request waits until there is one.
  void wait(Request& request);
  /// The first of those that wait, which does so no longer, if there is one for it; null: nobody goes on.
  Request* admit() { return waiting_.empty() || full() ? nullptr : &next(); }
  /// The requests that wait.
  const IntrusiveQueue<Request>& waiting() const { return waiting_; }

  void resources(ResourceSink& sink) const;

 private:
  Request& next();
  const EventHandler& owner() const override { return device_; }

  const Endpoint& device_;
  std::optional<std::uint32_t> registers_;
  std::uint32_t taken_ = 0;
  IntrusiveQueue<Request> waiting_;
  WaitList list_;
};

}  // namespace cxloom
