// The cheapest flow through a network, by the network simplex of LEMON (https://lemon.cs.elte.hu), the
// algorithm of SPEC's mcf: a search of all arcs for one that would make the flow cheaper, then a walk up a
// tree of nodes.
//
//   simplex [NODES [ARCS [SEED]]]
//
// The region of interest is the simplex itself, without the making of the network.
#include <lemon/network_simplex.h>
#include <lemon/smart_graph.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include <cxloom/roi.h>

namespace {

std::uint64_t next_random(std::uint64_t& state) {
  state = state * 6364136223846793005U + 1442695040888963407U;
  return state >> 33U;
}

}  // namespace

int main(int argc, char** argv) {
  const auto argument = [&](int i, int unset) { return i < argc ? std::atoi(argv[i]) : unset; };
  const int count = argument(1, 4000);
  const int arcs = argument(2, 60000);
  auto state = static_cast<std::uint64_t>(argument(3, 1));
  if (count < 2 || arcs < 1) return std::fprintf(stderr, "simplex: NODES from 2, ARCS from 1\n"), 2;
  const auto below = [&](int bound) {
    return static_cast<int>(next_random(state) % static_cast<unsigned>(bound));
  };

  lemon::SmartDigraph network;
  network.reserveNode(count);
  network.reserveArc(arcs + count);
  for (int i = 0; i < count; ++i) network.addNode();
  lemon::SmartDigraph::ArcMap<int> cost(network);
  lemon::SmartDigraph::ArcMap<int> capacity(network);
  lemon::SmartDigraph::NodeMap<int> supply(network, 0);
  for (int i = 0; i < arcs; ++i) {
    const auto from = network.nodeFromId(below(count));
    const auto arc = network.addArc(from, network.nodeFromId(below(count)));
    cost[arc] = 1 + below(1000);
    capacity[arc] = 1 + below(50);
  }
  for (int i = 0; i < count; ++i) {  // a dear way round, which always has room
    const auto arc = network.addArc(network.nodeFromId(i), network.nodeFromId((i + 1) % count));
    cost[arc] = 100000;
    capacity[arc] = 1 << 20;
    const int given = below(20);
    supply[network.nodeFromId(i)] += given;
    supply[network.nodeFromId(below(count))] -= given;
  }

  using Simplex = lemon::NetworkSimplex<lemon::SmartDigraph, int, int>;
  Simplex simplex(network);
  simplex.costMap(cost).upperMap(capacity).supplyMap(supply);
  cxloom_roi_begin();
  const auto found = simplex.run();
  cxloom_roi_end();

  // Optimal if and only if no arc with room would make it cheaper, at the potentials of its nodes.
  long wrong = found == Simplex::OPTIMAL ? 0 : 1;
  for (lemon::SmartDigraph::ArcIt arc(network); wrong == 0 && arc != lemon::INVALID; ++arc) {
    const long reduced =
        cost[arc] + simplex.potential(network.source(arc)) - simplex.potential(network.target(arc));
    if ((reduced < 0 && simplex.flow(arc) < capacity[arc]) || (reduced > 0 && simplex.flow(arc) > 0)) ++wrong;
  }
  std::printf("simplex: cost of the flow: %lld%s\n", static_cast<long long>(simplex.totalCost<long long>()),
              wrong ? ", which is wrong" : "");
  return wrong ? 1 : 0;
}
