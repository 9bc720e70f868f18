#include "system/work/program_nodes.hpp"

#include <algorithm>
#include <optional>

#include "base/error.hpp"
#include "component/component.hpp"
#include "interconnect/topology/topology.hpp"
#include "system/model/offered_memory.hpp"
#include "system/model/system.hpp"
#include "system/spec/event_params.hpp"
#include "workload/placement/page_placement.hpp"

namespace cxloom {

namespace {

/// The addresses of all extents, cut wherever one of these begins or ends: no pieces overlap.
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

std::string note_on_missing_memory(const std::string& device, const std::string& path,
                                   const std::vector<NumaNode>& nodes, const std::vector<bool>& has_memory,
                                   const PagePlacement& placement) {
  std::vector<std::string> missing;
  for (const std::vector<std::size_t>& of_name : placement.named()) {
    if (std::ranges::any_of(of_name, [&](std::size_t node) { return has_memory[node]; })) continue;
    for (const std::size_t node : of_name) {
      if (std::ranges::find(missing, nodes[node].name()) == missing.end())
        missing.push_back(nodes[node].name());
    }
  }
  if (missing.empty()) return {};
  return "'" + device + "' has no way to, or no extent of its own of, " + list_names(missing) +
         " when the run begins, and " + path + " puts no pages there then";
}

std::vector<NumaNode> ProgramNodes::of(const std::string& device, Bytes page) const {
  const NodeId from = system_.component(device).id();
  return numa_nodes(
      system_.address_map_of(from), device, page,
      [&](NodeId memory) { return time_between(system_, from, memory); }, extents_ever(device));
}

Extents ProgramNodes::extents_ever(const std::string& device) const {
  const NodeId node = system_.component(device).id();
  return [this, device, now = extents_now(system_, node)](NodeId memory) {
    auto ever = now(memory);
    if (!ever) return ever;
    for (const EventParams& event : events_) {
      if (event.add_extent && event.add_extent->host == device && event.add_extent->tag.empty() &&
          system_.components()[memory.index()]->name() == event.add_extent->device)
        ever->push_back({event.add_extent->base, event.add_extent->size.count()});
    }
    return std::optional(pieces_of(*ever));
  };
}

std::vector<std::vector<bool>> ProgramNodes::offered(const std::string& device,
                                                     const std::vector<NumaNode>& nodes, Bytes page) const {
  const NodeId id = system_.component(device).id();
  std::vector<std::vector<bool>> offered;
  for (const NumaNode& node : nodes) offered.push_back(offered_parts(system_, id, node, page));
  return offered;
}

}  // namespace cxloom
