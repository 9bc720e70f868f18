// How many messages go where, before a run: by the routes that they will take.
#pragma once

#include <vector>

#include "system/model/balanced_cut.hpp"

namespace cxloom {

class System;
struct Spec;

struct ExpectedTraffic {
  std::vector<NodeLoad> of_node;
  std::vector<double> of_link;  ///< both directions; by link, in their order
};

/// A request of each requester with a workload or tasks to each memory, and its answer. Where these are many,
/// each requester has some of the memories, other ones than the next requester.
ExpectedTraffic expected_traffic(const System& system, const Spec& spec);

}  // namespace cxloom
