#include "memory/dram_params.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "core/support/errors.hpp"
#include "memory/dram_clock.hpp"

namespace cxloom {
namespace {

using test::contains;
using test::input_error;

DramParams of(const std::string& preset) {
  DramParams params;
  params.preset = preset;
  return params;
}

InputError refused(const DramParams& params, Bytes capacity = Bytes{1ULL << 30U}) {
  return input_error([&] { resolve(params, capacity); });
}

TEST(DramParams, PresetsNameTheirSourcesAndFitTogether) {
  std::set<std::string_view> names;
  for (const DramDevice& device : dram_presets()) {
    EXPECT_TRUE(names.insert(device.name).second) << device.name;
    EXPECT_FALSE(device.source.empty()) << device.name;
    EXPECT_EQ(device.currents.VDD == 0, device.currents_source.empty()) << device.name;
    const DramConfig config = resolve(of(std::string(device.name)), Bytes{1ULL << 30U});
    EXPECT_GE(config.capacity(), 1ULL << 30U);
    EXPECT_EQ(64 % device.organisation.burst_bytes(), 0U) << device.name;
  }
}

TEST(DramParams, ThePeakOfAPresetIsThatOfItsName) {
  const auto peak = [](const char* name) {
    const DramConfig config = resolve(of(name), Bytes{1ULL << 30U});
    const DramOrganisation& o = config.device.organisation;
    return config.sub_channels * o.burst_bytes() /
           (o.burst_clocks * DramClock(config.device.clock).cycle_ns());
  };
  EXPECT_NEAR(peak("DDR4-3200"), 25.6, 1e-9);
  EXPECT_NEAR(peak("DDR5-4800"), 38.4, 1e-9);
  EXPECT_NEAR(peak("DDR5-5600"), 44.8, 1e-9);
  EXPECT_NEAR(peak("LPDDR5-6400"), 12.8, 1e-9);
  EXPECT_NEAR(peak("HBM2-2000"), 32.0, 1e-9);
  EXPECT_NEAR(peak("HBM3-6400"), 51.2, 1e-9);
}

TEST(DramParams, AnUnknownPresetGetsSuggestions) {
  const InputError error = refused(of("DDR5-4880"));
  EXPECT_EQ(error.path(), "preset");
  EXPECT_EQ(error.detail().suggestion, "DDR5-4800");
  EXPECT_TRUE(contains(error.detail().allowed, "HBM3-6400"));
}

TEST(DramParams, TimingsThatContradictEachOtherAreRefused) {
  DramParams params = of("DDR5-4800");
  params.timing.tCCD_L = 4;
  EXPECT_TRUE(contains(refused(params).what(), "tCCD_L is less than tCCD_S"));
  params = of("DDR5-4800");
  params.timing.tRAS = 20;
  EXPECT_TRUE(contains(refused(params).what(), "tRAS is less than tRCD"));
  params = of("DDR4-2400");
  params.timing.tRFC = 9360;
  EXPECT_TRUE(contains(refused(params).what(), "tREFI is less than"));
  params = of("DDR4-2400");
  params.timing.tFAW = 2;
  EXPECT_TRUE(contains(refused(params).what(), "tFAW is less than tRRD_S"));
  params = of("DDR4-2400");
  params.refresh = RefreshMode::kSameBank;
  EXPECT_TRUE(contains(refused(params).what(), "has no same-bank refresh"));
}

TEST(DramParams, AMemoryLargerThanItsDramIsRefused) {
  const InputError error = refused(of("test-D5"), Bytes{16ULL << 30U});
  EXPECT_TRUE(contains(error.what(), "larger than its DRAM"));
  EXPECT_TRUE(contains(error.detail().allowed, "8GiB"));
  DramParams two = of("test-D5");
  two.channels = 2;
  EXPECT_EQ(resolve(two, Bytes{16ULL << 30U}).capacity(), 16ULL << 30U);
}

TEST(DramParams, NumbersThatAreNoPowersOfTwoOrZeroAreRefused) {
  for (const std::int64_t channels : {0, 3, 128}) {
    const Value value(Value::Map{{"preset", "test-D5"}, {"channels", channels}});
    EXPECT_EQ(input_error([&] { read_params<DramParams>(value); }).path(), "channels");
  }
  const Value marks(Value::Map{{"preset", "test-D5"}, {"write_low", 0.8}, {"write_high", 0.5}});
  EXPECT_TRUE(contains(input_error([&] { read_params<DramParams>(marks); }).what(), "write_low"));
  EXPECT_TRUE(contains(input_error([] { read_params<DramParams>(Value(Value::Map{})); }).what(), "preset"));
}

TEST(DramClock, DoesNotDrift) {
  const DramClock clock(Rate::per_time(2400, 1'000'000));  // 416.67 ps
  EXPECT_EQ(clock.at(3), Time{1250});
  EXPECT_EQ(clock.at(2'400'000'000), Time{1'000'000'000'000});
  for (Clock edge : {Clock{0}, Clock{1}, Clock{2}, Clock{3}, Clock{1'000'001}, Clock{123'456'789'012}}) {
    EXPECT_EQ(clock.edge_at(clock.at(edge)), edge);
    EXPECT_EQ(clock.edge_at(clock.at(edge) + Time{1}), edge + 1);
  }
  EXPECT_EQ(DramClock(Rate::per_time(1, 416)).at(1'000'000), Time{416'000'000});
}

}  // namespace
}  // namespace cxloom
