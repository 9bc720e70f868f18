#include "workload/placement/numa_nodes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
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

Extents extents_of_m0(std::vector<AddressMap::Extent> extents) {
  return [extents](NodeId memory) { return memory.index() == 0 ? std::optional(extents) : std::nullopt; };
}

TEST(NumaNodes, ExtentsHaveTheirWholeFrames) {
  AddressMap map;
  map.add_region({.to = {"m0"}, .size = Bytes{64 * 4096}, .base = Address{1U << 20U}}, {memory(0)});
  map.add_region({.to = {"m1"}, .size = Bytes{4096}, .base = Address{1U << 30U}}, {memory(1)});
  // From the middle of the second frame to that of the sixth: three whole ones. And the last frame.
  const auto nodes =
      numa_nodes(map, "host", kNodePage, near_or_far,
                 extents_of_m0({{Address{4096 + 2048}, 4 * 4096}, {Address{63 * 4096}, 4096}}));
  ASSERT_EQ(nodes.size(), 2U);
  EXPECT_TRUE(nodes[0].in_extents);
  EXPECT_FALSE(nodes[1].in_extents);
  ASSERT_EQ(nodes[0].frames.size(), 2U);
  EXPECT_EQ(nodes[0].frames[0].base.value(), (1U << 20U) + 2 * 4096);
  EXPECT_EQ(nodes[0].frames[0].count, 3U);
  EXPECT_EQ(nodes[0].frames[1].base.value(), (1U << 20U) + 63 * 4096);
  const auto without = numa_nodes(map, "host", kNodePage, near_or_far, extents_of_m0({}));
  EXPECT_EQ(count_of(without[0].frames), 0U);
}

// Every byte that is said to be usable lies in an extent, whatever the interleave: none is lost but a round
// at each border.
TEST(NumaNodes, ExtentsOfInterleavedMemoriesAreInBothOfThem) {
  for (const std::uint64_t interleave : {256U, 4096U}) {
    AddressMap map;
    RegionParams region{.to = {"m0", "m1"}, .interleave = Bytes{interleave}, .size = Bytes{1U << 20U}};
    region.policy = InterleavePolicy::kWeighted;
    region.weights = {1, 3};
    map.add_region(region, {memory(0), memory(1)});
    const AddressMap::Extent extent{Address{10'240}, 102'400};
    const auto usable = usable_in(map, 0, extents_of_m0({extent}));
    ASSERT_EQ(usable.size(), 1U);
    EXPECT_GE(usable[0].bytes, 4 * (extent.bytes - 2 * interleave));
    for (std::uint64_t at = 0; at < usable[0].bytes; at += 64) {
      const auto place = map.find(Address{usable[0].base.value() + at});
      if (place->target.index() != 0) continue;
      EXPECT_GE(place->device_address.value(), extent.base.value());
      EXPECT_LT(place->device_address.value(), extent.base.value() + extent.bytes);
    }
  }
}

TEST(NumaNodes, LogicalDevicesHaveNamesOfTheirOwn) {
  AddressMap map;
  for (std::uint8_t ld = 0; ld < 2; ++ld) {
    MemoryTargetInfo target{"mld", NodeId{0}, Bytes{1U << 20U}, Bytes{std::uint64_t{ld} << 20U}, ld};
    target.logical = true;
    map.add_region({.to = {"mld"}}, {target});
  }
  const auto nodes = numa_nodes(map, "host", kNodePage, near_or_far);
  ASSERT_EQ(nodes.size(), 2U);
  EXPECT_EQ(nodes[1].name(), "mld ld 1");
  EXPECT_EQ(nodes_named(nodes, {"mld ld 1"}), (std::vector<std::size_t>{1}));
  EXPECT_EQ(nodes_named(nodes, {"mld"}), (std::vector<std::size_t>{0, 1}));
}

}  // namespace
}  // namespace cxloom
