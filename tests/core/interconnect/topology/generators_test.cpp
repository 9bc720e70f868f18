#include "interconnect/topology/generators.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/support/errors.hpp"

namespace cxloom {
namespace {

using test::input_error;

/// A generated system as a graph of names.
struct Graph {
  explicit Graph(const std::string& kind, Value::Map params) {
    TopologyRegistry topologies("topology");
    register_topologies(topologies);
    TopologyContext context;
    const auto topology = topologies.make({kind, Value(std::move(params))}, context);
    Value::List all;
    for (std::size_t i = 0; i < topology->link_count(); ++i) all.push_back(topology->link(i));
    spec = Value::Map{{"devices", topology->devices()},
                      {"links", std::move(all)},
                      {"address_map", topology->address_map()}};
    for (const auto& [name, device] : *spec.find("devices")->as_map())
      kinds[name] = *device.find("kind")->as_text();
    for (const Value& link : *spec.find("links")->as_list()) {
      const Value::List& ends = *link.find("between")->as_list();
      const std::string& a = *ends[0].as_text();
      const std::string& b = *ends[1].as_text();
      EXPECT_TRUE(kinds.contains(a) && kinds.contains(b)) << a << " " << b;
      EXPECT_NE(a, b);
      if (!links.emplace(std::min(a, b), std::max(a, b)).second) ++doubles;
      near[a].push_back(b);
      near[b].push_back(a);
    }
  }
  std::size_t count(const std::string& kind) const {
    return static_cast<std::size_t>(
        std::count_if(kinds.begin(), kinds.end(), [&](const auto& each) { return each.second == kind; }));
  }
  /// Links of a switch to other switches.
  std::size_t degree(const std::string& name) const {
    const auto& all = near.at(name);
    return static_cast<std::size_t>(std::count_if(
        all.begin(), all.end(), [&](const auto& other) { return kinds.at(other) == "switch"; }));
  }
  /// Links from one device or switch to each other: the largest, and the number of pairs of switches that are
  /// so far apart.
  std::pair<std::size_t, std::size_t> diameter() const {
    std::pair<std::size_t, std::size_t> most{0, 0};
    for (const auto& [name, kind] : kinds) {
      if (kind != "switch") continue;
      std::map<std::string, std::size_t> distance{{name, 0}};
      std::vector<std::string> reached{name};
      for (std::size_t i = 0; i < reached.size(); ++i) {
        for (const std::string& next : near.at(reached[i])) {
          if (kinds.at(next) != "switch" || !distance.emplace(next, distance[reached[i]] + 1).second)
            continue;
          reached.push_back(next);
        }
      }
      for (const auto& [other, links_between] : distance) {
        if (links_between > most.first) most = {links_between, 0};
        if (links_between == most.first) ++most.second;
      }
    }
    return most;
  }
  std::size_t switch_links() const {
    return static_cast<std::size_t>(std::count_if(links.begin(), links.end(), [&](const auto& link) {
      return kinds.at(link.first) == "switch" && kinds.at(link.second) == "switch";
    }));
  }
  bool connected() const {
    std::set<std::string> reached{kinds.begin()->first};
    std::vector<std::string> frontier{kinds.begin()->first};
    while (!frontier.empty()) {
      const std::string at = frontier.back();
      frontier.pop_back();
      if (!near.contains(at)) continue;
      for (const std::string& next : near.at(at)) {
        if (reached.insert(next).second) frontier.push_back(next);
      }
    }
    return reached.size() == kinds.size();
  }
  std::string switch_of(const std::string& device) const { return near.at(device).at(0); }

