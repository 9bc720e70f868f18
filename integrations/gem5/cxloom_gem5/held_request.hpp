// A request that waits for its answer, as a cache below would hold it.
#pragma once

#include <string>

#include <mem/cache/mshr.hh>
#include <mem/packet.hh>

namespace gem5::cxl {

/// A cache whose request is in service below defers the snoops of that line until the answer. If this side
/// snoops before it answers, neither would ever come. Caches of gem5 know the case: a request that waits in
/// an MSHR below has not yet been served, so that a snoop from there comes before it. The MSHR here tells the
/// caches above so.
class HeldRequest {
 public:
  explicit HeldRequest(const std::string& name) : mshr_(name) {}

  /// Takes a request in, at the time from which it counts.
  void hold(PacketPtr packet, unsigned line_bytes, Tick ready, Counter order) {
    packet_ = packet;
    mshr_.allocate(packet->getBlockAddr(line_bytes), line_bytes, packet, ready, order, false);
  }
  /// A snoop of this line has been sent: a copy that was to be upgraded is gone.
  void snoop(Packet& snoop, Counter order) { mshr_.handleSnoop(&snoop, order); }
  /// The request is served: snoops that follow come after it.
  PacketPtr release() {
    mshr_.markInService(false);
    mshr_.popTarget();
    mshr_.deallocate();
    return packet_;
  }

  PacketPtr packet() const { return packet_; }

 private:
  MSHR mshr_;
  PacketPtr packet_ = nullptr;
};

}  // namespace gem5::cxl
