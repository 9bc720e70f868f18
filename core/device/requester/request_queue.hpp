// The queue of a requester: its requests under way, of so many accesses at most, and which of its last
// accesses have no answer yet.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "component/endpoint.hpp"
#include "device/requester/access_window.hpp"
#include "kernel/pool.hpp"
#include "kernel/wait_list.hpp"
#include "protocol/request.hpp"

namespace cxloom {

class RemainingTime;

class RequestQueue {
 public:
  /// For so many accesses of `requester` in flight.
  RequestQueue(std::uint32_t size, Endpoint& requester);

  /// To be called before the run by a requester that has work: others need no memory.
  void prepare() { window_.prepare(); }
  std::uint32_t size() const { return size_; }
  /// It has crashed: until `open` there is no place.
  void close() { closed_size_ = std::exchange(size_, 0); }
  void open() { size_ = std::exchange(closed_size_, 0); }
  bool closed() const { return closed_size_ != 0; }
  /// What waits for a place.
  WaitList& slots() { return slots_; }
  /// What waits for the answer to an access that it depends on.
  WaitList& dependences() { return dependences_; }

  /// A request of the requester, the clock of whose latency started at `created`.
  Request& take(Time created) {
    Request& request = requests_.take();
    request.target = requester_;
    request.begin(requester_, created);
    return request;
  }
  /// The request for the line of an access of several that begins `done` bytes behind it. It has an account
  /// of its own, which begins as a copy of the access's.
  Request& take_line(Request& access, std::uint64_t done);
  /// A line of an access of several is answered; with the last one the access is: returns that. An access
  /// has waited for the line answered last.
  static bool ends_access(const Request& line);
  void give_back(Request& request) { requests_.give_back(request); }
  /// The request of that index.
  Request& at(std::uint32_t index) { return requests_.at(index); }
  /// Requests that were taken and not given back.
  std::uint64_t live() const { return requests_.live(); }

  /// The access of that number may be made now, as one that needs the access `distance` places before it.
  bool allows(std::uint64_t number, std::uint64_t distance) const { return window_.allows(number, distance); }
  /// The access of that number is made, or answered.
  void flip(std::uint64_t number) { window_.flip(number); }

  /// A fence holds the next access up, now: what waits for the answers to all accesses before it.
  WaitList& hold(Time now) {
    if (held_since_ < Time{}) held_since_ = now;
    return fence_;
  }
  /// An access behind a fence is made: returns for how long nothing but the fence has held it up.
  Time pass_fence(Time now) {
    const Time since = std::exchange(held_since_, Time{-1});
    return since >= Time{} ? now - since : Time{};
  }

  /// The number of the access that a message carries; none: it carries none. A message that a cache or a home
  /// has made has a tag of theirs, and not the account of the request of that index.
  std::optional<std::uint64_t> access_of(const Message& message);
  /// Whether an access without an answer is to an address of `which`, of so many that were issued.
  bool any_under_way(std::uint64_t issued, const std::function<bool(Address)>& which);
  /// No access that is under way is answered before. A request that is over and whose number is taken for one
  /// under way says less than it could.
  Time earliest_answer(RemainingTime& left);

  void resources(ResourceSink& sink) const;
  /// What a queue of that size takes while so many accesses are under way.
  static std::uint64_t bytes(std::uint32_t size, std::uint64_t under_way);

 private:
  // First what every request touches.
  std::uint32_t size_;
  NodeId requester_;
  WaitList slots_;
  AccessWindow window_;
  Pool<Request> requests_;
  WaitList dependences_;
  WaitList fence_;
  std::uint32_t closed_size_ = 0;
  Time held_since_{-1};  // nothing but a fence has held the next access up since then
};

}  // namespace cxloom
