#include "system/run/expected_traffic.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "component/component.hpp"
#include "device/requester/requester.hpp"
#include "interconnect/routing/routing.hpp"
#include "memory/memory_owner.hpp"
#include "protocol/message.hpp"
#include "system/model/system.hpp"
#include "system/spec/spec.hpp"

namespace cxloom {

namespace {

// Requests that are followed: it takes some milliseconds.
constexpr std::size_t kMostFollowed = 16'384;

/// Follows messages, and counts them where they come by.
class Followed {
 public:
  explicit Followed(const System& system)
      : system_(system),
        traffic_{std::vector<NodeLoad>(system.components().size()),
                 std::vector<double>(system.topology().link_count(), 0.0)} {}

  void is(std::uint32_t node, NodeLoad::Kind kind) { traffic_.of_node[node].kind = kind; }
  void message(std::uint32_t from, std::uint32_t to);
  ExpectedTraffic take() { return std::move(traffic_); }

 private:
  const System& system_;
  ExpectedTraffic traffic_;
};

// Where each message chooses anew, a draw stands for its choice.
void Followed::message(std::uint32_t from, std::uint32_t to) {
  static constexpr std::uint16_t kOnly = 0;  // a device with one port needs no route
  const Topology& topology = system_.topology();
  Message message;
  message.source = NodeId{from};
  message.destination = NodeId{to};
  std::uint32_t node = from;
  for (std::size_t hops = 0; node != to && hops <= topology.size(); ++hops) {
    const auto ways = topology.hops(node).size() == 1
                          ? std::span(&kOnly, 1)
                          : system_.router().ways(system_.routes(), node, message);
    if (ways.empty()) return;
    const std::uint64_t drawn = mix_bits(mix_bits(std::uint64_t{from} << 32U | to) + node);
    const Topology::Hop& hop = topology.hops(node)[ways[drawn % ways.size()]];
    traffic_.of_node[node].messages += 1.0;
    traffic_.of_link[hop.link] += 1.0;
    node = hop.to;
  }
  traffic_.of_node[to].messages += 1.0;
}

/// Requesters with a workload, and those of copies and kernels, by node. What names an object is no
/// requester.
std::vector<std::uint32_t> requesters_of(const System& system, const Spec& spec) {
  std::set<std::string> names;
  for (const Spec::Workload& workload : spec.workloads) names.insert(workload.device);
  for (const TaskParams& task : spec.tasks.graph) {
    if (task.kind == TaskKind::kCompute) continue;
    for (const std::optional<std::string>* const place : {&task.on, &task.from, &task.to}) {
      if (*place) names.insert(**place);
    }
  }
  std::vector<std::uint32_t> requesters;
  for (const auto& [component, requester] : system.roles().all<Requester>()) {
    if (names.contains(component->name())) requesters.push_back(component->id().index());
  }
  return requesters;
}

}  // namespace

ExpectedTraffic expected_traffic(const System& system, const Spec& spec) {
  Followed followed(system);
  std::vector<std::uint32_t> memories;
  for (const auto& [component, owner] : system.roles().all<MemoryOwner>()) {
    memories.push_back(component->id().index());
    followed.is(memories.back(), NodeLoad::Kind::kMemory);
  }
  const std::vector<std::uint32_t> requesters = requesters_of(system, spec);
  const std::size_t pairs = memories.size() * requesters.size();
  const std::size_t step = (pairs + kMostFollowed - 1) / kMostFollowed;
  for (const std::uint32_t from : requesters) {
    followed.is(from, NodeLoad::Kind::kRequester);
    for (std::size_t i = mix_bits(from) % std::max<std::size_t>(step, 1); i < memories.size(); i += step) {
      followed.message(from, memories[i]);
      followed.message(memories[i], from);
    }
  }
  return followed.take();
}

}  // namespace cxloom
