#include "system/build/given_routes.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/error.hpp"
#include "system/deadlock/check.hpp"

namespace cxloom {
namespace {

std::string item(const char* key, std::size_t i) { return std::string(key) + "[" + std::to_string(i) + "]"; }

/// All ports of the route's node to a neighbour.
void add_ports(const Topology& topology, const std::string& name, std::uint32_t neighbour,
               GivenRoute& route) {
  std::vector<std::string> possible;
  const std::size_t before = route.ports.size();
  for (const Topology::Hop& hop : topology.hops(route.node)) {
    if (hop.to != route.destination && !topology.node(hop.to).forwards) continue;
    possible.push_back(topology.node(hop.to).name);
    if (hop.to == neighbour) route.ports.push_back(hop.port);
  }
  if (route.ports.size() != before) return;
  throw InputError({"no neighbour that passes the message on", "'" + name + "'", list_names(possible),
                    nearest_name(name, possible)});
}

/// The route to one destination, without ports.
GivenRoute route_to(std::uint32_t destination, std::uint32_t node, const Topology& topology,
                    const std::vector<GivenRoute>& known) {
  const std::string pair = "'" + topology.node(node).name + "' to '" + topology.node(destination).name + "'";
  if (std::ranges::any_of(known, [&](const GivenRoute& other) {
        return other.node == node && other.destination == destination;
      })) {
    throw InputError({"a second entry for the same way", pair, "one entry with all neighbours in `by`", {}});
  }
  const bool hangs_here = topology.is_leaf(destination) && topology.hops(destination)[0].to == node;
  if (destination == node || hangs_here)
    throw InputError({"a way that leaves no choice", pair, "a destination further away", {}});
  return {node, destination, {}};
}

void read_entry(const RouteParams& entry, const Topology& topology,
                const std::function<NodeId(const std::string&)>& find, std::vector<GivenRoute>& routes) {
  const std::uint32_t node = with_path("at", [&] { return find(entry.at); }).index();
  if (topology.is_leaf(node)) {
    throw InputError({"a device with one link, which has no choice",
                      "'" + entry.at + "'",
                      "a switch, a bus or a device with several links",
                      {}},
                     "at");
  }
  for (std::size_t i = 0; i < entry.to.size(); ++i) {
    GivenRoute route =
        with_path(item("to", i), [&] { return route_to(find(entry.to[i]).index(), node, topology, routes); });
    for (std::size_t j = 0; j < entry.by.size(); ++j)
      with_path(item("by", j), [&] { add_ports(topology, entry.by[j], find(entry.by[j]).index(), route); });
    std::ranges::sort(route.ports);
    const auto twice = std::ranges::unique(route.ports);
    route.ports.erase(twice.begin(), twice.end());
    routes.push_back(std::move(route));
  }
}

}  // namespace

std::vector<GivenRoute> read_given_routes(const std::vector<RouteParams>& entries, const Topology& topology,
                                          const std::function<NodeId(const std::string&)>& find) {
  std::vector<GivenRoute> routes;
  for (std::size_t i = 0; i < entries.size(); ++i)
    with_path(item("run.routes", i), [&] { read_entry(entries[i], topology, find, routes); });
  return routes;
}

void check_given_routes(const std::vector<RouteParams>& entries, const System& system) {
  if (entries.empty()) return;
  const DeadlockCheck check = check_deadlock(system);
  if (!check.possible()) return;
  std::string circle;
  for (const std::string& channel : check.circle) circle += (circle.empty() ? "" : ", ") + channel;
  const std::string since =
      check.from ? ", from " + to_text(check.from->at) + " on (" + check.from->cause + ")" : "";
  throw InputError({"a routing table with which messages may block each other for ever" + since,
                    circle,
                    "routes whose buffers do not wait for each other in a circle, or more virtual_channels",
                    {}},
                   "run.routes");
}

}  // namespace cxloom