  Value spec;
  std::map<std::string, std::string> kinds;
  std::set<std::pair<std::string, std::string>> links;
  std::size_t doubles = 0;  // further links between two that are linked already
  std::map<std::string, std::vector<std::string>> near;
};

TEST(Generators, ChainAndRing) {
  for (const int n : {4, 6, 16}) {
    const Graph chain("chain", {{"switches", n}});
    EXPECT_EQ(chain.doubles, 0U);
    EXPECT_EQ(chain.switch_links(), static_cast<std::size_t>(n - 1));
    EXPECT_EQ(chain.degree("sw0"), 1U);
    EXPECT_EQ(chain.degree("sw1"), 2U);
    const Graph ring("ring", {{"switches", n}});
    EXPECT_EQ(ring.switch_links(), static_cast<std::size_t>(n));
    for (int i = 0; i < n; ++i) EXPECT_EQ(ring.degree("sw" + std::to_string(i)), 2U);
    EXPECT_TRUE(chain.connected() && ring.connected());
  }
  EXPECT_EQ(input_error([] { Graph("ring", {{"switches", 2}}); }).path(), "switches");
}

TEST(Generators, SplitAndPairedPlacement) {
  const Graph split("chain", {{"switches", 6}});
  EXPECT_EQ(split.count("host"), 3U);
  EXPECT_EQ(split.count("memory"), 3U);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(split.switch_of("host" + std::to_string(i)), "sw" + std::to_string(i));
    EXPECT_EQ(split.switch_of("mem" + std::to_string(i)), "sw" + std::to_string(3 + i));
  }
  const Graph paired("chain", {{"switches", 5}, {"placement", "paired"}});
  EXPECT_EQ(paired.count("host"), 5U);
  EXPECT_EQ(paired.count("memory"), 5U);
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(paired.switch_of("host" + std::to_string(i)), "sw" + std::to_string(i));
    EXPECT_EQ(paired.switch_of("mem" + std::to_string(i)), "sw" + std::to_string(i));
  }
  EXPECT_THROW(Graph("chain", {{"switches", 5}}), InputError);  // split needs an even number
}

TEST(Generators, FullyConnected) {
  const Graph graph("fully-connected", {{"switches", 6}});
  EXPECT_EQ(graph.switch_links(), 15U);
  for (int i = 0; i < 6; ++i) EXPECT_EQ(graph.degree("sw" + std::to_string(i)), 5U);
}

TEST(Generators, SpineLeaf) {
  const Graph graph("spine-leaf", {{"leaves", 4}, {"spines", 3}, {"devices_per_leaf", 2}});
  EXPECT_EQ(graph.switch_links(), 12U);
  EXPECT_EQ(graph.degree("spine0"), 4U);
  EXPECT_EQ(graph.degree("leaf3"), 3U);
  EXPECT_EQ(graph.count("host"), 4U);
  EXPECT_EQ(graph.switch_of("host3"), "leaf1");
  EXPECT_EQ(graph.switch_of("mem0"), "leaf2");
  const Graph paired("spine-leaf",
                     {{"leaves", 3}, {"spines", 1}, {"devices_per_leaf", 2}, {"placement", "paired"}});
  EXPECT_EQ(paired.count("host"), 3U);
  EXPECT_EQ(paired.count("memory"), 3U);
  EXPECT_THROW(
      Graph("spine-leaf", {{"leaves", 3}, {"spines", 1}, {"devices_per_leaf", 1}, {"placement", "paired"}}),
      InputError);
}

TEST(Generators, TreesHaveTheirRootDegreeAndFanOut) {
  for (const int leaves : {2, 4, 6, 8, 10, 32, 64}) {
    for (const int fan_out : {2, 3, 4}) {
      for (const int root_degree : {2, 4}) {
        const Graph graph("tree", {{"leaves", leaves}, {"fan_out", fan_out}, {"root_degree", root_degree}});
        EXPECT_TRUE(graph.connected());
        EXPECT_EQ(graph.switch_links(), graph.count("switch") - 1);  // a tree
        const std::string root = "sw" + std::to_string(graph.count("switch") - 1);
        EXPECT_EQ(graph.degree(root), static_cast<std::size_t>(std::min(leaves, root_degree)));
        for (const auto& [name, kind] : graph.kinds) {
          if (kind != "switch" || name == root) continue;
          EXPECT_LE(graph.degree(name), static_cast<std::size_t>(fan_out) + 1);  // children, and one up
        }
      }
    }
  }
  EXPECT_EQ(Graph("tree", {{"leaves", 1}, {"placement", "paired"}}).count("switch"), 1U);
}

TEST(Generators, MeshesAndTori) {
  const Graph mesh("mesh", {{"size", Value::List{4, 3}}});
  EXPECT_EQ(mesh.count("switch"), 12U);
  EXPECT_EQ(mesh.switch_links(), 3U * 3 + 4 * 2);
  EXPECT_EQ(mesh.degree("sw0"), 2U);
  EXPECT_EQ(mesh.degree("sw4"), 4U);  // (1, 1)
  const Graph torus("torus", {{"size", Value::List{4, 3}}});
  EXPECT_EQ(torus.switch_links(), 24U);
  for (int i = 0; i < 12; ++i) EXPECT_EQ(torus.degree("sw" + std::to_string(i)), 4U);
  const Graph cube("torus", {{"size", Value::List{3, 3, 4}}});
  for (int i = 0; i < 36; ++i) EXPECT_EQ(cube.degree("sw" + std::to_string(i)), 6U);
  EXPECT_EQ(cube.switch_links(), 36U * 3);
  EXPECT_TRUE(mesh.connected() && torus.connected() && cube.connected());
}

