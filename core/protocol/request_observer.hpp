// A listener to completed requests, and to the measured window.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "base/units.hpp"
#include "protocol/request.hpp"

namespace cxloom {

class RequestObserver {
 public:
  virtual ~RequestObserver() = default;
  /// A requester is warm: it issues its first request after its warm-up. The window opens when all are.
  virtual void measuring_begins(Time now) = 0;
  /// A requester has run out of work: the window closes, if it has not yet.
  virtual void work_ends(Time now) = 0;
  /// A request was answered; its segments sum to `now - request.created()`.
  virtual void completed(const Request& request, Time now) = 0;
  /// One line of an access of several was answered; the access itself comes with the last of them.
  virtual void line_completed(const Request& line, Time now) = 0;
  /// Payload of a message without a waiting requester (a write-back) has arrived.
  virtual void written_back(NodeId requester, NodeId target, std::uint64_t bytes) = 0;
  /// A line has come that nobody waits for.
  virtual void prefetched(NodeId requester, NodeId target, std::uint64_t bytes) = 0;
  /// Payload that the persist buffer of a switch held has been written to memory at `target`.
  virtual void drained(NodeId /*buffer*/, NodeId /*target*/, std::uint64_t /*bytes*/) {}
  /// A line has been read from memory at `source` to make a copy anew.
  virtual void copied_from(NodeId /*source*/, std::uint64_t /*bytes*/) {}
  /// A requester has nothing to do any more, and nothing of it is under way.
  virtual void rests() {}
  /// How well the mean latency of the requests so far is known: half of its 95 % interval / the mean. None:
  /// not at all.
  virtual std::optional<double> relative_error() const { return std::nullopt; }

  // Each part of a divided system has an observer of its own, in a thread of its own.

  /// One for a part, to which what depends on the order of requests in the whole system is unknown. Null: it
  /// cannot be divided.
  virtual std::unique_ptr<RequestObserver> divide() { return nullptr; }
  /// The latency of a request that the observer of a part has seen complete, and the bytes that it has moved
  /// by itself, in the order of completion in the whole system.
  virtual void completed_in_order(AccessKind /*kind*/, Time /*latency*/, std::uint64_t /*moved*/,
                                  Time /*now*/) {}
  /// Takes over the rows of what the observers of all parts, which `divide` has made, have seen. All have
  /// come as far.
  virtual void take_rows(std::span<RequestObserver* const> /*parts*/) {}
  /// Takes over all else, at the end.
  virtual void take_in(const RequestObserver& /*part*/) {}
};

/// Does nothing with what it hears: for systems that are built to be looked at, or run for something else
/// than their requests.
class NullObserver final : public RequestObserver {
 public:
  void measuring_begins(Time /*now*/) override {}
  void work_ends(Time /*now*/) override {}
  void completed(const Request& /*request*/, Time /*now*/) override {}
  void line_completed(const Request& /*line*/, Time /*now*/) override {}
  void written_back(NodeId /*requester*/, NodeId /*target*/, std::uint64_t /*bytes*/) override {}
  void prefetched(NodeId /*requester*/, NodeId /*target*/, std::uint64_t /*bytes*/) override {}
};

}  // namespace cxloom
