// The memory that programs find, as NUMA nodes: which there are, how far away, and which parts of them are
// there now.
#pragma once

#include <string>
#include <vector>

#include "base/units.hpp"
#include "workload/placement/numa_nodes.hpp"

namespace cxloom {

class PagePlacement;
class System;
struct EventParams;

/// A sentence on the nodes that a placement of a device's pages, written at `path`, names and that have no
/// memory for the device when the run begins; empty: all have, or others of the same name.
std::string note_on_missing_memory(const std::string& device, const std::string& path,
                                   const std::vector<NumaNode>& nodes, const std::vector<bool>& has_memory,
                                   const PagePlacement& placement);

class ProgramNodes {
 public:
  /// `events` may bring memory during the run. Both outlive this.
  ProgramNodes(const System& system, const std::vector<EventParams>& events)
      : system_(system), events_(events) {}

  /// The nodes of a device's program, in pages of that size.
  std::vector<NumaNode> of(const std::string& device, Bytes page) const;
  /// Which parts of them it has now.
  std::vector<std::vector<bool>> offered(const std::string& device, const std::vector<NumaNode>& nodes,
                                         Bytes page) const;

 private:
  /// The extents that a device has at some time of the run, in pieces of which it has all or nothing at any
  /// time.
  Extents extents_ever(const std::string& device) const;

  const System& system_;
  const std::vector<EventParams>& events_;
};

}  // namespace cxloom