TEST(Generators, ATorusTwoWideHasNoDoubleLinks) {
  const Graph torus("torus", {{"size", Value::List{2, 4}}});
  EXPECT_EQ(torus.doubles, 0U);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(torus.degree("sw" + std::to_string(i)), 3U);
  const Graph thin("torus", {{"size", Value::List{1, 4}}});
  for (int i = 0; i < 4; ++i) EXPECT_EQ(thin.degree("sw" + std::to_string(i)), 2U);
  EXPECT_THROW(Graph("torus", {{"size", Value::List{4}}}), InputError);
  EXPECT_THROW(Graph("torus", {{"size", Value::List{0, 4}}}), InputError);
  EXPECT_THROW(Graph("torus", {{"size", Value::List{70000, 70000}}}), InputError);
}

TEST(Generators, OneSwitchJoinsAsManyDevicesAsAreAskedFor) {
  const Graph graph("switch", {{"requesters", 3}, {"memories", 5}});
  EXPECT_EQ(graph.count("switch"), 1U);
  EXPECT_EQ(graph.count("host"), 3U);
  EXPECT_EQ(graph.count("memory"), 5U);
  EXPECT_EQ(graph.near.at("sw0").size(), 8U);
  EXPECT_EQ(graph.switch_links(), 0U);
  const Graph least("switch", {});
  EXPECT_EQ(least.near.at("sw0").size(), 2U);
  EXPECT_EQ(input_error([] { Graph("switch", {{"requesters", 0}}); }).path(), "requesters");
  EXPECT_EQ(input_error([] { Graph("switch", {{"placement", "paired"}}); }).path(), "placement");
}

TEST(Generators, HypercubesHaveOneWayInEachDimension) {
  for (int n = 1; n <= 8; ++n) {
    const Graph cube("hypercube", {{"dimensions", n}});
    const std::size_t count = std::size_t{1} << n;
    EXPECT_EQ(cube.count("switch"), count);
    EXPECT_EQ(cube.switch_links(), count * n / 2);
    for (const auto& [name, kind] : cube.kinds) {
      if (kind == "switch") {
        EXPECT_EQ(cube.degree(name), static_cast<std::size_t>(n));
      }
    }
    EXPECT_EQ(cube.diameter(), std::pair(static_cast<std::size_t>(n), count));  // each has one opposite
    EXPECT_EQ(cube.count("host") + cube.count("memory"), count);
  }
  EXPECT_EQ(input_error([] { Graph("hypercube", {{"dimensions", 16}}); }).path(), "dimensions");
}

TEST(Generators, FatTreesHaveAsManyPortsUpAsDown) {
  for (const std::size_t ports : {2U, 4U, 6U, 8U}) {
    for (std::size_t levels = 2; levels <= 4; ++levels) {
      const Graph tree("fat-tree", {{"ports", static_cast<std::int64_t>(ports)},
                                    {"levels", static_cast<std::int64_t>(levels)}});
      std::size_t width = 1;
      for (std::size_t level = 1; level < levels; ++level) width *= ports / 2;
      EXPECT_EQ(tree.count("switch"), (2 * levels - 1) * width) << ports << " " << levels;
      EXPECT_EQ(tree.count("host") + tree.count("memory"), width * ports);
      EXPECT_EQ(tree.switch_links(), (levels - 1) * width * ports);  // each level as many as devices
      EXPECT_EQ(tree.doubles, 0U);
      EXPECT_TRUE(tree.connected());
      for (const auto& [name, near] : tree.near) {
        if (tree.kinds.at(name) == "switch") {
          EXPECT_EQ(near.size(), ports) << name;
        }
      }
      EXPECT_EQ(tree.diameter().first, 2 * (levels - 1));
    }
  }
  const Graph one("fat-tree", {{"ports", 6}, {"levels", 1}, {"placement", "paired"}});
  EXPECT_EQ(one.count("switch"), 1U);
  EXPECT_EQ(one.count("host"), 3U);
  EXPECT_THROW(Graph("fat-tree", {{"ports", 5}}), InputError);
  EXPECT_THROW(Graph("fat-tree", {{"ports", 6}, {"placement", "paired"}}), InputError);
  EXPECT_THROW(Graph("fat-tree", {{"ports", 6}, {"levels", 1}}), InputError);
  EXPECT_THROW(Graph("fat-tree", {{"ports", 64}, {"levels", 5}}), InputError);
}

