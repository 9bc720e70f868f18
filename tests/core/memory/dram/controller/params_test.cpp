#include "memory/dram/controller/params.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "base/schema.hpp"
#include "core/support/errors.hpp"
#include "memory/dram/device/clock.hpp"

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
    return config.sub_channels * o.pseudo_channels * o.burst_bytes() /
           (o.burst_clocks * DramClock(config.device.clock).cycle_ns());
  };
  EXPECT_NEAR(peak("DDR4-3200"), 25.6, 1e-9);
  EXPECT_NEAR(peak("DDR5-4800"), 38.4, 1e-9);
  EXPECT_NEAR(peak("DDR4-2666"), 64.0 / 3, 1e-9);
  EXPECT_NEAR(peak("DDR4-2933"), 23.4 + 0.2 / 3, 1e-9);
  EXPECT_NEAR(peak("DDR5-4400"), 35.2, 1e-9);
  EXPECT_NEAR(peak("DDR5-5600"), 44.8, 1e-9);
  EXPECT_NEAR(peak("DDR5-6400"), 51.2, 1e-9);
  EXPECT_NEAR(peak("DDR5-7200"), 57.6, 1e-9);
  EXPECT_NEAR(peak("DDR5-8000"), 64.0, 1e-9);
  EXPECT_NEAR(peak("DDR5-8800"), 70.4, 1e-9);
  EXPECT_NEAR(peak("MRDIMM-8800"), 70.4, 1e-9);
  EXPECT_NEAR(peak("MRDIMM-12800"), 102.4, 1e-9);
  EXPECT_NEAR(peak("LPDDR5-6400"), 12.8, 1e-9);
  EXPECT_NEAR(peak("LPDDR5X-8533"), 17.0 + 0.2 / 3, 1e-9);
  EXPECT_NEAR(peak("LPDDR5X-9600"), 19.2, 1e-9);
  EXPECT_NEAR(peak("LPDDR6-10667"), 2 * 32 / 2.25, 1e-9);  // 10.667 x 24/8 x 8/9
  EXPECT_NEAR(peak("HBM2-2000"), 32.0, 1e-9);
  EXPECT_NEAR(peak("HBM2E-3600"), 57.6, 1e-9);
  EXPECT_NEAR(peak("HBM3E-9600"), 76.8, 1e-9);
  EXPECT_NEAR(peak("HBM4-8000"), 64.0, 1e-9);
  EXPECT_NEAR(peak("GDDR6-14"), 2 * 32 / 1.14, 1e-9);
  EXPECT_NEAR(peak("GDDR7-28"), 112.0, 1e-9);
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
  params = of("DDR5-8000");
  params.timing.tCCD_M = 24;
  EXPECT_TRUE(contains(refused(params).what(), "tCCD_L is less than tCCD_M"));
  params.timing.tCCD_M = 7;
  EXPECT_TRUE(contains(refused(params).what(), "tCCD_M is less than tCCD_S"));
  params = of("DDR5-4800");
  params.timing.tRAS = 20;
  EXPECT_TRUE(contains(refused(params).what(), "tRAS is less than tRCD"));
  params = of("DDR4-2400");
  params.timing.tRFC = 9360;
  EXPECT_TRUE(contains(refused(params).what(), "tREFI is less than"));
  params = of("DDR4-2400");
  params.timing.tFAW = 2;
  EXPECT_TRUE(contains(refused(params).what(), "tFAW is less than tRRD_S"));
}

TEST(DramParams, AMemoryLargerThanItsDramIsRefused) {
  const InputError error = refused(of("test-D5"), Bytes{16ULL << 30U});
  EXPECT_TRUE(contains(error.what(), "larger than its DRAM"));
  EXPECT_TRUE(contains(error.detail().allowed, "8GiB"));
  DramParams two = of("test-D5");
  two.channels = 2;
  EXPECT_EQ(resolve(two, Bytes{16ULL << 30U}).capacity(), 16ULL << 30U);
}

// --- devices ---------------------------------------------------------------------------------------------

DramParams devices_of(const std::string& preset, std::uint32_t width, std::uint32_t density) {
  DramParams params = of(preset);
  params.device_width = width;
  params.density = density;
  return params;
}

