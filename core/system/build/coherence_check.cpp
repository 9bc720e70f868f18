#include "system/build/coherence_check.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "device/requester/requester.hpp"
#include "interconnect/routing/routing.hpp"
#include "interconnect/wire/link_params.hpp"
#include "system/model/system.hpp"

namespace cxloom {

namespace {

bool has_68b_flits(const LinkParams& params) {
  return params.in_flits() && params.flit_mode() == FlitMode::k68B;
}

bool fails_requests(const LinkParams& params) { return params.outage.at && params.outage.fail; }

// `snoops`: back-invalidate snoops come this way.
void check_link(const System::LinkView& link, bool snoops) {
  if (snoops && has_68b_flits(*link.params)) {
    throw InputError({"68B flits have no back-invalidate snoops, which coherence: hdm-db needs",
                      "link '" + link.name + "' with flit: 68B",
                      "flit: 256B, 256B-lo or 256B-pbr, or a link without a phy",
                      {}},
                     "links");
  }
  if (fails_requests(*link.params)) {
    throw InputError(
        {"a link that fails requests leaves coherent caches without the answers that they wait for",
         "link '" + link.name + "' with outage.fail",
         "fail: false: what comes during the outage waits",
         {}},
        "links");
  }
}

// Every link on a shortest way from one node to another.
void check_ways(const System& system, bool snoops, NodeId sender, NodeId receiver) {
  const std::uint32_t from = sender.index();
  const std::uint32_t to = receiver.index();
  const Topology& topology = system.topology();
  std::vector<bool> seen(topology.size(), false);
  std::vector<std::uint32_t> frontier{from};
  seen[from] = true;
  while (!frontier.empty()) {
    const std::uint32_t node = frontier.back();
    frontier.pop_back();
    if (node == to) continue;
    const auto hops = topology.hops(node);
    static constexpr std::uint16_t kOnly = 0;  // a device with one port needs no route
    const auto ports = hops.size() == 1 ? std::span(&kOnly, 1) : system.routes().next_hops(node, to);
    for (const std::uint16_t port : ports) {
      const Topology::Hop& hop = hops[port];
      check_link(system.links()[hop.link], snoops);
      if (!seen[hop.to]) frontier.push_back(hop.to);
      seen[hop.to] = true;
    }
  }
}

}  // namespace

void check_coherence(const System& system) {
  // The ways of large systems are many, and mostly nothing stands in them.
  if (std::ranges::none_of(system.links(), [](const System::LinkView& link) {
        return has_68b_flits(*link.params) || fails_requests(*link.params);
      }))
    return;
  for (const Coherence coherence : {Coherence::kHdmDb, Coherence::kHdmH, Coherence::kHdmD}) {
    for (const NodeId home : system.address_map().homes(coherence)) {
      for (const auto& [component, requester] : system.roles().all<Requester>()) {
        if (!requester->cache() || component->id() == home ||
            !system.routes().reaches(component->id().index(), home.index()))
          continue;
        check_ways(system, coherence == Coherence::kHdmDb, component->id(), home);
        check_ways(system, coherence == Coherence::kHdmDb, home, component->id());
      }
      for (const NodeId target : system.address_map().targets_of(home)) {
        check_ways(system, false, home, target);
        check_ways(system, false, target, home);
      }
    }
  }
}

}  // namespace cxloom
