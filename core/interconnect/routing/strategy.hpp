// Which of several equally good ways a message takes: the interface of a routing strategy. A kind is a file
// of its own and a line in `register_routing`, or in the `CXLOOM_PLUGIN` of a plug-in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/kind_registry.hpp"
#include "interconnect/routing/junction.hpp"
#include "protocol/message.hpp"

namespace cxloom {

/// The surroundings of a strategy when it is made.
struct RoutingContext {
  std::uint64_t seed;
  std::vector<std::uint32_t> ranks;     ///< of each node, its place among the nodes of its kind
  std::vector<std::uint32_t> switches;  ///< the nodes that are switches
  std::vector<std::uint32_t> strides;   ///< by node: what divides a destination's rank (rank_strides.hpp)
};

/// The base of a strategy's choice at a node.
enum class DecidedBy : std::uint8_t {
  kDestination,  ///< nothing else
  kPair,         ///< source and destination
  kMessage,      ///< more
};

/// In place of a node: straight to the destination.
inline constexpr std::uint32_t kNoDetour = ~std::uint32_t{0};

/// Chooses one of several equally good next hops, and may send messages on detours.
///
/// Contract. Ordering: messages of one class (Channel) from one source to one address arrive in the order in
/// which they were sent. A strategy that gives all of them the same path while they may be under way keeps it
/// so; one that does not says so (`keeps_order`), and then receivers put them in order again, all but those
/// of CXL.io, which must have one path. Deadlock: ways that are not shortest close more circles of buffers;
/// `cxloom check` looks at all that a strategy may do.
class RoutingStrategy {
 public:
  virtual ~RoutingStrategy() = default;
  /// A way below `here.ways()`, of which there are at least two.
  virtual std::size_t choose(const Message& message, const Junction& here) = 0;
  /// At one node, what decides, and always in the same way. It may be asked before the run, with messages of
  /// which nothing else is known.
  virtual DecidedBy decided_by() const { return DecidedBy::kMessage; }
  /// Messages of a class from a source to an address never overtake each other.
  virtual bool keeps_order() const { return true; }
  /// Where several links lead to the next node, a message takes the one of its line's address, not the chosen
  /// one, and its answer returns by it. CXL.io, with one order over all addresses, keeps to the chosen one.
  virtual bool spreads_over_parallel_links() const { return false; }

  /// It sends messages on detours: `detour` is to be asked.
  virtual bool detours() const { return false; }
  /// A switch to which the message goes first, or kNoDetour. Asked once, at the first switch that the message
  /// comes to. Where no way leads to that switch, because parts of the system have failed, the message goes
  /// straight on.
  virtual std::uint32_t detour(const Message& /*message*/, const Junction& /*here*/) { return kNoDetour; }
};

using RoutingRegistry = KindRegistry<RoutingStrategy, RoutingContext>;

/// Registers the strategies that come with cxloom.
void register_routing(RoutingRegistry& registry);

}  // namespace cxloom
