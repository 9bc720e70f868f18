// A host: the memory below the last bus of its caches.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <base/statistics.hh>
#include <mem/port.hh>
#include <params/CxlHost.hh>
#include <sim/eventq.hh>
#include <sim/probe/mem.hh>
#include <sim/sim_object.hh>
#include "backing_memory.hpp"
#include "held_request.hpp"
#include "path.hpp"
#include "recalls.hpp"

namespace gem5 {
class System;
}

namespace gem5::cxl {

/// Bytes and time go apart: a write changes the memory when its packet comes in, a read takes the bytes when
/// it is answered, and the path says when that is.
class Host : public SimObject {
 public:
  explicit Host(const CxlHostParams& params);

  void init() override;
  Port& getPort(const std::string& name, PortID index) override;
  DrainState drain() override;

  /// The name of the host in the system that the path simulates.
  const std::string& device() const { return device_; }
  /// The addresses of its memory there, the last one included.
  Addr first_address() const { return offset_; }
  Addr last_address() const { return offset_ + memory_.size() - 1; }

  /// An access has been served: its answer leaves now.
  void answered(const Answer& answer);
  /// The home of a line wants it from the caches of this host: all copies, or that those which stay are
  /// shared. The path's `snooped` is called with the number, now or when the bytes of a dirty copy have come.
  void snoop(std::uint64_t number, Addr address, bool to_share);

 private:
  class CpuSide : public ResponsePort {
   public:
    CpuSide(const std::string& name, Host& host) : ResponsePort(name), host_(host) {}

    AddrRangeList getAddrRanges() const override { return {host_.memory_.getAddrRange()}; }

   protected:
    bool recvTimingReq(PacketPtr packet) override { return host_.request(packet); }
    bool recvTimingSnoopResp(PacketPtr packet) override { return host_.snoop_answer(packet); }
    void recvRespRetry() override { host_.send_answers(); }
    Tick recvAtomic(PacketPtr packet) override { return host_.atomic(packet); }
    void recvFunctional(PacketPtr packet) override { host_.functional(packet); }
    bool tryTiming(PacketPtr /*packet*/) override { return true; }

   private:
    Host& host_;
  };

  /// The number of a snoop whose dirty bytes are on their way.
  struct SnoopNumber : public Packet::SenderState {
    explicit SnoopNumber(std::uint64_t its_number) : number(its_number) {}
    const std::uint64_t number;
  };

  struct Stats : public statistics::Group {
    Stats(Host& host, const std::vector<std::string>& segments);

    // Named as statistics of gem5 are: that is how users see them.
    statistics::Scalar reads;
    statistics::Scalar writes;
    statistics::Scalar evictions;
    statistics::Scalar snoops;
    statistics::Scalar dirtySnoops;
    statistics::Scalar readLatency;
    statistics::Formula meanReadLatency;
    statistics::Vector readSegments;
  };

  /// Takes a line from the caches at once, for another host that lets no time pass; or lets them keep copies
  /// to read. Whether any stays.
  bool take(Addr line, bool to_share);
  void ask_others(Packet& packet);
  bool request(PacketPtr packet);
  bool snoop_answer(PacketPtr packet);
  void taken(std::uint64_t number, bool dirty);
  void take_in(PacketPtr packet);
  void write(Packet& answer);
  Tick atomic(PacketPtr packet);
  void functional(PacketPtr packet);
  void send_answers();
  void drained_if_empty();
  bool empty() const;

  std::optional<Intent> intent_of(const Packet& packet);
  std::optional<Intent> intent_of_eviction(const Packet& packet);
  void give(const Access& access);
  HeldRequest& hold(PacketPtr packet, Tick ready);
  void let_go(HeldRequest& held);
  Addr line_of(const Packet& packet) const { return packet.getBlockAddr(line_bytes_); }
  Addr address_of(Addr address) const { return address - memory_.start() + offset_; }

  /// Whether lines are taken back from caches of Ruby.
  bool recalls() const { return seat_.coherent && recalls_.isConnected(); }

  CpuSide cpu_side_;
  Recalls recalls_;
  System& system_;
  Path& path_;
  BackingMemory& memory_;
  const std::string device_;
  const Addr offset_;
  const bool shares_;
  const RequestorID requestor_;
  const unsigned line_bytes_;
  Path::Seat seat_{};
  Counter order_ = 0;
  std::unordered_multimap<Addr, HeldRequest*> held_;  // that wait for the path, by line
  std::vector<std::unique_ptr<HeldRequest>> all_held_;
  std::vector<HeldRequest*> free_held_;
  std::deque<PacketPtr> answers_;  // that the bus above has had no room for, in order
  bool waits_for_retry_ = false;
  unsigned unanswered_ = 0;  // accesses at the path
  unsigned snoops_out_ = 0;
  // Lines whose bytes have come while copies stay: for its home this host goes on to have them modified.
  std::unordered_set<Addr> written_early_;
  std::unordered_set<Addr> untimed_;    // lines that caches have got in atomic mode
  EventFunctionWrapper take_in_event_;  // answers what has been taken in
  std::unique_ptr<Packet> ended_;  // its sender still reads a packet without answer when `request` returns
  // As a CommMonitor has them: for the probes of gem5.
  probing::Packet requests_probe_;
  probing::Packet answers_probe_;
  std::unique_ptr<Stats> stats_;
};

}  // namespace gem5::cxl
