// What the builder, and those who complete DMA requests, know of an engine that makes them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/units.hpp"
#include "kernel/event_handler.hpp"

namespace cxloom {

class Kernel;

/// Makes reads (MRd) and posted writes (MWr) of memory by CXL.io. A host makes accesses of lines of them, for
/// all memories of the address map, or a memory itself does, for its own.
class DmaInitiator {
 public:
  /// How its requests are completed.
  struct Completion {
    std::uint16_t most_bytes =
        64;  ///< in a completion (CplD): a power of two, from the read completion boundary on
    std::uint32_t lines = 1;  ///< of its requests that a completer accesses at the same time
  };

  /// The name of the host that completes its requests; empty: the only one.
  virtual const std::string& host() const = 0;
  /// It sends requests to memories themselves where a way leads there that passes no host.
  virtual bool peer_to_peer() const = 0;
  /// Sends to `host`, and to each of `peers` what that is home of. To be called before the simulation starts.
  virtual void aim(NodeId host, const std::vector<NodeId>& peers) = 0;
  /// What it has been aimed at.
  virtual NodeId host_node() const = 0;
  virtual const std::vector<NodeId>& peer_nodes() const = 0;
  virtual Completion completion() const = 0;
  /// Is woken by an event of kind `kTaken` with the message of a posted write (`payload_of`) when memory has
  /// taken all of it, the flight of the way later: nothing on a wire says so. The message has failed if a
  /// line of it did.
  virtual EventHandler& taken() = 0;
  static constexpr std::uint8_t kTaken = 1;
  /// Throws InputError unless regions hold these bytes, all of them, and nobody may hold another value of
  /// them.
  virtual void check(Address at, std::uint64_t bytes) const = 0;
  /// Its requests that have ended: what tells that it gets on, whoever has begun its transfers.
  virtual std::uint64_t ended_requests() const = 0;
  /// Where these events happen.
  virtual Kernel& its_kernel() = 0;

 protected:
  ~DmaInitiator() = default;
};

}  // namespace cxloom
