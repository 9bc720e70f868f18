// Which of several equally good ways a message takes: the interface of a routing strategy. A kind is a file of its own and a
// line in `register_routing`, or in the `CXLOOM_PLUGIN` of a plug-in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/kind_registry.hpp"
#include "protocol/message.hpp"

namespace cxloom {

/// What a strategy finds around itself when it is made.
struct RoutingContext {
  std::uint64_t seed;
  std::vector<std::uint32_t> ranks;  ///< of each node, its place among the nodes of its kind
};

/// What a strategy's choice at a node depends on.
enum class DecidedBy : std::uint8_t {
  kDestination,  ///< nothing else
  kPair,         ///< source and destination
  kMessage,      ///< more
};

/// Chooses one of several equally good next hops.
///
/// Contract. Ordering: messages of one class (Channel) from one source to one address must keep their order, so a
/// strategy must give all of them the same path while they may be under way; it may spread messages to different
/// addresses or of different classes as it likes. Virtual channels: a strategy that admits paths which are not shortest,
/// and so may close a circle of waiting buffers, must also move the message to a channel that breaks the circle; the
/// strategies here take shortest paths and leave the channel alone.
class RoutingStrategy {
 public:
  virtual ~RoutingStrategy() = default;
  /// An index below `choices`, which is at least two. `node` is where the message is.
  virtual std::size_t choose(const Message& message, std::uint32_t node, std::size_t choices) = 0;
  /// At one node, what decides, and always in the same way. It may be asked before the run, with messages of which nothing
  /// else is known.
  virtual DecidedBy decided_by() const { return DecidedBy::kMessage; }
};

using RoutingRegistry = KindRegistry<RoutingStrategy, RoutingContext>;

/// Those that come with cxloom.
void register_routing(RoutingRegistry& registry);

}  // namespace cxloom