TEST(DramParams, TheDevicesOfAPresetAreThoseOfItsStandard) {
  // Written out, its own width and density change nothing: the tables of the standards and the presets agree.
  for (const DramDevice& device : dram_presets()) {
    const DramOrganisation& own = device.organisation;
    EXPECT_EQ((std::uint64_t{own.density} << 30U),
              own.payload(std::uint64_t{own.banks_in_rank()} * own.rows * own.columns * own.device_width))
        << device.name;
    if (device.standard == DramStandard::kNone) continue;
    const DramDevice chosen =
        resolve(devices_of(std::string(device.name), own.device_width, own.density), {}).device;
    EXPECT_EQ(chosen.organisation.bank_groups, own.bank_groups) << device.name;
    EXPECT_EQ(chosen.organisation.banks, own.banks) << device.name;
    EXPECT_EQ(chosen.organisation.rows, own.rows) << device.name;
    EXPECT_EQ(chosen.organisation.columns, own.columns) << device.name;
    EXPECT_EQ(chosen.timing.tRFC, device.timing.tRFC) << device.name;
    EXPECT_EQ(chosen.timing.tRFC_SB, device.timing.tRFC_SB) << device.name;
    EXPECT_EQ(chosen.timing.tREFI_SB, device.timing.tREFI_SB) << device.name;
    EXPECT_EQ(chosen.currents.IDD4R, device.currents.IDD4R) << device.name;
  }
}

TEST(DramParams, WidthAndDensityChangeWhatTheStandardSays) {
  struct Row {
    const char* preset;
    std::uint32_t width, density;
    std::uint32_t groups, banks, rows, columns, devices;
    Clock tRRD_S, tRRD_L, tFAW, tRFC, tRFC_SB, tREFI_SB;
    std::uint64_t gibibytes;  // of a channel, one rank
  };
  const std::vector<Row> rows{
      {"DDR4-3200", 4, 8, 4, 4, 1U << 17U, 1024, 16, 4, 8, 16, 560, 0, 0, 16},
      {"DDR4-3200", 16, 8, 2, 4, 1U << 16U, 1024, 4, 9, 11, 48, 560, 0, 0, 4},
      {"DDR4-3200", 8, 16, 4, 4, 1U << 17U, 1024, 8, 4, 8, 34, 880, 0, 0, 16},
      {"DDR4-2400", 16, 16, 2, 4, 1U << 17U, 1024, 4, 7, 8, 36, 660, 0, 0, 8},
      {"DDR5-4800", 8, 8, 8, 2, 1U << 16U, 1024, 4, 8, 12, 32, 468, 276, 2340, 8},
      {"DDR5-4800", 4, 16, 8, 4, 1U << 16U, 2048, 8, 8, 12, 32, 708, 312, 1170, 32},
      {"DDR5-4800", 16, 16, 4, 4, 1U << 16U, 1024, 2, 8, 12, 40, 708, 312, 1170, 8},
      {"DDR5-4800", 8, 24, 8, 4, 3U << 15U, 1024, 4, 8, 12, 32, 984, 456, 1170, 24},
      {"DDR5-5600", 4, 32, 8, 4, 1U << 17U, 2048, 8, 8, 14, 32, 1148, 532, 1365, 64},
      {"LPDDR5-6400", 16, 8, 4, 4, 1U << 15U, 1024, 1, 4, 4, 16, 168, 96, 195, 1},
      {"LPDDR5-6400", 16, 32, 4, 4, 1U << 17U, 1024, 1, 4, 4, 16, 304, 152, 195, 4},
      {"LPDDR6-10667", 12, 8, 4, 4, 1U << 15U, 1536, 1, 10, 10, 40, 747, 374, 1302, 2},
      {"MRDIMM-8800", 16, 32, 4, 4, 1U << 17U, 1024, 2, 16, 22, 80, 1804, 836, 2144, 32},
  };
  for (const Row& row : rows) {
    const std::string what =
        std::string(row.preset) + " x" + std::to_string(row.width) + " " + std::to_string(row.density) + "Gb";
    const DramConfig config = resolve(devices_of(row.preset, row.width, row.density), {});
    const DramOrganisation& o = config.device.organisation;
    const DramTiming& t = config.device.timing;
    EXPECT_EQ(o.bank_groups, row.groups) << what;
    EXPECT_EQ(o.banks, row.banks) << what;
    EXPECT_EQ(o.rows, row.rows) << what;
    EXPECT_EQ(o.columns, row.columns) << what;
    EXPECT_EQ(o.devices_in_rank(), row.devices) << what;
    EXPECT_EQ(t.tRRD_S, row.tRRD_S) << what;
    EXPECT_EQ(t.tRRD_L, row.tRRD_L) << what;
    EXPECT_EQ(t.tFAW, row.tFAW) << what;
    EXPECT_EQ(t.tRFC, row.tRFC) << what;
    EXPECT_EQ(t.tRFC_SB, row.tRFC_SB) << what;
    EXPECT_EQ(t.tREFI_SB, row.tREFI_SB) << what;
    EXPECT_EQ(config.capacity(), row.gibibytes << 30U) << what;
  }
}

