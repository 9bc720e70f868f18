#include "results/task_links.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "component/dma_initiator.hpp"
#include "component/transfer_engine.hpp"
#include "interconnect/link/end.hpp"
#include "system/model/system.hpp"
#include "system/tasks/task_player.hpp"

namespace cxloom {

namespace {

using BytesByObject = std::map<std::string, std::uint64_t>;

/// A sum of bytes between two nodes, of an object.
using Flow = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;  // from, to, object

class LinkUse {
 public:
  explicit LinkUse(const System& system) : system_(system) {}

  /// Where several ways are as short, each has an equal part.
  void add(std::uint32_t from, std::uint32_t to, const std::string& object, std::uint64_t bytes) {
    if (from == to || bytes == 0) return;
    constexpr std::uint16_t kOnly = 0;
    const std::span<const std::uint16_t> only(&kOnly, 1);
    const auto ports = system_.topology().is_leaf(from) ? only : system_.routes().next_hops(from, to);
    for (std::size_t i = 0; i < ports.size(); ++i) {
      const std::uint64_t part = bytes * (i + 1) / ports.size() - bytes * i / ports.size();
      const Topology::Hop& hop = system_.topology().hops(from)[ports[i]];
      const System::LinkView& link = system_.links()[hop.link];
      const std::string forward = name(from) + "->" + name(hop.to);
      const LinkEnd& end = std::string(link.forward->name()) == forward ? *link.forward : *link.backward;
      use_[link.way(end)][object] += part;
      add(hop.to, to, object, part);
    }
  }
  Value taken() const {
    Value::Map all;
    for (const auto& [way, objects] : use_) {
      Value::Map by_object;
      for (const auto& [object, bytes] : objects) by_object.emplace_back(object, number(bytes));
      all.emplace_back(way, std::move(by_object));
    }
    return all;
  }

 private:
  const std::string& name(std::uint32_t node) const { return system_.topology().node(node).name; }

  const System& system_;
  std::map<std::string, BytesByObject> use_;
};

/// Where bytes go between a device and a memory, in the order in which they pass: a DMA engine reaches the
/// memories that are no peers of it through its host.
std::vector<std::uint32_t> stations(const System& system, const TaskLane& lane, std::uint32_t device,
                                    NodeId memory) {
  std::vector<std::uint32_t> way{device};
  if (lane.kind == LaneKind::kEngine) {
    const DmaInitiator* const engine = system.roles().of<TransferEngine>(NodeId{device})->dma();
    if (engine && std::ranges::find(engine->peer_nodes(), memory) == engine->peer_nodes().end())
      way.push_back(engine->host_node().index());
  }
  if (way.back() != memory.index()) way.push_back(memory.index());
  return way;
}

}  // namespace

Value use_of_links(const System& system, const TaskPlayer& player) {
  const TaskObjects& objects = player.objects();
  std::map<Flow, std::uint64_t> flows;
  for (std::uint32_t i = 0; i < player.records().size(); ++i) {
    const Task& task = player.graph().tasks()[i];
    if (!player.records()[i].over() || task.ranges.empty()) continue;
    const TaskLane& lane = player.graph().lanes()[task.lane];
    const std::uint32_t device = system.component(lane.device).id().index();
    for (const TaskRange& range : task.ranges) {
      std::vector<std::uint64_t> by_node;
      by_node.assign(objects.nodes(range.object), 0);
      objects.at(range.object).add_bytes(range.offset, range.bytes, by_node);
      for (std::size_t node = 0; node < by_node.size(); ++node) {
        const auto& targets = objects.targets(range.object, node);
        for (std::size_t j = 0; j < targets.size(); ++j) {
          const std::uint64_t part =
              by_node[node] * (j + 1) / targets.size() - by_node[node] * j / targets.size();
          const std::vector<std::uint32_t> way = stations(system, lane, device, targets[j].id);
          for (std::size_t k = 1; k < way.size(); ++k) {
            flows[range.writes ? Flow{way[k - 1], way[k], range.object}
                               : Flow{way[k], way[k - 1], range.object}] += part;
          }
        }
      }
    }
  }
  LinkUse use(system);
  for (const auto& [flow, bytes] : flows)
    use.add(std::get<0>(flow), std::get<1>(flow), objects.at(std::get<2>(flow)).name(), bytes);
  return use.taken();
}

}  // namespace cxloom
