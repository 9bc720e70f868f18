// How a system may be divided among the event queues of a parallel run.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/units.hpp"

namespace cxloom {

class System;

struct Partitions {
  /// A link, as far as the division goes.
  struct Joint {
    std::uint32_t a = 0;  ///< nodes
    std::uint32_t b = 0;
    Time soonest;  ///< what one end does has no effect at the other before: a message or a credit, in either
                   ///< direction
  };

  /// By node. They are numbered in the order of their first nodes.
  std::vector<std::uint32_t> of_node;
  std::uint32_t count = 0;
  /// What happens in one partition has no effect in another before. None: there is but one.
  std::optional<Time> lookahead;
};

/// By link, in their order. The two ends of a shared wire act on each other at once.
std::vector<Partitions::Joint> joints_of(const System& system);
/// The most partitions: a link of no latency puts both its ends into one, any other may be cut.
Partitions divide(std::size_t nodes, std::span<const Partitions::Joint> joints);
Partitions partitions_of(const System& system);

}  // namespace cxloom
