#include "medium.hpp"

#include <memory>

#include <base/logging.hh>
#include <sim/system.hh>

namespace gem5::cxl {

Medium::Medium(const CxlMediumParams& params)
    : SimObject(params),
      mem_side_(name() + ".mem_side", *this),
      fabric_(*params.fabric),
      device_(params.device),
      requestor_(params.system->getRequestorId(this)) {}

void Medium::init() {
  SimObject::init();
  fatal_if(!mem_side_.isConnected(), "%s: mem_side is not connected to a controller.", name());
  memory_ = fabric_.store(*this);
}

Port& Medium::getPort(const std::string& port, PortID index) {
  if (port == "mem_side") return mem_side_;
  return SimObject::getPort(port, index);
}

void Medium::begin(std::uint64_t id, Addr address, unsigned bytes, bool write) {
  auto* const packet = new Packet(std::make_shared<Request>(address, bytes, 0, requestor_),
                                  write ? MemCmd::WriteReq : MemCmd::ReadReq);
  packet->allocate();
  packet->pushSenderState(new AccessId(id));
  waiting_.push_back(packet);
  if (!waits_for_retry_) send();
}

void Medium::send() {
  waits_for_retry_ = false;
  while (!waiting_.empty()) {
    if (!mem_side_.sendTimingReq(waiting_.front())) {
      waits_for_retry_ = true;
      return;
    }
    waiting_.pop_front();
  }
}

bool Medium::ended(PacketPtr packet) {
  const std::unique_ptr<Packet> answer(packet);
  const std::unique_ptr<Packet::SenderState> state(packet->popSenderState());
  fabric_.stored(memory_, static_cast<const AccessId&>(*state).id);
  return true;
}

}  // namespace gem5::cxl
