#include "workload/numa_nodes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace cxloom {
namespace {

constexpr Bytes kNodePage{4096};

Time near_or_far(NodeId memory) { return Time{100 - 10 * static_cast<std::int64_t>(memory.index())}; }

MemoryTargetInfo memory(std::uint32_t id, Bytes capacity = Bytes{1ULL << 30U}) {
  return {"m" + std::to_string(id), NodeId{id}, capacity};
}

TEST(NumaNodes, AMemoryIsANodeAndInterleavedMemoriesAreOne) {
  AddressMap map;
  map.add_region({.to = {"m0"}, .size = Bytes{1U << 20U}}, {memory(0)});
  map.add_region({.to = {"m1", "m2"}, .size = Bytes{1U << 20U}}, {memory(1), memory(2)});
  map.add_region({.to = {"m0"}, .size = Bytes{1U << 19U}}, {memory(0)});
  const auto nodes = numa_nodes(map, "host", kNodePage, near_or_far);
  ASSERT_EQ(nodes.size(), 2U);
  EXPECT_EQ(nodes[0].name(), "m0");
  EXPECT_EQ(count_of(nodes[0].frames), 256U + 128U);
  EXPECT_EQ(nodes[1].name(), "m1+m2");
  EXPECT_EQ(nodes[1].distance, Time{90});
  EXPECT_EQ(nearest_first(nodes), (std::vector<std::size_t>{1, 0}));
  EXPECT_EQ(nodes_named(nodes, {"m2"}), (std::vector<std::size_t>{1}));
  EXPECT_EQ(nodes_named(nodes, {}), (std::vector<std::size_t>{0, 1}));
}

TEST(NumaNodes, MemoryOfAnotherDeviceIsInNone) {
  AddressMap map;
  MemoryTargetInfo other = memory(0);
  other.owner = "other";
  map.add_region({.to = {"m0"}, .size = Bytes{1U << 20U}}, {other});
  map.add_region({.to = {"m1"}, .size = Bytes{1U << 20U}}, {memory(1)});
  EXPECT_EQ(numa_nodes(map, "host", kNodePage, near_or_far).size(), 1U);
  EXPECT_EQ(numa_nodes(map, "other", kNodePage, near_or_far).size(), 2U);
}

TEST(NumaNodes, FramesAreWholeAndLieWhereARegionIs) {
  AddressMap map;
  RegionParams region{.to = {"m0"}, .size = Bytes{3 * 4096 + 256}, .base = Address{1U << 20U}};
  const std::vector<MemoryTargetInfo> targets{memory(0, Bytes{1U << 20U})};
  map.add_region(region, targets);
  region.base = std::nullopt;
  map.add_region(region, targets);
  region.base = Address{1U << 30U};
  map.add_region(region, targets);
  const auto nodes = numa_nodes(map, "host", kNodePage, near_or_far);
  ASSERT_EQ(nodes.size(), 1U);
  const Frames& frames = nodes[0].frames;
  ASSERT_EQ(frames.size(), 2U);
  EXPECT_EQ(frames[0].base.value(), 1U << 20U);
  EXPECT_EQ(frames[0].count, 6U);
  EXPECT_EQ(frames[1].base.value(), 1U << 30U);
  EXPECT_EQ(frames[1].count, 3U);
}

TEST(NumaNodes, PagesAreSpreadOverInterleavedMemories) {
  for (const std::uint32_t memories : {2U, 3U, 4U, 8U}) {
    for (const std::uint64_t interleave : {256U, 1024U, 4096U, 16384U}) {
      RegionParams region;
      std::vector<MemoryTargetInfo> targets;
      for (std::uint32_t i = 0; i < memories; ++i) {
        targets.push_back(memory(i, Bytes{12ULL << 20U}));
        region.to.push_back(targets.back().name);
      }
      region.interleave = Bytes{interleave};
      AddressMap map;
      map.add_region(region, targets);
      const auto nodes = numa_nodes(map, "host", kNodePage, near_or_far);
      ASSERT_EQ(nodes.size(), 1U);
      std::vector<std::uint64_t> bytes(memories);
      const std::uint64_t base = nodes[0].frames.front().base.value();
      for (std::uint64_t at = 0; at < 64 * kNodePage.count(); at += 256)
        bytes[map.find(Address{base + at})->target.index()] += 256;
      const auto [least, most] = std::ranges::minmax(bytes);
      EXPECT_LE(most - least, interleave) << memories << " memories by " << interleave;
    }
  }
}

}  // namespace
}  // namespace cxloom