// Two devices that are not in one subtree of a fat tree have half^2 shortest ways between them with three
// levels.
TEST(Generators, AFatTreeHasManyWays) {
  const Graph tree("fat-tree", {{"ports", 8}, {"levels", 3}});
  const std::string from = "sw0";
  const std::string to = "sw31";
  std::size_t ways = 0;
  for (const std::string& up : tree.near.at(from)) {
    if (tree.kinds.at(up) != "switch") continue;
    for (const std::string& top : tree.near.at(up)) {
      for (const std::string& down : tree.near.at(top)) {
        const auto& last = tree.near.at(down);
        if (down != up) ways += static_cast<std::size_t>(std::count(last.begin(), last.end(), to));
      }
    }
  }
  EXPECT_EQ(ways, 16U);
}

TEST(Generators, DragonfliesLinkAllGroups) {
  for (const std::size_t a : {1U, 2U, 4U}) {
    for (const std::size_t h : {1U, 2U, 3U}) {
      const auto signed_a = static_cast<std::int64_t>(a);
      const auto signed_h = static_cast<std::int64_t>(h);
      for (std::size_t g = 2; g <= a * h + 1; ++g) {
        const Graph dragonfly("dragonfly", {{"switches_per_group", signed_a},
                                            {"global_links", signed_h},
                                            {"devices_per_switch", 2},
                                            {"placement", "paired"},
                                            {"groups", static_cast<std::int64_t>(g)}});
        EXPECT_EQ(dragonfly.count("switch"), a * g);
        EXPECT_EQ(dragonfly.count("host"), a * g);
        // Between each two groups as many links as all pairs can have, and no switch has more ports than it
        // has.
        std::map<std::pair<std::size_t, std::size_t>, std::size_t> between;
        for (const auto& [name, near] : dragonfly.near) {
          if (dragonfly.kinds.at(name) != "switch") continue;
          const std::size_t group = std::stoul(name.substr(2)) / a;
          std::size_t global = 0;
          for (const std::string& other : near) {
            if (dragonfly.kinds.at(other) != "switch" || std::stoul(other.substr(2)) / a == group) continue;
            ++global;
            ++between[{group, std::stoul(other.substr(2)) / a}];
          }
          EXPECT_LE(global, h);
        }
        EXPECT_EQ(between.size(), g * (g - 1));
        for (const auto& [pair, count] : between) EXPECT_EQ(count, a * h / (g - 1)) << a << h << g;
        EXPECT_LE(dragonfly.diameter().first, 3U);
      }
    }
  }
  const Graph whole("dragonfly", {{"switches_per_group", 4}, {"global_links", 2}, {"devices_per_switch", 2}});
  EXPECT_EQ(whole.count("switch"), 36U);
  for (const auto& [name, kind] : whole.kinds) {
    if (kind == "switch") {
      EXPECT_EQ(whole.degree(name), 5U);
    }  // three in its group, two out of it
  }
  EXPECT_EQ(whole.diameter().first, 3U);
  EXPECT_THROW(
      Graph("dragonfly",
            {{"switches_per_group", 2}, {"global_links", 1}, {"devices_per_switch", 1}, {"groups", 4}}),
      InputError);
}

TEST(Generators, PassOnWhatIsPutInTheirPlaces) {
  const Graph graph("chain", {{"switches", 2},
                              {"requester", Value::Map{{"kind", "accelerator"}, {"queue", 5}}},
                              {"switch", Value::Map{{"kind", "switch"}, {"switching_time", "1ns"}}},
                              {"link", Value::Map{{"bandwidth", "64GB/s"}}},
                              {"edge_link", Value::Map{{"delay", "2ns"}}}});
  EXPECT_EQ(graph.kinds.at("host0"), "accelerator");
  EXPECT_EQ(*graph.spec.find("devices")->find("host0")->find("queue")->as_integer(), 5);
  EXPECT_EQ(*graph.spec.find("devices")->find("sw1")->find("switching_time")->as_text(), "1ns");
  EXPECT_EQ(*(*graph.spec.find("links")->as_list())[0].find("bandwidth")->as_text(), "64GB/s");
  EXPECT_EQ(*(*graph.spec.find("links")->as_list())[1].find("delay")->as_text(), "2ns");
  const Value& region = (*graph.spec.find("address_map")->as_list())[0];
  EXPECT_EQ(region.find("to")->as_list()->size(), 1U);
  EXPECT_EQ(region.find("policy"), nullptr);  // one way is a CXL decoder's
  EXPECT_NE((*Graph("chain", {{"switches", 10}}).spec.find("address_map")->as_list())[0].find("policy"),
            nullptr);  // 5 ways are not
}

}  // namespace
}  // namespace cxloom
