#include "workload/placement/frame_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace cxloom {
namespace {

constexpr std::uint64_t kPage = 4096;

std::vector<std::uint64_t> places(const Shuffle& shuffle, std::uint64_t count) {
  std::vector<std::uint64_t> all;
  for (std::uint64_t place = 0; place < count; ++place) all.push_back(shuffle.at(place));
  return all;
}

// Capacity: no frame is given twice, and none is left out, whatever the number of frames.
TEST(Shuffle, GivesEachNumberOnce) {
  std::vector<std::uint64_t> counts(300);
  std::iota(counts.begin(), counts.end(), std::uint64_t{1});
  counts.insert(counts.end(), {4095, 4096, 4097, 65'536, 100'003});
  for (const std::uint64_t count : counts) {
    for (const std::uint64_t key : {0ULL, 1ULL, 0x1234'5678'9abc'def0ULL}) {
      std::vector<std::uint64_t> all = places(Shuffle(count, key), count);
      std::ranges::sort(all);
      for (std::uint64_t i = 0; i < count; ++i) ASSERT_EQ(all[i], i) << count << " numbers, key " << key;
    }
  }
}

// A drawn order of n numbers has n - 1 steps, each of which is +1 with probability 1/n: one is expected, more
// than ten are seen once in ten million keys. Distances are as even as draws are: steps of at most n/16
// either way are 1 - (15/16)^2 of all, 12.1 %, with a standard deviation of 0.13 % of 65536.
TEST(Shuffle, HasNoPattern) {
  constexpr std::uint64_t kCount = 65'536;
  for (const std::uint64_t key : {1ULL, 2ULL, 3ULL}) {
    const std::vector<std::uint64_t> all = places(Shuffle(kCount, key), kCount);
    std::uint64_t next = 0;
    std::uint64_t near = 0;
    for (std::uint64_t i = 1; i < kCount; ++i) {
      const auto step = static_cast<std::int64_t>(all[i]) - static_cast<std::int64_t>(all[i - 1]);
      next += step == 1;
      near += std::abs(step) <= static_cast<std::int64_t>(kCount / 16);
    }
    EXPECT_LE(next, 10U);
    EXPECT_NEAR(static_cast<double>(near) / kCount, 1.0 - 15.0 * 15.0 / 256.0, 0.006);
  }
}

// Each sixteenth of the node has as many of the frames given first: a footprint is spread over all banks.
TEST(Shuffle, SpreadsWhatIsGivenFirst) {
  constexpr std::uint64_t kCount = 1U << 20U;
  constexpr std::uint64_t kGiven = 16'000;
  const Shuffle shuffle(kCount, 7);
  std::vector<std::uint64_t> parts(16);
  for (std::uint64_t i = 0; i < kGiven; ++i) ++parts[shuffle.at(i) / (kCount / 16)];
  // 1000 each, with a standard deviation of 31.
  for (const std::uint64_t part : parts) EXPECT_NEAR(static_cast<double>(part), 1000.0, 150.0);
}

TEST(Shuffle, DiffersByItsKey) {
  const std::vector<std::uint64_t> one = places(Shuffle(1000, 1), 1000);
  EXPECT_EQ(one, places(Shuffle(1000, 1), 1000));
  EXPECT_NE(one, places(Shuffle(1000, 2), 1000));
}

TEST(FrameOrder, IsContiguousWithoutAKey) {
  const FrameOrder order({{Address{0}, 2}, {Address{1U << 20U}, 3}}, Bytes{kPage});
  EXPECT_EQ(order.count(), 5U);
  EXPECT_EQ(order.at(1, 5).base.value(), kPage);
  EXPECT_EQ(order.at(1, 5).room, kPage);  // the run ends
  EXPECT_EQ(order.at(2, 5).base.value(), 1U << 20U);
  EXPECT_EQ(order.at(2, 5).room, 3 * kPage);
  EXPECT_EQ(order.at(2, 4).room, 2 * kPage);  // what belongs to it ends
}

TEST(FrameOrder, ScattersOverAllOfItsFrames) {
  const Frames frames{{Address{0}, 200}, {Address{1U << 30U}, 100}};
  const FrameOrder order(frames, Bytes{kPage}, 9);
  std::vector<std::uint64_t> bases;
  for (std::uint64_t place = 0; place < 300; ++place) {
    const FrameOrder::Frame frame = order.at(place, 300);
    EXPECT_EQ(frame.room, kPage);  // what is behind it belongs to another page
    bases.push_back(frame.base.value());
  }
  std::ranges::sort(bases);
  for (std::uint64_t i = 0; i < 200; ++i) EXPECT_EQ(bases[i], i * kPage);
  for (std::uint64_t i = 0; i < 100; ++i) EXPECT_EQ(bases[200 + i], (1U << 30U) + i * kPage);
}

}  // namespace
}  // namespace cxloom
