#include "system/run/time_left.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <queue>

#include "device/switch/persist_domain.hpp"
#include "memory/memory_owner.hpp"
#include "protocol/request.hpp"
#include "system/model/system.hpp"

namespace cxloom {

TimeLeft::TimeLeft(const System& system)
    : system_(system),
      unknown_(!system.roles().all<PersistDomain>().empty() || system.route_epochs().size() > 1),
      serves_whole_(!system.address_map().has_coherent()) {}

// A request that is still on its way to its device has all of the way back before it, and what it has not
// been charged for.
Time TimeLeft::of(const Request& request) {
  const Message& message = request.message;
  const std::size_t nodes = system_.components().size();
  if (unknown_ || message.destination.index() >= nodes) return Time{};
  const NodeId self = request.requester();
  if (message.destination == self) {  // an answer; it has crossed the links of its way there at least
    if (message.source.index() >= nodes || message.source == self) return Time{};
    const std::size_t there = way(self, message.source).size() - 1;
    return after(way(message.source, self), message.hops > there ? message.hops - there : 0);
  }
  Time left = way(message.destination, self).front();
  if (!serves_whole_) return left;
  left += after(way(self, message.destination), message.hops);
  if (const MemoryOwner* const memory = system_.roles().of<MemoryOwner>(message.destination)) {
    const Time served = request.account.of(Segment::kController) + request.account.of(Segment::kMedia);
    left += std::max(memory->least_time() - served, Time{});
  }
  return left;
}

Time TimeLeft::of_any(NodeId requester) {
  const auto found = least_.find(requester);
  if (found != least_.end()) return found->second;
  Time least = unknown_ ? Time{} : Time::max();
  for (const NodeId memory : system_.address_map_of(requester).targets()) {
    if (unknown_) break;
    if (!serves_whole_ || memory == requester) least = Time{};
    least = std::min(least, way(requester, memory).front() + way(memory, requester).front());
  }
  return least_[requester] = least;
}

const TimeLeft::Way& TimeLeft::way(NodeId from, NodeId to) {
  const auto [found, made] = ways_.try_emplace({from, to});
  Way& way = found->second;
  if (!made) return way;
  const std::vector<Time> times = times_to(to);
  const std::vector<std::uint32_t> links = links_from(from);
  // After so many links it is at a node that is no more of them away.
  for (std::uint32_t crossed = 0; way.empty() || crossed <= links[to.index()]; ++crossed) {
    Time least = Time::max();
    for (std::uint32_t node = 0; node < times.size(); ++node) {
      if (links[node] > crossed) continue;
      least = std::min(least, times[node]);
    }
    way.push_back(least == Time::max() ? Time{} : least);
    if (links[to.index()] == std::numeric_limits<std::uint32_t>::max()) break;
  }
  return way;
}

std::vector<Time> TimeLeft::times_to(NodeId to) const {
  const Topology& topology = system_.topology();
  std::vector<Time> times(system_.components().size(), Time::max());
  using Place = std::pair<Time, std::uint32_t>;
  std::priority_queue<Place, std::vector<Place>, std::greater<>> next;
  times[to.index()] = Time{};
  next.emplace(Time{}, to.index());
  while (!next.empty()) {
    const auto [time, node] = next.top();
    next.pop();
    if (time > times[node]) continue;
    // Links lead both ways; what a node takes is spent where a message passes it. The account of one that is
    // there may have been charged for that already.
    const Time here = time + (node == to.index() ? Time{} : topology.node(node).transit);
    for (const Topology::Hop& hop : topology.hops(node)) {
      const Time back = topology.hops(hop.to)[hop.far_port].crossing.latency;
      if (here + back >= times[hop.to]) continue;
      times[hop.to] = here + back;
      next.emplace(times[hop.to], hop.to);
    }
  }
  return times;
}

std::vector<std::uint32_t> TimeLeft::links_from(NodeId from) const {
  const Topology& topology = system_.topology();
  std::vector<std::uint32_t> links(system_.components().size(), std::numeric_limits<std::uint32_t>::max());
  std::vector<std::uint32_t> next{from.index()};
  links[from.index()] = 0;
  for (std::size_t i = 0; i < next.size(); ++i) {
    for (const Topology::Hop& hop : topology.hops(next[i])) {
      if (links[hop.to] <= links[next[i]] + 1) continue;
      links[hop.to] = links[next[i]] + 1;
      next.push_back(hop.to);
    }
  }
  return links;
}

}  // namespace cxloom
