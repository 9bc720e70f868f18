#include "protocol/address_map.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "core/support/errors.hpp"

namespace cxloom {
namespace {

using namespace literals;
using test::input_error;

std::vector<MemoryTargetInfo> memories(std::size_t count, Bytes capacity) {
  std::vector<MemoryTargetInfo> all;
  for (std::size_t i = 0; i < count; ++i)
    all.push_back({"mem" + std::to_string(i), NodeId{static_cast<std::uint32_t>(i)}, capacity});
  return all;
}

RegionParams region(const std::vector<MemoryTargetInfo>& targets, Bytes interleave = 256_B) {
  RegionParams params;
  for (const auto& target : targets) params.to.push_back(target.name);
  params.interleave = interleave;
  return params;
}

using Places = std::map<std::uint32_t, std::set<std::uint64_t>>;

/// Every line of a map; fails if two addresses share a place.
Places all_places(const AddressMap& map, std::uint64_t step) {
  Places places;
  for (std::uint64_t at = 0; at < map.contiguous_bytes(); at += step) {
    const auto place = map.find(Address{map.base().value() + at});
    EXPECT_TRUE(place);
    if (!place) break;
    EXPECT_TRUE(places[place->target.index()].insert(place->device_address.value()).second)
        << "two addresses in one place";
  }
  return places;
}

TEST(AddressMap, EveryCxlWayAndGranularityIsABijectionAndBalanced) {
  // 12 chunks of each target: every byte of every target's memory belongs to one address.
  for (const std::size_t ways : {1U, 2U, 3U, 4U, 6U, 8U, 12U, 16U}) {
    for (std::uint64_t chunk = 256; chunk <= 16384; chunk *= 2) {
      const auto targets = memories(ways, Bytes{chunk * 12});
      AddressMap map;
      map.add_region(region(targets, Bytes{chunk}), targets);
      EXPECT_EQ(map.contiguous_bytes(), ways * chunk * 12);
      const Places places = all_places(map, 64);
      ASSERT_EQ(places.size(), ways);
      for (const auto& [node, addresses] : places) {
        ASSERT_EQ(addresses.size(), chunk * 12 / 64);
        ASSERT_EQ(*addresses.rbegin(), chunk * 12 - 64);  // from zero without a gap
      }
      // In turns: the k-th chunk is target k's, offsets stay.
      for (std::uint64_t k = 0; k < ways * 12; ++k) {
        const auto place = map.find(Address{k * chunk + 70});
        ASSERT_EQ(place->target.index(), k % ways);
        ASSERT_EQ(place->device_address.value(), k / ways * chunk + 70);
      }
      EXPECT_FALSE(map.find(Address{ways * chunk * 12}));
    }
  }
}

TEST(AddressMap, WeightsGiveEachTargetItsShareOfEveryRound) {
  const auto targets = memories(3, 64_KiB);
  RegionParams params = region(targets, 64_B);
  params.policy = InterleavePolicy::kWeighted;
  params.weights = {5, 2, 1};
  AddressMap map;
  map.add_region(params, targets);
  EXPECT_EQ(map.contiguous_bytes(),
            8U * 64 * (65536 / (5 * 64)));  // as many rounds as the first has room for
  const Places places = all_places(map, 64);
  EXPECT_EQ(places.at(0).size(), 5 * places.at(2).size());
  EXPECT_EQ(places.at(1).size(), 2 * places.at(2).size());
  for (const auto& [node, addresses] : places) EXPECT_EQ(*addresses.rbegin(), (addresses.size() - 1) * 64);
}

TEST(AddressMap, CapacityUsesAllOfEveryTarget) {
  std::vector<MemoryTargetInfo> targets = memories(3, 1_MiB);
  targets[1].capacity = 3_MiB;
  targets[2].capacity = Bytes{1536 * 1024};
  RegionParams params = region(targets, 4_KiB);
  params.policy = InterleavePolicy::kCapacity;
  AddressMap map;
  map.add_region(params, targets);
  EXPECT_EQ(map.contiguous_bytes(), (1024U + 3072 + 1536) * 1024);
  const Places places = all_places(map, 4096);
  EXPECT_EQ(places.at(0).size(), 256U);
  EXPECT_EQ(places.at(1).size(), 768U);
  EXPECT_EQ(places.at(2).size(), 384U);
}

TEST(AddressMap, RegionsFollowEachOtherAndShareTheirTargets) {
  const auto targets = memories(4, 1_MiB);
  AddressMap map;
  RegionParams first = region({targets[0], targets[1]});
  first.size = 512_KiB;
  map.add_region(first, {targets[0], targets[1]});
  map.add_region(region(targets, 1_KiB), targets);  // what is left: 768 KiB of each of the four
  EXPECT_EQ(map.contiguous_bytes(), (512U + 4 * 768) * 1024);
  all_places(map, 64);
  EXPECT_EQ(map.find(Address{512 * 1024})->device_address.value(), 256U * 1024);
  EXPECT_EQ(map.targets().size(), 4U);
  EXPECT_EQ(map.described(), "0x0-0x7ffff, 0x80000-0x37ffff");
}

TEST(AddressMap, ABaseMakesAGap) {
  const auto targets = memories(2, 1_MiB);
  AddressMap map;
  map.add_region(region({targets[0]}), {targets[0]});
  RegionParams second = region({targets[1]});
  second.base = Address{0x1000'0000};
  map.add_region(second, {targets[1]});
  EXPECT_FALSE(map.find(Address{0x10'0000}));
  EXPECT_FALSE(map.find(Address{0xfff'ffff}));
  EXPECT_EQ(map.find(Address{0x1000'0040})->target.index(), 1U);
  EXPECT_EQ(map.contiguous_bytes(), 1U << 20U);
}

TEST(AddressMap, ADeviceSeesTheRegionsThatItReaches) {
  const auto targets = memories(3, 1_MiB);
  AddressMap map;
  for (const MemoryTargetInfo& each : targets) map.add_region(region({each}), {each});
  map.add_region(region({targets[0]}), {{"more", NodeId{3}, 1_MiB}}, NodeId{0});
  const AddressMap own =
      map.seen_by("h1", [](NodeId node) { return node != NodeId{0} && node != NodeId{3}; });
  EXPECT_EQ(own.described(), "0x100000-0x1fffff, 0x200000-0x2fffff (all that 'h1' reaches)");
  EXPECT_FALSE(own.find(Address{64}));
  EXPECT_EQ(own.find(Address{0x10'0040})->target, NodeId{1});
  EXPECT_EQ(own.targets(), (std::vector{NodeId{1}, NodeId{2}}));
  ASSERT_EQ(own.beyond().size(), 2U);
  EXPECT_EQ(own.beyond().front().memories.front().name, "mem0");
  // One target or the home is enough: what else it lacks of the region is a mistake.
  EXPECT_EQ(map.seen_by("h1", [](NodeId node) { return node == NodeId{0}; }).targets(),
            (std::vector{NodeId{0}, NodeId{3}}));
}

TEST(AddressMap, Refusals) {
  const auto targets = memories(5, 1_MiB);
  const auto refuse = [](const RegionParams& params, const std::vector<MemoryTargetInfo>& all) {
    AddressMap map;
    return input_error([&] { map.add_region(params, all); });
  };
  EXPECT_EQ(refuse(region(targets), targets).path(), "to");  // five ways
  const std::vector<MemoryTargetInfo> two{targets[0], targets[1]};
  EXPECT_EQ(refuse(region(two, 128_B), two).path(), "interleave");
  EXPECT_EQ(refuse(region(two, 32_KiB), two).path(), "interleave");
  RegionParams params = region(two);
  params.size = 3_MiB;
  EXPECT_EQ(refuse(params, two).path(), "size");
  EXPECT_EQ(refuse(params, two).detail().allowed, "at most 2MiB");
  params = region(two);
  params.weights = {1, 1};
  EXPECT_EQ(refuse(params, two).path(), "weights");  // a CXL decoder has none
  params.policy = InterleavePolicy::kWeighted;
  params.weights = {1};
  EXPECT_EQ(refuse(params, two).path(), "weights");
  params.weights = {1, 0};
  EXPECT_EQ(refuse(params, two).path(), "weights");
  params.weights = {65536, 1};
  EXPECT_EQ(refuse(params, two).path(), "weights");
  EXPECT_EQ(refuse(region({targets[0], targets[0]}), {targets[0], targets[0]}).path(),
            "to");  // twice the same
  params = region(two);
  params.policy = InterleavePolicy::kWeighted;
  params.interleave = Bytes{1ULL << 62U};
  params.weights = {4, 4};
  EXPECT_EQ(refuse(params, two).path(), "to");  // one round is larger than all memory
  params = region(two);
  params.base = Address{~std::uint64_t{0} - 4095};
  EXPECT_EQ(refuse(params, two).path(), "base");
  AddressMap map;
  map.add_region(region({targets[0]}), {targets[0]});
  RegionParams overlapping = region({targets[1]});
  overlapping.base = Address{4096};
  EXPECT_EQ(input_error([&] { map.add_region(overlapping, {targets[1]}); }).path(), "base");
  EXPECT_EQ(input_error([&] { map.add_region(region({targets[0]}), {targets[0]}); }).path(),
            "to");  // nothing left
}

}  // namespace
}  // namespace cxloom
