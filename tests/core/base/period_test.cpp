#include "base/period.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace cxloom {
namespace {

std::int64_t after(const char* text, std::uint64_t steps) { return parse_period(text).after(steps)->ps(); }

TEST(Period, IsATimeOrAFrequency) {
  EXPECT_EQ(after("625ps", 1000), 625'000);
  EXPECT_EQ(after("1.6 GHz", 1000), 625'000);
  EXPECT_EQ(after("0.5ns", 3), 1500);
  EXPECT_EQ(after("32768Hz", 32768), 1'000'000'000'000);
  EXPECT_EQ(parse_period("2.5ns"), parse_period("400MHz"));
}

// 0.416667 ns is not a cycle of 2.4 GHz: after three million of them it is a nanosecond late.
TEST(Period, IsExact) {
  EXPECT_EQ(after("2.4GHz", 3'000'000), 1'250'000'000);
  EXPECT_EQ(after("416.667ps", 3'000'000), 1'250'001'000);
  EXPECT_EQ(after("1062.5ps", 1), 1062);
  EXPECT_EQ(after("1062.5ps", 2'000'000'001), 2'125'000'001'062);
}

TEST(Period, SaysWhenTheTimeIsTooLarge) {
  const Period tick = parse_period("100ns");
  const std::uint64_t most = tick.most_steps();
  EXPECT_EQ(most, 92'233'720'368'547U);  // 2^63 - 1 ps
  EXPECT_TRUE(tick.after(most));
  EXPECT_FALSE(tick.after(most + 1));
  EXPECT_EQ(parse_period("0.1ps").most_steps(), ~std::uint64_t{0});
}

TEST(Period, IsWrittenAsItCanBeRead) {
  for (const char* const text : {"625ps", "416.667ps", "1ns", "2400MHz", "3000MHz", "0.25ps", "1062.5ps"}) {
    const Period period = parse_period(text);
    EXPECT_EQ(parse_period(to_text(period)), period) << to_text(period);
  }
  EXPECT_EQ(to_text(parse_period("2.4GHz")), "2400MHz");
  EXPECT_EQ(to_text(parse_period("1.6GHz")), "625ps");
}

TEST(Period, RefusesWhatIsNone) {
  for (const char* const text : {"0ps", "0GHz", "5", "GHz", "-5ps", "1/s", "1e9ps", "", "1.2.3ps", "5 cycles",
                                 "12345678901234567890ps", "3601s", "0.0001Hz"}) {
    EXPECT_THROW(parse_period(text), InputError) << text;
  }
}

}  // namespace
}  // namespace cxloom
