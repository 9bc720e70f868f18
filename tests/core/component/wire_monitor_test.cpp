#include "component/wire_monitor.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/random.hpp"

namespace cxloom {
namespace {

using namespace literals;

struct Expected {
  std::int64_t busy = 0;
  double queue_integral = 0.0;
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  std::uint64_t payload = 0;
};

std::int64_t overlap(Time from, Time to, Time open, Time close) {
  return std::max<std::int64_t>(0, (std::min(to, close) - std::max(from, open)).ps());
}

/// Busy time and queue by overlap with the window; messages and bytes of those that end in it.
Expected by_hand(const std::vector<Passage>& passages, Time open, Time close) {
  Expected sum;
  for (const Passage& each : passages) {
    sum.busy += overlap(each.start, each.end, open, close);
    sum.queue_integral += static_cast<double>(overlap(each.ready, each.start, open, close));
    if (each.end > open && each.end <= close) {
      ++sum.messages;
      sum.bytes += each.bytes;
      sum.payload += each.payload;
    }
  }
  return sum;
}

void expect_same(const WireTotals& got, const Expected& wanted) {
  EXPECT_EQ(got.busy.ps(), wanted.busy);
  EXPECT_EQ(got.messages, wanted.messages);
  EXPECT_EQ(got.bytes, wanted.bytes);
  EXPECT_EQ(got.payload, wanted.payload);
}

TEST(WireMonitor, AWindowThatOpensAndClosesInTheMiddleOfPassages) {
  // 100 ps passages back to back; the window takes half of the first, one whole, and a quarter of the third.
  WireMonitor monitor;
  for (int i = 0; i < 3; ++i) monitor.book({0_ps, Time{100 * i}, Time{100 * (i + 1)}, 80, 64}, 0_ps);
  monitor.open(50_ps);
  monitor.close(225_ps);
  const WireTotals totals = monitor.closed_totals();
  EXPECT_EQ(totals.busy, 175_ps);
  EXPECT_EQ(totals.messages, 2U);  // those whose end lies in the window
  EXPECT_EQ(totals.bytes, 160U);
  EXPECT_EQ(totals.payload, 128U);
  EXPECT_EQ(totals.efficiency(), Value(0.8));
  // Waiting: two until 100 ps, one until 200 ps, none after.
  EXPECT_EQ(monitor.queue().integral(), 2.0 * 50 + 1.0 * 100);
  EXPECT_EQ(monitor.queue().maximum(), 2.0);
}

TEST(WireMonitor, CountsWhatHasPassedWhateverTheWindow) {
  WireMonitor monitor;
  for (int i = 0; i < 10; ++i)
    monitor.book({Time{100 * i}, Time{100 * i}, Time{100 * (i + 1)}, 80, 64}, 0_ps);
  EXPECT_EQ(monitor.messages_so_far(99_ps), 0U);
  EXPECT_EQ(monitor.messages_so_far(100_ps), 1U);
  monitor.open(350_ps);
  EXPECT_EQ(monitor.messages_so_far(450_ps), 4U);
  monitor.close(650_ps);
  EXPECT_EQ(monitor.messages_so_far(750_ps), 7U);
  EXPECT_EQ(monitor.closed_totals().messages, 3U);
  EXPECT_EQ(monitor.messages_so_far(1_ns), 10U);
}

TEST(WireMonitor, OnePassageLongerThanTheWindow) {
  WireMonitor monitor;
  monitor.book({0_ps, 0_ps, 1000_ps, 100, 50}, 0_ps);
  monitor.open(400_ps);
  EXPECT_EQ(monitor.totals(500_ps).busy, 100_ps);
  monitor.close(700_ps);
  EXPECT_EQ(monitor.closed_totals().busy, 300_ps);
  EXPECT_TRUE(monitor.closed_totals().efficiency().is_null()) << "of no bytes";
  EXPECT_EQ(monitor.closed_totals().messages, 0U);
  monitor.totals(2000_ps);  // its end after the close counts no more
  EXPECT_EQ(monitor.closed_totals().busy, 300_ps);
  EXPECT_EQ(monitor.closed_totals().messages, 0U);
}

TEST(WireMonitor, MatchesBruteForceForAnyPassagesAndWindow) {
  RandomStream random(2, "monitor", "test");
  for (int trial = 0; trial < 500; ++trial) {
    WireMonitor monitor;
    std::vector<Passage> passages;
    const Time open{static_cast<std::int64_t>(random.below(3000))};
    const Time close = open + Time{1 + static_cast<std::int64_t>(random.below(8000))};
    const Time sample =
        open + Time{static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>((close - open).ps())))};
    bool opened = false;
    bool closed = false;
    bool sampled = false;
    WireTotals at_sample;
    Time now;
    Time ready;
    Time free;
    const std::uint64_t gap = 20 + random.below(200);
    const auto look = [&](Time at) {
      if (!opened && open <= at) opened = true, monitor.open(open);
      if (!sampled && sample <= at) sampled = true, at_sample = monitor.totals(sample);
      if (!closed && close <= at) closed = true, monitor.close(close);
    };
    for (int i = 0; i < 80; ++i) {
      now += Time{static_cast<std::int64_t>(random.below(gap))};
      look(now);
      // Ready now or a little later; a wire of 1 ps per byte, sometimes held longer by a late tail.
      ready = std::max(ready, now + Time{static_cast<std::int64_t>(random.below(3) * random.below(100))});
      const Time start = std::max(ready, free);
      const auto bytes = static_cast<std::uint32_t>(random.below(150));
      free = start + Time{static_cast<std::int64_t>(bytes + random.below(2) * random.below(50))};
      const auto payload = static_cast<std::uint32_t>(random.below(bytes + 1));
      passages.push_back({ready, start, free, bytes, static_cast<std::uint16_t>(payload)});
      monitor.book(passages.back(), now);
    }
    look(Time::max());
    expect_same(monitor.closed_totals(), by_hand(passages, open, close));
    expect_same(at_sample, by_hand(passages, open, sample));
    EXPECT_EQ(monitor.queue().integral(), by_hand(passages, open, close).queue_integral);
    ASSERT_FALSE(HasFailure()) << "trial " << trial;
  }
}

}  // namespace
}  // namespace cxloom
