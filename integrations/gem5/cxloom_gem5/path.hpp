// What lies between the packets of hosts and their memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <base/types.hh>
#include <params/CxlPath.hh>
#include <sim/sim_object.hh>

namespace gem5::cxl {

class HeldRequest;
class Host;

/// Why a host accesses a line.
enum class Intent : std::uint8_t {
  kCurrent,     // its bytes as they are now; no copy is kept
  kShare,       // a copy to read
  kOwn,         // a copy that the host may write
  kUpgrade,     // the right to write a copy that it has
  kWrite,       // new bytes from a requester that keeps no copy
  kWriteBack,   // the bytes of a dirty copy, which is given up
  kCleanEvict,  // a clean copy is given up
};

/// What a host held of a line when it was snooped.
enum class Snooped : std::uint8_t { kNothing, kClean, kDirty };

struct Access {
  Addr address;  // in the address map of the path
  unsigned bytes;
  Intent intent;
  Tick ready;         // when it comes to the path, at the earliest
  HeldRequest* held;  // what the answer is for; nullptr: nobody waits for it
};

struct Answer {
  HeldRequest* held;
  Intent intent;
  Tick latency;                  // since the access was ready
  const std::int64_t* segments;  // where that went, as many as the path has names for
  bool shared;                   // others may have copies: the host may not write its own
};

class Path : public SimObject {
 public:
  /// What a host is for the path.
  struct Seat {
    unsigned number;  // names the host from now on
    bool coherent;    // whether its copies are snooped
  };

  explicit Path(const CxlPathParams& params) : SimObject(params) {}

  /// A host that the path is to serve. Calls fatal() where it cannot be. Addresses of two hosts are the same
  /// memory where they are the same in its address map.
  virtual Seat seat(Host& host) = 0;
  /// An access of a host. `answered` of the host is called in time, for each.
  virtual void give(unsigned host, const Access& access) = 0;
  /// The host has given up the line of its snoop `number`, or shares it now if that was asked for.
  virtual void snooped(unsigned host, std::uint64_t number, Snooped held) = 0;
  /// The time of an access on an idle path.
  virtual Tick estimate(unsigned host, const Access& access) = 0;
  /// The parts of a latency.
  virtual std::vector<std::string> segments() const = 0;
};

}  // namespace gem5::cxl
