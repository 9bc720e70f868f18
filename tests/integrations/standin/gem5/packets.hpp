// Packets, ports and memories of the stand-in for gem5.
#pragma once

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "standin.hpp"

namespace gem5 {

// ---- Packets

class MemCmd {
 public:
  enum Command {
    ReadReq,
    WriteReq,
    WritebackDirty,
    WritebackClean,
    WriteClean,
    CleanEvict,
    UpgradeReq,
    SCUpgradeReq,
    SCUpgradeFailReq,
    InvalidateReq,
    ReadExReq,
    ReadSharedReq,
    CleanSharedReq,
    Response,
  };
  MemCmd(Command command) : command_(command) {}
  bool operator==(MemCmd other) const { return command_ == other.command_; }
  bool in(std::initializer_list<Command> commands) const {
    for (const Command each : commands)
      if (each == command_) return true;
    return false;
  }

 private:
  Command command_;
};

class Request {
 public:
  Request(Addr address, unsigned bytes, int /*flags*/, RequestorID /*requestor*/)
      : address_(address), bytes_(bytes) {}
  bool uncacheable = false;
  bool isUncacheable() const { return uncacheable; }
  Addr address() const { return address_; }
  unsigned bytes() const { return bytes_; }

 private:
  Addr address_;
  unsigned bytes_;
};
using RequestPtr = std::shared_ptr<Request>;

class Packet {
 public:
  struct SenderState {
    virtual ~SenderState() = default;
    SenderState* before = nullptr;
  };

  Packet(const RequestPtr& request, MemCmd command) : cmd(command), req(request) {}
  Packet(const RequestPtr& request, MemCmd command, unsigned /*bytes*/) : Packet(request, command) {}

  MemCmd cmd;
  RequestPtr req;
  Tick headerDelay = 0;
  Tick payloadDelay = 0;
  SenderState* senderState = nullptr;
  bool pending_below = false;  // as caches above are told by an MSHR below

  Addr getAddr() const { return req->address(); }
  unsigned getSize() const { return req->bytes(); }
  Addr getBlockAddr(unsigned bytes) const { return getAddr() / bytes * bytes; }
  std::string print() const { return "a packet"; }

  bool isResponse() const { return cmd == MemCmd::Response; }
  bool isRead() const {
    return cmd.in({MemCmd::ReadReq, MemCmd::ReadExReq, MemCmd::ReadSharedReq, MemCmd::SCUpgradeFailReq});
  }
  bool isWrite() const {
    return cmd.in({MemCmd::WriteReq, MemCmd::WritebackDirty, MemCmd::WritebackClean, MemCmd::WriteClean});
  }
  bool isEviction() const {
    return cmd.in({MemCmd::WritebackDirty, MemCmd::WritebackClean, MemCmd::CleanEvict});
  }
  bool isUpgrade() const { return cmd.in({MemCmd::UpgradeReq, MemCmd::SCUpgradeReq}); }
  bool isClean() const { return cmd == MemCmd::CleanSharedReq; }
  bool needsWritable() const {
    return isUpgrade() ||
           cmd.in({MemCmd::WriteReq, MemCmd::InvalidateReq, MemCmd::ReadExReq, MemCmd::SCUpgradeFailReq});
  }
  bool needsResponse() const { return !isResponse() && !isEviction() && !(cmd == MemCmd::WriteClean); }
  bool fromCache() const { return !cmd.in({MemCmd::ReadReq, MemCmd::WriteReq}); }
  void makeResponse() { cmd = MemCmd::Response; }

  bool cacheResponding() const { return responding_; }
  void setCacheResponding() { responding_ = true; }
  bool isExpressSnoop() const { return express_; }
  void setExpressSnoop() { express_ = true; }
  bool hasSharers() const { return sharers_; }
  void setHasSharers() { sharers_ = true; }
  bool isBlockCached() const { return cached_; }
  void setBlockCached() { cached_ = true; }

  void allocate() { own_.resize(getSize()); }
  void dataStatic(std::uint8_t* data) { data_ = data; }
  template <typename T>
  T* getPtr() {
    if (own_.empty() && !data_) allocate();
    return data_ ? data_ : own_.data();
  }
  bool trySatisfyFunctional(Packet* /*other*/) { return false; }
  void pushLabel(const std::string& /*label*/) {}
  void popLabel() {}

  void pushSenderState(SenderState* state) {
    state->before = senderState;
    senderState = state;
  }
  SenderState* popSenderState() { return std::exchange(senderState, senderState->before); }

 private:
  bool responding_ = false;
  bool express_ = false;
  bool sharers_ = false;
  bool cached_ = false;
  std::vector<std::uint8_t> own_;
  std::uint8_t* data_ = nullptr;
};
using PacketPtr = Packet*;

namespace probing {

struct PacketInfo {
  explicit PacketInfo(const PacketPtr& packet) : cmd(packet->cmd), addr(packet->getAddr()) {}
  MemCmd cmd;
  Addr addr;
};
class Packet {
 public:
  Packet(ProbeManager* manager, const std::string& name) : seen_((*manager)[name]) {}
  void notify(const PacketInfo& /*info*/) { ++seen_; }

