// What moves the blocks of a KV cache between its tiers and the servers, and how long that takes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/units.hpp"
#include "base/value.hpp"

namespace cxloom {

/// Bytes that go from a tier to a server, or the other way.
struct KvMove {
  std::uint32_t server = 0;
  std::uint32_t tier = 0;
  std::uint64_t bytes = 0;
  bool write = false;        ///< to the tier
  std::uint64_t ticket = 0;  ///< by which the one that asked knows it
};

/// What went through a way so far, as the seconds that it takes when nothing else is the limit. A way without
/// limit takes none.
struct KvWayUse {
  double own = 0;       ///< between the tier and each server, the mean over the servers
  double together = 0;  ///< between a shared tier and all servers
};

/// What a part that several ways share was used so far, in seconds of all of it.
struct KvPartUse {
  std::string name;
  double busy = 0;
};

/// Serving asks for moves and hears when each is done; whatever simulates them stands behind it.
class KvTransport {
 public:
  virtual ~KvTransport() = default;

  /// Begins a move at a time, which is not before that of the last call.
  virtual void begin(Time now, const KvMove& move) = 0;
  /// When something happens next; Time::max() if nothing is under way.
  virtual Time next() const = 0;
  /// Goes on until a time, and appends the tickets of the moves that are done by then, in the order of their
  /// ends.
  virtual void advance(Time until, std::vector<std::uint64_t>& done) = 0;
  /// What a read would take if it began now, as a server may know it, for the choice between loading a prefix
  /// and computing it.
  virtual Time estimate(Time now, const KvMove& move) const = 0;
  /// How much of the ways from a tier, or to it, was used.
  virtual KvWayUse used(std::uint32_t tier, bool write) const = 0;
  /// Links and memories that moves of several tiers and servers may share; none are known of declared
  /// numbers.
  virtual std::vector<KvPartUse> parts() const { return {}; }
  /// What else there is to say of a run of that length; nothing: there is nothing.
  virtual Value details(Time /*length*/) const { return {}; }
  /// What a reader of its numbers has to know, in a sentence; empty: nothing.
  virtual std::string note() const { return {}; }
};

}  // namespace cxloom