TEST(DramParams, DevicesThatThereAreNotAreRefused) {
  EXPECT_EQ(refused(devices_of("DDR4-3200", 8, 24)).path(), "density");
  EXPECT_TRUE(contains(refused(devices_of("DDR4-3200", 8, 32)).detail().allowed, "8Gb or 16Gb"));
  EXPECT_EQ(refused(devices_of("LPDDR5-6400", 8, 16)).path(), "device_width");
  EXPECT_EQ(refused(devices_of("HBM3-6400", 8, 16)).path(), "device_width");
  EXPECT_EQ(refused(devices_of("LPDDR6-10667", 12, 32)).path(), "density");
  EXPECT_TRUE(contains(refused(devices_of("LPDDR6-10667", 12, 32)).detail().allowed, "8Gb or 16Gb"));
  DramParams mrdimm = of("MRDIMM-8800");
  mrdimm.stack = 2;
  EXPECT_EQ(refused(mrdimm).path(), "stack");
  DramParams stacked = of("LPDDR5-6400");
  stacked.stack = 2;
  EXPECT_EQ(refused(stacked).path(), "stack");
  DramParams ecc = of("DDR5-4800");
  ecc.ecc_width = 4;  // half a device
  EXPECT_EQ(refused(ecc).path(), "ecc_width");
  ecc.ecc_width = 16;
  EXPECT_EQ(refused(ecc).path(), "ecc_width");
  DramParams alone = of("DDR5-4800");
  alone.timing.tRRD_DLR = 8;
  EXPECT_EQ(refused(alone).path(), "timing.tRRD_DLR");
  DramParams three_quarters = devices_of("DDR5-4800", 8, 24);
  three_quarters.mapping = "rarobabgchco";
  EXPECT_EQ(resolve(three_quarters, {}).capacity(), 24ULL << 30U);  // one rank takes no bit
  three_quarters.mapping = "chrorababgco";
  EXPECT_TRUE(contains(refused(three_quarters).what(), "no power of two"));
  three_quarters.mapping = "ro1chrababgcoro";
  EXPECT_TRUE(contains(refused(three_quarters).what(), "2 bits or more"));
}

TEST(DramParams, EccDevicesHoldNoData) {
  DramParams params = of("DDR5-4800");
  params.ecc_width = 8;  // 80 bits a module
  const DramConfig config = resolve(params, {});
  EXPECT_EQ(config.device.organisation.devices_in_rank(), 5U);
  EXPECT_EQ(config.capacity(), 16ULL << 30U);
}

TEST(DramParams, AStackIsARankForEachDie) {
  DramParams params = of("DDR4-3200");
  params.stack = 4;
  params.ranks = 2;
  const DramConfig config = resolve(params, {});
  EXPECT_EQ(config.device.organisation.ranks, 8U);
  EXPECT_EQ(config.capacity(), 64ULL << 30U);
  EXPECT_EQ(config.device.timing.tRFC_DLR, 192);  // 120 ns
  EXPECT_EQ(config.device.timing.tFAW_DLR, 16);
  params.timing.tRFC_DLR = 4000;  // four of them take longer than a refresh interval
  EXPECT_TRUE(contains(refused(params).what(), "tRFC_DLR for each die"));
}

TEST(DramParams, RanksFollowFromTheCapacity) {
  const auto ranks = [](std::uint64_t gibibytes, std::uint32_t channels) {
    DramParams params = of("DDR5-4800");
    params.channels = channels;
    return resolve(params, Bytes{gibibytes << 30U}).device.organisation.ranks;
  };
  EXPECT_EQ(ranks(1, 1), 1U);
  EXPECT_EQ(ranks(16, 1), 1U);
  EXPECT_EQ(ranks(32, 1), 2U);
  EXPECT_EQ(ranks(48, 1), 4U);
  EXPECT_EQ(ranks(48, 4), 1U);
  EXPECT_EQ(ranks(128, 1), 8U);
  DramParams one = of("DDR5-4800");
  one.ranks = 1;
  const InputError both = refused(one, Bytes{32ULL << 30U});
  EXPECT_TRUE(contains(both.detail().allowed, "at most 16GiB"));
  EXPECT_TRUE(contains(both.detail().allowed, "ranks: 1, each 16GiB"));
  EXPECT_TRUE(contains(refused(of("DDR5-4800"), Bytes{256ULL << 30U}).detail().allowed, "at most 128GiB"));
}

