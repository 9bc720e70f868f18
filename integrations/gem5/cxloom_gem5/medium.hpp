// A memory of the system whose time is that of a memory controller of gem5.
#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include <mem/port.hh>
#include <params/CxlMedium.hh>
#include <sim/sim_object.hh>
#include "fabric.hpp"

namespace gem5::cxl {

/// The controller has the time of accesses, and no bytes: those are in the memory of the hosts, where they
/// have been since their packets came. So its packets may come and go in any order.
class Medium : public SimObject {
 public:
  explicit Medium(const CxlMediumParams& params);

  void init() override;
  Port& getPort(const std::string& name, PortID index) override;

  /// The memory's name in the system.
  const std::string& device() const { return device_; }
  /// An access of the system begins; the fabric's `stored` is called at its end.
  void begin(std::uint64_t id, Addr address, unsigned bytes, bool write);

 private:
  class MemSide : public RequestPort {
   public:
    MemSide(const std::string& name, Medium& medium) : RequestPort(name), medium_(medium) {}

   protected:
    bool recvTimingResp(PacketPtr packet) override { return medium_.ended(packet); }
    void recvReqRetry() override { medium_.send(); }

   private:
    Medium& medium_;
  };

  struct AccessId : public Packet::SenderState {
    explicit AccessId(std::uint64_t its_id) : id(its_id) {}
    const std::uint64_t id;
  };

  bool ended(PacketPtr packet);
  void send();

  MemSide mem_side_;
  Fabric& fabric_;
  const std::string device_;
  const RequestorID requestor_;
  int memory_ = -1;
  std::deque<PacketPtr> waiting_;  // for the controller, in order
  bool waits_for_retry_ = false;
};

}  // namespace gem5::cxl
