#include "base/digraph.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

#include "base/random.hpp"

namespace cxloom {
namespace {

TEST(Digraph, WithoutEdgesHasNoCircle) {
  EXPECT_TRUE(Digraph(0, {}).circle().empty());
  EXPECT_TRUE(Digraph(3, {}).circle().empty());
}

TEST(Digraph, AVertexThatFollowsItselfIsACircle) {
  EXPECT_EQ(Digraph(3, {{1, 1}}).circle(), std::vector<std::uint32_t>{1});
}

TEST(Digraph, GivesTheCircleInOrder) {
  EXPECT_EQ(Digraph(5, {{4, 3}, {3, 1}, {1, 2}, {2, 3}, {0, 4}}).circle(),
            (std::vector<std::uint32_t>{1, 2, 3}));
}

TEST(Digraph, EdgesThatComeTwiceCountOnce) { EXPECT_EQ(Digraph(2, {{0, 1}, {0, 1}}).edge_count(), 1U); }

TEST(Digraph, AWayOfAHundredThousandVerticesIsNoCircle) {
  std::vector<Digraph::Edge> edges;
  constexpr std::uint32_t kLength = 100'000;
  for (std::uint32_t i = 1; i < kLength; ++i) edges.emplace_back(i - 1, i);
  EXPECT_TRUE(Digraph(kLength, edges).circle().empty());
  edges.emplace_back(kLength - 1, 0);
  EXPECT_EQ(Digraph(kLength, edges).circle().size(), kLength);
}

// Reachability by Warshall's algorithm says which vertices share a component, and whether there is a circle.
TEST(Digraph, OfRandomGraphsComponentsAndCirclesAreThoseOfReachability) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    RandomStream random(seed, "digraph", "test");
    const auto vertices = static_cast<std::uint32_t>(1 + random.below(9));
    std::vector<Digraph::Edge> edges;
    for (std::uint64_t i = random.below(std::uint64_t{2} * vertices); i > 0; --i) {
      edges.emplace_back(random.below(vertices), random.below(vertices));
    }
    std::vector<std::vector<bool>> reaches(vertices, std::vector<bool>(vertices));
    for (const auto& [from, to] : edges) reaches[from][to] = true;
    for (std::uint32_t via = 0; via < vertices; ++via) {
      for (std::uint32_t a = 0; a < vertices; ++a) {
        for (std::uint32_t b = 0; b < vertices; ++b) {
          if (reaches[a][via] && reaches[via][b]) reaches[a][b] = true;
        }
      }
    }
    const Digraph graph(vertices, edges);
    const std::vector<std::uint32_t> component = graph.components();
    bool circular = false;
    for (std::uint32_t a = 0; a < vertices; ++a) {
      circular |= reaches[a][a];
      for (std::uint32_t b = 0; b < vertices; ++b) {
        const bool together = a == b || (reaches[a][b] && reaches[b][a]);
        EXPECT_EQ(component[a] == component[b], together) << seed;
        if (!together && reaches[a][b]) {
          EXPECT_GT(component[a], component[b]) << seed;
        }
      }
    }
    const std::vector<std::uint32_t> circle = graph.circle();
    EXPECT_EQ(!circle.empty(), circular) << seed;
    EXPECT_EQ(std::set<std::uint32_t>(circle.begin(), circle.end()).size(), circle.size()) << seed;
    for (std::size_t i = 0; i < circle.size(); ++i) {
      const auto after = graph.next(circle[i]);
      EXPECT_NE(std::find(after.begin(), after.end(), circle[(i + 1) % circle.size()]), after.end()) << seed;
    }
  }
}

}  // namespace
}  // namespace cxloom
