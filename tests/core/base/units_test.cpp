#include "base/units.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "core/support/errors.hpp"

namespace cxloom {
namespace {

using namespace literals;
using test::contains;
using test::input_error;

TEST(Units, TimesAreExactDecimals) {
  EXPECT_EQ(parse_time("10ns"), Time{10'000});
  EXPECT_EQ(parse_time("1062.5ns"), Time{1'062'500});
  EXPECT_EQ(parse_time("0.001ns"), Time{1});
  EXPECT_EQ(parse_time("1.5us"), Time{1'500'000});
  EXPECT_EQ(parse_time("2ms"), Time{2'000'000'000});
  EXPECT_EQ(parse_time("3 s"), Time{3'000'000'000'000});
  EXPECT_EQ(parse_time("0.1ns"), Time{100});  // no float in between
  EXPECT_EQ(parse_time("9223372036854775807ps"), Time::max());
}

TEST(Units, SizesAreBinaryOrDecimal) {
  EXPECT_EQ(parse_bytes("64B"), Bytes{64});
  EXPECT_EQ(parse_bytes("16GiB"), Bytes{16ULL << 30U});
  EXPECT_EQ(parse_bytes("1KB"), Bytes{1000});
  EXPECT_EQ(parse_bytes("1kB"), Bytes{1000});
  EXPECT_EQ(parse_bytes("1KiB"), Bytes{1024});
  EXPECT_EQ(parse_bytes("1.5KiB"), Bytes{1536});
  EXPECT_EQ(parse_bytes("2TB"), Bytes{2'000'000'000'000});
  EXPECT_EQ(parse_bytes("4TiB"), Bytes{4ULL << 40U});
}

TEST(Units, RatesAreRational) {
  EXPECT_EQ(parse_bandwidth("64GB/s"), (Bandwidth{Rate::per_time(64, 1000)}));
  EXPECT_EQ(parse_bandwidth("25.6GB/s"), (Bandwidth{Rate::per_time(256, 10'000)}));
  EXPECT_EQ(parse_bandwidth("512Gb/s"), parse_bandwidth("64GB/s"));
  EXPECT_EQ(parse_bandwidth("1GiB/s"), (Bandwidth{Rate::per_time(1ULL << 30U, 1'000'000'000'000)}));
  EXPECT_TRUE(parse_bandwidth("unlimited").rate.unlimited());
  EXPECT_EQ(parse_frequency("50M/s"), (Frequency{Rate::per_time(1, 20'000)}));
  EXPECT_EQ(parse_frequency("50MHz"), parse_frequency("50M/s"));
  EXPECT_EQ(parse_frequency("2.4 GHz"), (Frequency{Rate::per_time(12, 5'000)}));
  EXPECT_EQ(parse_frequency("7kHz"), parse_frequency("7k/s"));
  EXPECT_EQ(parse_frequency("7Hz"), parse_frequency("7/s"));
  EXPECT_EQ(parse_frequency("3/s"), (Frequency{Rate::per_time(3, 1'000'000'000'000)}));
  EXPECT_EQ(64_GBps, parse_bandwidth("64GB/s"));
  EXPECT_TRUE(parse_bandwidth("1GB/s").rate.slower_than(parse_bandwidth("1.000001GB/s").rate));
  EXPECT_FALSE(parse_bandwidth("1GB/s").rate.slower_than(parse_bandwidth("1000MB/s").rate));
  EXPECT_TRUE(parse_bandwidth("1TB/s").rate.slower_than(Rate{}));
  EXPECT_FALSE(Rate{}.slower_than(parse_bandwidth("1TB/s").rate));
}

TEST(Units, AddressesAndFractions) {
  EXPECT_EQ(parse_address("0x1000"), Address{4096});
  EXPECT_EQ(parse_address("0XfFfFfFfFfFfFfFfF"), Address{~std::uint64_t{0}});
  for (const char* wrong : {"0x", "1000", "0x1g", "0x10000000000000000", "", "x10", "0x 1"}) {
    EXPECT_THROW(parse_address(wrong), InputError) << wrong;
  }
  EXPECT_EQ(parse_fraction("67%"), 0.67);
  EXPECT_EQ(parse_fraction("12.5%"), 0.125);
  for (const char* wrong : {"67", "%", "a%", "6 7%", ""})
    EXPECT_THROW(parse_fraction(wrong), InputError) << wrong;
}

TEST(Units, AMistakeIsNamedWithWhatIsAllowed) {
  const auto time = [](const char* text) { return input_error([&] { parse_time(text); }); };
  EXPECT_EQ(time("10").detail().problem, "the unit is missing");
  EXPECT_EQ(time("10").detail().found, "'10'");
  EXPECT_TRUE(contains(time("10").detail().allowed, "ps, ns, us, ms, s"));
  EXPECT_EQ(time("10GB").detail().problem, "unknown unit 'GB'");
  EXPECT_EQ(time("-5ns").detail().problem, "a negative quantity");
  EXPECT_EQ(time("").detail().problem, "not a quantity");
  EXPECT_EQ(time("ns").detail().problem, "not a quantity");
  EXPECT_EQ(time(".ns").detail().problem, "not a quantity");
  EXPECT_EQ(time("1.2.3ns").detail().problem, "unknown unit '.3ns'");
  EXPECT_EQ(time("0.5ps").detail().problem, "not a whole number of picoseconds");
  EXPECT_EQ(time("9223372036854775808ps").detail().problem, "the quantity is too large");
  EXPECT_EQ(time("99999999999999999999ps").detail().problem, "the number is too large");
  EXPECT_EQ(time("10000000s").detail().problem, "the quantity is too large");
  EXPECT_EQ(input_error([] { parse_bytes("1.5B"); }).detail().problem, "not a whole number of bytes");
  EXPECT_EQ(input_error([] { parse_bandwidth("64"); }).detail().problem, "the unit is missing");
  EXPECT_EQ(input_error([] { parse_bandwidth("0GB/s"); }).detail().problem, "the rate must be above zero");
  EXPECT_EQ(input_error([] { parse_frequency("50mHz"); }).detail().problem, "unknown unit 'mHz'");
}

TEST(Units, ManyDigitsAfterThePointAreRefusedNotMiscounted) {
  for (const int zeros : {18, 19, 20, 30, 63, 64, 100}) {
    const std::string number = "0." + std::string(static_cast<std::size_t>(zeros), '0') + "1";
    EXPECT_THROW(parse_time(number + "s"), InputError) << zeros;
    EXPECT_THROW(parse_bytes(number + "TiB"), InputError) << zeros;
    EXPECT_THROW(parse_bandwidth(number + "TB/s"), InputError) << zeros;
  }
}

TEST(Units, WhatIsPrintedReadsBackTheSame) {
  RandomStream random(1, "units", "test");
  for (int i = 0; i < 2000; ++i) {
    const std::uint64_t bits = random.below(63);
    const std::uint64_t value = random.below(std::uint64_t{1} << bits);
    EXPECT_EQ(parse_time(to_text(Time{static_cast<std::int64_t>(value)})),
              Time{static_cast<std::int64_t>(value)});
    EXPECT_EQ(parse_bytes(to_text(Bytes{value})), Bytes{value});
    EXPECT_EQ(parse_address(to_text(Address{value})), Address{value});
  }
  EXPECT_EQ(to_text(0_ps), "0ps");
  EXPECT_EQ(to_text(1500_ps), "1500ps");
  EXPECT_EQ(to_text(45_ns), "45ns");
  EXPECT_EQ(to_text(Time{-3000}), "-3ns");
  EXPECT_EQ(to_text(16_GiB), "16GiB");
  EXPECT_EQ(to_text(1536_B), "1536B");
  EXPECT_EQ(to_text(Address{255}), "0xff");
}

TEST(Units, RatesThatWereReadPrintAndReadBackTheSame) {
  EXPECT_EQ(to_text(parse_bandwidth("64GB/s")), "64GB/s");
  EXPECT_EQ(to_text(parse_bandwidth("512Gb/s")), "64GB/s");
  EXPECT_EQ(to_text(parse_bandwidth("0.5TB/s")), "500GB/s");
  EXPECT_EQ(to_text(parse_bandwidth("999B/s")), "999B/s");
  EXPECT_EQ(to_text(parse_bandwidth("1TiB/s")), "1.099511627776TB/s");
  EXPECT_EQ(to_text(parse_frequency("50M/s")), "50M/s");
  EXPECT_EQ(to_text(Bandwidth{}), "unlimited");
  EXPECT_EQ(to_text(Bandwidth{Rate::per_time(1, 3)}), "333.333333333GB/s");  // no decimal: nine places
  RandomStream random(2, "rates", "test");
  const std::vector<std::string> units{"KB/s",  "MB/s",  "GB/s",  "TB/s", "KiB/s",
                                       "MiB/s", "GiB/s", "TiB/s", "Mb/s", "Gb/s"};
  for (int i = 0; i < 2000; ++i) {
    std::string text = std::to_string(1 + random.below(10'000));
    if (random.chance(0.5)) text.insert(text.size() - random.below(text.size()), ".");
    const Bandwidth bandwidth =
        parse_bandwidth((text.front() == '.' ? "1" + text : text) + units[random.below(units.size())]);
    EXPECT_EQ(parse_bandwidth(to_text(bandwidth)), bandwidth) << text;
  }
}

TEST(RateMeter, AMillionFlitsAreExactHoweverCutUp) {
  // 1062.5 ps for 68 B: 15.625 ps per byte.
  const Rate rate = Rate::per_time(68, 2125);
  RateMeter bytes(Rate::per_time(136, 2125));
  Time flits;
  for (int i = 0; i < 1'000'000; ++i) flits += bytes.advance(68);
  EXPECT_EQ(flits, Time{1'062'500'000});
  RandomStream random(3, "meter", "test");
  for (int trial = 0; trial < 20; ++trial) {
    RateMeter meter(rate);
    std::uint64_t left = 68'000'000;
    Time sum;
    std::uint64_t done = 0;
    while (left > 0) {
      const std::uint64_t piece = std::min<std::uint64_t>(left, 1 + random.below(1U << 20U));
      sum += meter.advance(piece);
      left -= piece;
      done += piece;
      ASSERT_EQ(sum.ps(), static_cast<std::int64_t>(done * 2125 / 68));
    }
  }
}

TEST(RateMeter, UnlimitedTakesNoTimeAndRestartForgets) {
  RateMeter unlimited;
  EXPECT_EQ(unlimited.advance(1'000'000), 0_ps);
  RateMeter meter(Rate::per_time(2, 1));  // half a picosecond per unit
  EXPECT_EQ(meter.advance(1), 0_ps);
  meter.restart();
  EXPECT_EQ(meter.advance(1), 0_ps);
  EXPECT_EQ(meter.advance(1), 1_ps);
  EXPECT_EQ(meter.advance(1), 0_ps);
  meter.restart_if(false);
  EXPECT_EQ(meter.advance(1), 1_ps);
  EXPECT_EQ(meter.advance(1), 0_ps);
  meter.restart_if(true);
  EXPECT_EQ(meter.advance(1), 0_ps);
}

TEST(Rate, IsReducedAndRefusesNothing) {
  EXPECT_EQ(Rate::per_time(64, 1000), Rate::per_time(8, 125));
  EXPECT_EQ(Rate::per_time(64, 1000).per_second(), 64e9);
  EXPECT_THROW(Rate::per_time(0, 1), InternalError);
  EXPECT_THROW(Rate::per_time(1, 0), InternalError);
}

TEST(LineAddress, IsTheAddressWithoutItsOffset) {
  EXPECT_EQ(LineAddress::of(Address{127}).number(), 1U);
  EXPECT_EQ(LineAddress::of(Address{127}).address(), Address{64});
}

}  // namespace
}  // namespace cxloom
