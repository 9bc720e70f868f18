#include "system/model/balanced_cut.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace cxloom {
namespace {

Partitions each_alone(std::uint32_t count) {
  Partitions groups{std::vector<std::uint32_t>(count), count, {}};
  std::iota(groups.of_node.begin(), groups.of_node.end(), 0U);
  return groups;
}

TEST(BalancedCut, AChainIsCutInItsMiddle) {
  std::vector<Partitions::Joint> joints;
  for (std::uint32_t i = 0; i + 1 < 8; ++i) joints.push_back({i, i + 1, Time{1}});
  const std::vector<NodeLoad> loads(8, {NodeLoad::Kind::kBetween, 10.0});
  const auto part = balanced_cut(each_alone(8), joints, loads, std::vector<double>(joints.size(), 10.0), 2);
  EXPECT_EQ(std::ranges::count(part, 0U), 4);
  int across = 0;
  for (const auto& joint : joints) across += part[joint.a] != part[joint.b] ? 1 : 0;
  EXPECT_EQ(across, 1);
}

TEST(BalancedCut, AnEqualShareIsWorthMoreThanALittleLessAcross) {
  // The further from the middle of a chain, the less goes over a link.
  std::vector<Partitions::Joint> joints;
  std::vector<double> across;
  for (std::uint32_t i = 0; i + 1 < 16; ++i) {
    joints.push_back({i, i + 1, Time{1}});
    across.push_back(i == 7 ? 10.0 : 9.9);
  }
  const std::vector<NodeLoad> loads(16, {NodeLoad::Kind::kBetween, 10.0});
  EXPECT_EQ(std::ranges::count(balanced_cut(each_alone(16), joints, loads, across, 2), 0U), 8);
  // A link that spares more than the node beside it is to be waited for is where it is cut.
  for (std::size_t i = 0; i < across.size(); ++i) across[i] = i == 8 ? 10.0 : 100.0;
  EXPECT_EQ(std::ranges::count(balanced_cut(each_alone(16), joints, loads, across, 2), 0U) % 2, 1);
}

TEST(BalancedCut, EachPartHasItsShareOfEachKind) {
  // Four hubs of hosts, four of memories, and two nodes that join them all.
  std::vector<Partitions::Joint> joints;
  std::vector<NodeLoad> loads;
  for (std::uint32_t i = 0; i < 8; ++i) {
    loads.push_back({i < 4 ? NodeLoad::Kind::kRequester : NodeLoad::Kind::kMemory, 16.0});
    for (const std::uint32_t spine : {8U, 9U}) joints.push_back({i, spine, Time{1}});
  }
  loads.insert(loads.end(), 2, {NodeLoad::Kind::kBetween, 32.0});
  const auto part = balanced_cut(each_alone(10), joints, loads, std::vector<double>(joints.size(), 4.0), 2);
  EXPECT_EQ(std::count(part.begin(), part.begin() + 4, 0U), 2);
  EXPECT_EQ(std::count(part.begin() + 4, part.begin() + 8, 0U), 2);
  EXPECT_NE(part[8], part[9]);
}

TEST(BalancedCut, ThereAreNoMorePartsThanGroups) {
  const std::vector<Partitions::Joint> joints{{0, 1, Time{1}}, {1, 2, Time{1}}};
  const std::vector<NodeLoad> loads(3, {NodeLoad::Kind::kBetween, 1.0});
  for (const std::uint32_t parts : {1U, 2U, 3U, 8U}) {
    const auto part = balanced_cut(each_alone(3), joints, loads, std::vector<double>(2, 1.0), parts);
    EXPECT_EQ(*std::ranges::max_element(part) + 1, std::min(parts, 3U));
  }
}

TEST(BalancedCut, PartsOfUnequalGroupsAreAsEqualAsTheseAllow) {
  const std::vector<Partitions::Joint> joints{{0, 1, Time{1}}, {1, 2, Time{1}}, {2, 3, Time{1}}};
  const std::vector<NodeLoad> loads{{NodeLoad::Kind::kBetween, 30.0},
                                    {NodeLoad::Kind::kBetween, 10.0},
                                    {NodeLoad::Kind::kBetween, 10.0},
                                    {NodeLoad::Kind::kBetween, 10.0}};
  const auto part = balanced_cut(each_alone(4), joints, loads, std::vector<double>(3, 10.0), 2);
  EXPECT_NE(part[0], part[1]);
  EXPECT_EQ(part[1], part[2]);
  EXPECT_EQ(part[2], part[3]);
}

}  // namespace
}  // namespace cxloom
