// The memory that a workload finds, as NUMA nodes, and the tiering of its pages among them.
#include <algorithm>
#include <utility>

#include "base/kind_registry.hpp"
#include "component/component.hpp"
#include "interconnect/topology/topology.hpp"
#include "system/kinds/registry.hpp"
#include "system/model/offered_memory.hpp"
#include "system/model/system.hpp"
#include "system/work/workload_builder.hpp"
#include "workload/tiering/tiering.hpp"

namespace cxloom {

namespace {

/// The same addresses, cut wherever one of these begins or ends: none overlap.
std::vector<AddressMap::Extent> pieces_of(const std::vector<AddressMap::Extent>& extents) {
  std::vector<std::uint64_t> borders;
  for (const AddressMap::Extent& each : extents) {
    borders.push_back(each.base.value());
    borders.push_back(each.base.value() + each.bytes);
  }
  std::ranges::sort(borders);
  std::vector<AddressMap::Extent> pieces;
  for (std::size_t i = 1; i < borders.size(); ++i) {
    const std::uint64_t base = borders[i - 1];
    const auto within = [&](const AddressMap::Extent& each) {
      return each.base.value() <= base && base < each.base.value() + each.bytes;
    };
    if (base < borders[i] && std::ranges::any_of(extents, within))
      pieces.push_back({Address{base}, borders[i] - base});
  }
  return pieces;
}

/// What a line of data takes from one device to another, unloaded, by the first of the ways that there are.
Time time_between(const System& system, NodeId from, NodeId to) {
  const Topology& topology = system.topology();
  Time sum;
  for (std::uint32_t at = from.index(), hops = 0; at != to.index() && hops < topology.size(); ++hops) {
    const auto ports = ports_towards(system, at, to.index());
    if (ports.empty()) return Time::max();
    const auto all = topology.hops(at);
    const auto hop = std::ranges::find(all, ports.front(), &Topology::Hop::port);
    sum += hop->crossing.latency + hop->crossing.serialization;
    at = hop->to;
    if (at != to.index()) sum += topology.node(at).transit;
  }
  return sum;
}

}  // namespace

std::vector<NumaNode> WorkloadBuilder::nodes_of(const std::string& device) const {
  const NodeId from = system_.component(device).id();
  return numa_nodes(
      map_, device, page_, [&](NodeId memory) { return time_between(system_, from, memory); },
      extents_ever(device));
}

Extents WorkloadBuilder::extents_ever(const std::string& device) const {
  const NodeId node = system_.component(device).id();
  return [this, device, now = extents_now(system_, node)](NodeId memory) {
    auto ever = now(memory);
    if (!ever) return ever;
    for (const EventParams& event : events_) {
      if (event.add_extent && event.add_extent->host == device &&
          system_.components()[memory.index()]->name() == event.add_extent->device)
        ever->push_back({event.add_extent->base, event.add_extent->size.count()});
    }
    return std::optional(pieces_of(*ever));
  };
}

std::vector<std::vector<bool>> WorkloadBuilder::offered(const Placed& placed) const {
  const NodeId device = system_.component(placed.workload->device).id();
  std::vector<std::vector<bool>> offered;
  for (const NumaNode& node : placed.nodes) offered.push_back(offered_parts(system_, device, node, page_));
  return offered;
}

std::shared_ptr<const Tiering> WorkloadBuilder::make_tiering(const Placed& placed) const {
  const WorkloadParams& params = placed.workload->params;
  return with_path("tiering", [&] {
    if (placed.nodes.size() < 2) {
      throw InputError({"there is no other node for its pages to go to",
                        placed.nodes.empty() ? "no node" : "'" + placed.nodes.front().name() + "' alone",
                        "an address_map with two memories for '" + placed.workload->device + "', or more",
                        {},
                        InputError::Kind::kBetween});
    }
    TieringContext context{placed.nodes, page_};
    return std::make_shared<const Tiering>(
        Tiering{registry_.tiering.make(*params.tiering, context), params.kernel, placed.nodes, page_});
  });
}

}  // namespace cxloom