// Sockets have twelve channels: any number will do, but none and more than 64.
TEST(DramParams, NumbersThatCannotBeAreRefused) {
  for (const std::int64_t channels : {0, 65, 128}) {
    const Value value(Value::Map{{"preset", "test-D5"}, {"channels", channels}});
    EXPECT_EQ(input_error([&] { read_params<DramParams>(value); }).path(), "channels");
  }
  for (const std::int64_t ranks : {0, 3}) {
    const Value value(Value::Map{{"preset", "test-D5"}, {"ranks", ranks}});
    EXPECT_EQ(input_error([&] { read_params<DramParams>(value); }).path(), "ranks");
  }
  DramParams odd = of("test-D5");
  odd.channels = 3;
  odd.channel_hash = ChannelHash::kFold;
  EXPECT_EQ(input_error([&] { DramParams::check(odd); }).path(), "channel_hash");
  DramParams long_bursts = of("DDR4-3200");
  long_bursts.burst_length = 32;
  EXPECT_EQ(input_error([&] { DramParams::check(long_bursts); }).path(), "burst_length");
  const Value marks(Value::Map{{"preset", "test-D5"}, {"write_low", 0.8}, {"write_high", 0.5}});
  EXPECT_TRUE(contains(input_error([&] { read_params<DramParams>(marks); }).what(), "write_low"));
  EXPECT_TRUE(contains(input_error([] { read_params<DramParams>(Value(Value::Map{})); }).what(), "preset"));
}

// A value that nothing reads would change nothing, without a word.
TEST(DramParams, WhatHasNoEffectIsRefused) {
  const auto key = [](auto set, const char* preset) {
    DramParams params = of(preset);
    set(params);
    const InputError error = refused(params);
    EXPECT_TRUE(contains(error.what(), "has no effect")) << error.what();
    EXPECT_FALSE(error.detail().allowed.empty());
    return error.path();
  };
  EXPECT_EQ(key([](DramParams& p) { p.timing.tRFC_SB = 100; }, "DDR4-3200"), "timing.tRFC_SB");
  EXPECT_EQ(key([](DramParams& p) { p.timing.tREFSB_ACT = 100; }, "DDR4-3200"), "timing.tREFSB_ACT");
  EXPECT_EQ(key([](DramParams& p) { p.timing.tRFC = 700; }, "DDR5-4800"), "timing.tRFC");
  EXPECT_EQ(key([](DramParams& p) { p.timing.tREFI = 9000; }, "DDR5-4800"), "timing.tREFI");
  EXPECT_EQ(key([](DramParams& p) { p.timing.tXP = 10; }, "DDR4-3200"), "timing.tXP");
  EXPECT_EQ(key([](DramParams& p) { p.timing.tCS = 3; }, "DDR4-3200"), "timing.tCS");
  EXPECT_EQ(key([](DramParams& p) { p.timing.tRRD_DLR = 3; }, "DDR4-3200"), "timing.tRRD_DLR");
  EXPECT_EQ(key([](DramParams& p) { p.currents.IDD2P = 10; }, "DDR4-3200"), "currents.IDD2P");
  EXPECT_EQ(key([](DramParams& p) { p.currents.IDD5SB = 10; }, "DDR4-3200"), "currents.IDD5SB");
  EXPECT_EQ(key([](DramParams& p) { p.currents.IDD0 = 10; }, "HBM3-6400"), "currents.IDD0");
}

TEST(DramParams, WhatHasAnEffectIsTaken) {
  DramParams params = of("DDR5-4800");
  params.ranks = 2;
  params.power_down = Time{50'000};
  params.timing.tXP = 20;
  params.timing.tCS = 3;
  params.timing.tRFC_SB = 320;
  params.currents.IDD2P = 90;
  params.refresh_postpone = 2;
  EXPECT_EQ(resolve(params, Bytes{1ULL << 30U}).device.timing.tRFC_SB, 320);
  params.timing.tRFC_SB.reset();
  params.refresh.kind = "all-bank";
  params.timing.tRFC = 720;
  EXPECT_EQ(resolve(params, Bytes{1ULL << 30U}).device.timing.tRFC, 720);
  params.refresh.kind = "off";  // for a comparison: what it would be stays
  EXPECT_EQ(resolve(params, Bytes{1ULL << 30U}).refresh.kind, "off");
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
