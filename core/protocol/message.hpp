// A message, which is routed through the interconnect.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/units.hpp"
#include "protocol/account.hpp"
#include "protocol/opcode.hpp"

namespace cxloom {

/// Values of `Message::via` besides nodes.
inline constexpr NodeId kViaUndecided{0xffffffffU};
inline constexpr NodeId kViaNobody{0xfffffffeU};

/// How loaded a device says that it is.
enum class DevLoad : std::uint8_t { kLight, kOptimal, kModerate, kSevere };

/// The order of the members is that of use: what every hop touches is one cache line.
struct Message {
  Message* next = nullptr;     ///< link of the queue it waits in
  Account* account = nullptr;  ///< what its way is charged to; none if nobody waits for it (write-backs)
  Time tail;                   ///< after its head, its last byte arrives this much later
  Time since;                  ///< when it joined the queue it waits in
  Time blocked;                ///< the queue's clock of credit-blocked time when it joined
  NodeId source;               ///< the sender: of a response, the device that answered
  NodeId destination;
  std::uint32_t tag = 0;   ///< the requester's own name for what it waits for; the answer brings it back
  std::uint16_t size = 0;  ///< payload bytes of the access; zero once it has failed
  std::uint16_t port =
      0;  ///< the receiver's port at which it came in; in a queue of a switch, that by which it leaves
  std::uint16_t hops = 0;  ///< links crossed so far, there and back
  Opcode opcode = Opcode::kMemRd;
  Channel channel = Channel::kM2SReq;
  bool failed = false;               ///< answered with an error
  std::uint8_t virtual_channel = 0;  ///< of its class, on the link that it is on or waits for
  /// Where routes may change the order: a hash of what it is about, to draw by.
  std::uint16_t order = 0;

  Address address;
  Time age;          ///< when the request that it serves began: the older goes first where age arbitrates
  NodeId requester;  ///< the requester that it serves, there and back
  /// The number of a coherent home's answer (H2D Rsp, S2M NDR) among its answers to this cache. A CXL.cache
  /// request to the cache has the number of the last answer before it, and waits for all of them.
  std::uint32_t pushes = 0;
  SnpType snp = SnpType::kNoOp;          ///< of M2S Req and RwD to coherent memory
  MetaValue meta = MetaValue::kInvalid;  ///< of M2S Req and RwD to coherent memory
  /// The lines of a block (the Blk forms), from `address` on; 0: one line, no block.
  std::uint8_t lines = 0;
  std::uint8_t ld_and_load = 0;  ///< four bits of `ld`, and above them two of `load`
  /// Where routes detour: the switch to which it goes first.
  NodeId via = kViaUndecided;
  /// A second message of the sender, for an answer of two parts or for data that
  /// are asked for: the device that answers sends it, too, and it ends here again.
  Message* completion = nullptr;
  /// The line of an M2S Req or RwD is of persistent memory (docs/model/persist.md).
  bool persistent = false;
  bool poisoned = false;      ///< `failed`: its data are known to be wrong, as the latest were lost
  std::uint32_t version = 0;  ///< the version of its line that it writes or brings, where versions are kept

  /// The logical device (LD-ID) of a CXL.mem message to a memory that has some.
  std::uint8_t ld() const { return ld_and_load & 0xfU; }
  /// The load that a memory reports in S2M NDR and DRS.
  DevLoad load() const { return static_cast<DevLoad>(ld_and_load >> 4U); }
  /// For requests: they report no load, which becomes zero.
  void set_ld(std::uint8_t ld) { ld_and_load = ld; }
  void set_load(DevLoad load) {
    ld_and_load = static_cast<std::uint8_t>(ld() | static_cast<unsigned>(load) << 4U);
  }

  /// Charges the account, if there is one.
  void charge(Segment segment, Time until) {
    if (account) account->charge(segment, until);
  }
  /// Charges two segments in turn.
  void charge(Segment first, Time until_first, Segment second, Time until_second) {
    if (!account) return;
    account->charge(first, until_first);
    account->charge(second, until_second);
  }
  /// Payload bytes that travel in this message: its size, or none.
  std::uint64_t payload() const { return size * payloads_of(opcode); }
};

static_assert(offsetof(Message, address) <= 64, "what a hop touches of a message is one cache line");

}  // namespace cxloom