 private:
  int& seen_;
};

}  // namespace probing

// ---- Ports

struct AddrRange {
  Addr start = 0;
  Addr size = 0;
};
using AddrRangeList = std::vector<AddrRange>;

class ResponsePort;

class RequestPort : public Port {
 public:
  explicit RequestPort(const std::string& name) : name_(name) {}
  const std::string& name() const { return name_; }
  void bind(ResponsePort& peer);
  bool isConnected() const { return peer_ != nullptr; }
  virtual bool isSnooping() const { return false; }
  bool sendTimingReq(PacketPtr packet);
  void sendFunctional(PacketPtr packet);
  void sendRetryResp();

 protected:
  friend class ResponsePort;
  virtual bool recvTimingResp(PacketPtr packet) = 0;
  virtual void recvReqRetry() = 0;
  virtual void recvTimingSnoopReq(PacketPtr /*packet*/) {}
  virtual Tick recvAtomicSnoop(PacketPtr /*packet*/) { return 0; }
  virtual void recvFunctionalSnoop(PacketPtr /*packet*/) {}
  ResponsePort* peer_ = nullptr;

 private:
  const std::string name_;
};

class ResponsePort : public Port {
 public:
  explicit ResponsePort(const std::string& /*name*/) {}
  bool isConnected() const { return peer_ != nullptr; }
  bool isSnooping() const { return peer_->isSnooping(); }
  void sendRangeChange() {}
  bool sendTimingResp(PacketPtr packet) { return peer_->recvTimingResp(packet); }
  void sendTimingSnoopReq(PacketPtr packet) { peer_->recvTimingSnoopReq(packet); }
  Tick sendAtomicSnoop(PacketPtr packet) { return peer_->recvAtomicSnoop(packet); }
  void sendFunctionalSnoop(PacketPtr packet) { peer_->recvFunctionalSnoop(packet); }
  void sendRetryReq() { peer_->recvReqRetry(); }

  virtual AddrRangeList getAddrRanges() const = 0;
  virtual bool recvTimingReq(PacketPtr packet) = 0;
  virtual bool recvTimingSnoopResp(PacketPtr /*packet*/) { return true; }
  virtual void recvRespRetry() = 0;
  virtual Tick recvAtomic(PacketPtr packet) = 0;
  virtual void recvFunctional(PacketPtr packet) = 0;
  virtual bool tryTiming(PacketPtr /*packet*/) { return true; }

 private:
  friend class RequestPort;
  RequestPort* peer_ = nullptr;
};

inline void RequestPort::bind(ResponsePort& peer) {
  peer_ = &peer;
  peer.peer_ = this;
}
inline bool RequestPort::sendTimingReq(PacketPtr packet) { return peer_->recvTimingReq(packet); }
inline void RequestPort::sendFunctional(PacketPtr packet) { peer_->recvFunctional(packet); }
inline void RequestPort::sendRetryResp() { peer_->recvRespRetry(); }

// ---- Memory

namespace memory {

class AbstractMemory : public SimObject {
 public:
  struct Params : SimObjectParams {
    AddrRange range;
  };
  explicit AbstractMemory(const Params& params)
      : SimObject(params), range_(params.range), bytes_(params.range.size) {}

  Addr start() const { return range_.start; }
  Addr size() const { return range_.size; }
  AddrRange getAddrRange() const { return range_; }
  std::uint8_t* at(Addr address) { return &bytes_.at(address - range_.start); }

  void access(PacketPtr packet) {
    if (packet->cmd == MemCmd::SCUpgradeFailReq) fatal("a load-locked of a cache");
    if (packet->cmd.in({MemCmd::CleanEvict, MemCmd::WritebackClean})) return;
    copy(packet);
    if (packet->needsResponse()) packet->makeResponse();
  }
  void functionalAccess(PacketPtr packet) {
    copy(packet);
    packet->makeResponse();
  }

 private:
  void copy(PacketPtr packet) {
    if (packet->isWrite())
      std::memcpy(at(packet->getAddr()), packet->getPtr<std::uint8_t>(), packet->getSize());
    if (packet->isRead())
      std::memcpy(packet->getPtr<std::uint8_t>(), at(packet->getAddr()), packet->getSize());
  }

  AddrRange range_;
  std::vector<std::uint8_t> bytes_;
};

}  // namespace memory

/// A request that waits below: the caches above are told, and its upgrade becomes a read where a snoop takes
/// the copy.
class MSHR {
 public:
  explicit MSHR(const std::string& /*name*/) {}
  void allocate(Addr /*line*/, unsigned /*bytes*/, PacketPtr packet, Tick /*when*/, Counter /*order*/,
                bool /*fill*/) {
    if (packet_) fatal("an MSHR is taken twice");
    packet_ = packet;
    packet_->pending_below = true;
  }
  bool handleSnoop(PacketPtr snoop, Counter /*order*/) {
    if (!snoop->needsWritable()) return false;
    if (packet_->cmd == MemCmd::UpgradeReq) packet_->cmd = MemCmd::ReadExReq;
    if (packet_->cmd == MemCmd::SCUpgradeReq) packet_->cmd = MemCmd::SCUpgradeFailReq;
    return false;
  }
  void markInService(bool /*pending_modified*/) { packet_->pending_below = false; }
  void popTarget() {}
  void deallocate() { packet_ = nullptr; }

 private:
  PacketPtr packet_ = nullptr;
};

}  // namespace gem5
