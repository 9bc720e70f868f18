#include "workload/first_touch.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "core/support/errors.hpp"

namespace cxloom {
namespace {

using test::input_error;
using Pages = std::vector<std::optional<std::uint64_t>>;

std::vector<std::uint64_t> counts(const std::vector<Frames>& shares) {
  std::vector<std::uint64_t> all;
  for (const Frames& share : shares) all.push_back(count_of(share));
  return all;
}

std::vector<std::uint64_t> addresses(const Frames& frames) {
  std::vector<std::uint64_t> all;
  for (const FrameRun& run : frames) {
    for (std::uint64_t i = 0; i < run.count; ++i) all.push_back(run.base.value() + i * kPageBytes);
  }
  return all;
}

AddressMap map_of(std::uint32_t memories, std::uint64_t interleave, Bytes capacity) {
  RegionParams region;
  std::vector<MemoryTargetInfo> targets;
  for (std::uint32_t i = 0; i < memories; ++i) {
    region.to.push_back("m" + std::to_string(i));
    targets.push_back({region.to.back(), NodeId{i}, capacity});
  }
  region.interleave = Bytes{interleave};
  AddressMap map;
  map.add_region(region, targets);
  return map;
}

/// These addresses, one access after the other.
class Listed final : public AccessStream {
 public:
  explicit Listed(std::vector<std::uint64_t> addresses, std::uint16_t size = 64)
      : addresses_(std::move(addresses)), size_(size) {}
  bool next(Access& access) override {
    if (at_ == addresses_.size()) return false;
    access.address = Address{addresses_[at_++]};
    access.size = size_;
    return true;
  }

 private:
  std::vector<std::uint64_t> addresses_;
  std::uint16_t size_;
  std::size_t at_ = 0;
};

std::vector<std::uint64_t> placed(std::vector<std::uint64_t> addresses, const Frames& frames,
                                  std::uint16_t size = 64, Division division = {}) {
  FirstTouchStream stream(std::make_unique<Listed>(std::move(addresses), size), frames, division,
                          "workload.h");
  std::vector<std::uint64_t> all;
  for (Access access; stream.next(access);) all.push_back(access.address.value());
  return all;
}

TEST(DivideFrames, WhatFitsTogetherFits) {
  const Frames memory{{Address{0}, 1000}, {Address{1ULL << 40U}, 24}};
  RandomStream random(1, "frames", "test");
  for (int round = 0; round < 200; ++round) {
    Pages pages;
    std::uint64_t left = 1024;
    while (left > 0) {
      pages.emplace_back(1 + random.below(left));
      left -= *pages.back();
    }
    const std::vector<Frames> shares = divide(memory, pages);
    std::set<std::uint64_t> all;
    for (std::size_t i = 0; i < pages.size(); ++i) {
      EXPECT_EQ(count_of(shares[i]), *pages[i]);
      for (const std::uint64_t frame : addresses(shares[i]))
        EXPECT_TRUE(all.insert(frame).second) << "shared";
    }
    EXPECT_EQ(all.size(), 1024U);
  }
  EXPECT_EQ(counts(divide({{Address{0}, 4096}}, Pages{16, 3072})), (std::vector<std::uint64_t>{16, 3072}));
}

TEST(DivideFrames, WhatDoesNotFitIsDividedFairly) {
  const auto shares = [](std::uint64_t frames, const Pages& pages) {
    return counts(divide({{Address{0}, frames}}, pages));
  };
  using Counts = std::vector<std::uint64_t>;
  EXPECT_EQ(shares(100, {100, 300}), (Counts{50, 50}));
  EXPECT_EQ(shares(100, {300, 10, 100}), (Counts{45, 10, 45}));
  EXPECT_EQ(shares(4096, {4096, 1}), (Counts{4095, 1}));
  EXPECT_EQ(shares(10, {0, 100, 4, 3}), (Counts{0, 4, 3, 3}));
  const std::uint64_t huge = ~std::uint64_t{0};
  EXPECT_EQ(shares(101, {huge, huge}), (Counts{50, 51}));
}

// Nobody can get more but from somebody who has no more than one frame above it, and more memory takes nothing away.
TEST(DivideFrames, SharesAreMaxMinFair) {
  RandomStream random(1, "shares", "test");
  for (int round = 0; round < 200; ++round) {
    Pages pages;
    for (std::uint64_t programs = 1 + random.below(6); programs > 0; --programs)
      pages.emplace_back(random.below(5) > 0 ? std::optional(random.below(40)) : std::nullopt);
    std::vector<std::uint64_t> before(pages.size());
    for (std::uint64_t frames = 1; frames < 200; ++frames) {
      const std::vector<std::uint64_t> got = counts(divide({{Address{0}, frames}}, pages));
      std::uint64_t used = 0;
      std::uint64_t largest = 0;
      for (std::size_t i = 0; i < pages.size(); ++i) {
        used += got[i];
        if (pages[i]) largest = std::max(largest, got[i]);
      }
      ASSERT_LE(used, frames);
      for (std::size_t i = 0; i < pages.size(); ++i) {
        EXPECT_GE(got[i], before[i]) << "with " << frames << " frames";
        EXPECT_LE(got[i], pages[i].value_or(frames));
        if (pages[i] && got[i] < *pages[i]) {
          EXPECT_GE(got[i] + 1, largest);
        }
        if (frames >= pages.size()) {
          EXPECT_GE(got[i], std::min<std::uint64_t>(1, pages[i].value_or(1)));
        }
      }
      before = got;
    }
  }
}

TEST(DivideFrames, TheUnknownShareWhatTheOthersLeave) {
  const Frames memory{{Address{0}, 100}};
  EXPECT_EQ(counts(divide(memory, Pages{std::nullopt})), (std::vector<std::uint64_t>{100}));
  EXPECT_EQ(counts(divide(memory, Pages{std::nullopt, 40, std::nullopt})),
            (std::vector<std::uint64_t>{30, 40, 30}));
  EXPECT_EQ(counts(divide(memory, Pages{std::nullopt, 100})), (std::vector<std::uint64_t>{1, 99}));
  EXPECT_EQ(counts(divide(memory, Pages{std::nullopt, 300, 300})), (std::vector<std::uint64_t>{1, 49, 50}));
}

TEST(DivideFrames, SharesAreSpreadOverInterleavedMemories) {
  for (const std::uint32_t memories : {2U, 3U, 4U, 8U}) {
    for (const std::uint64_t interleave : {256U, 1024U, 4096U, 16384U}) {
      const AddressMap map = map_of(memories, interleave, Bytes{12ULL << 20U});
      for (std::size_t programs = 1; programs <= 8; ++programs) {
        for (const Frames& share : divide(frames_of(map), Pages(programs, 64))) {
          std::vector<std::uint64_t> bytes(memories);
          for (const std::uint64_t frame : addresses(share)) {
            for (std::uint64_t at = 0; at < kPageBytes; at += 256)
              bytes[map.find(Address{frame + at})->target.index()] += 256;
          }
          const auto [least, most] = std::ranges::minmax(bytes);
          EXPECT_LE(most - least, interleave) << memories << " memories by " << interleave;
        }
      }
    }
  }
}

TEST(FramesOf, LeavesOutWhatNoRegionHolds) {
  AddressMap map;
  RegionParams region{.to = {"m"}, .size = Bytes{3 * kPageBytes + 256}, .base = Address{1U << 20U}};
  const std::vector<MemoryTargetInfo> targets{{"m", NodeId{0}, Bytes{1U << 20U}}};
  map.add_region(region, targets);
  region.base = std::nullopt;
  map.add_region(region, targets);
  region.base = Address{1U << 30U};
  map.add_region(region, targets);
  const Frames frames = frames_of(map);
  ASSERT_EQ(frames.size(), 2U);
  EXPECT_EQ(frames[0].base.value(), 1U << 20U);
  EXPECT_EQ(frames[0].count, 6U);
  EXPECT_EQ(frames[1].base.value(), 1U << 30U);
  EXPECT_EQ(frames[1].count, 3U);
  for (const std::uint64_t at : addresses(frames)) {
    EXPECT_TRUE(map.find(Address{at}));
    EXPECT_TRUE(map.find(Address{at + kPageBytes - 1}));
  }
}

TEST(PagesTouched, CountsEachPageOnce) {
  EXPECT_EQ(pages_in({{Address{0}, 4096}, {Address{4095}, 2}, {Address{1U << 20U}, 8192}}), 4U);
  EXPECT_EQ(pages_in({{Address{~std::uint64_t{0}}, 64}}), 1U);
  for (const auto& [accesses, pages] : {std::pair{0U, 0U}, {3U, 1U}, {4U, 2U}, {5U, 3U}, {100U, 3U}}) {
    Listed stream({0, 4032, 64, 4090, 1U << 30U});
    EXPECT_EQ(pages_touched(stream, accesses), pages) << accesses;
  }
}

TEST(FirstTouchStream, FramesFollowTheOrderOfTouch) {
  const Frames frames{{Address{1U << 20U}, 2}, {Address{1U << 30U}, 1}};
  EXPECT_EQ(
      placed({0x7fff'0000'0ff0, 0x1000, 0x7fff'0000'0040, 0x9000}, frames),
      (std::vector<std::uint64_t>{(1U << 20U) + 0xff0, (1U << 20U) + 0x1000, (1U << 20U) + 0x40, 1U << 30U}));
}

TEST(FirstTouchStream, StaysInItsFrames) {
  // The last page has no frame behind it: an access across its end ends with it.
  const Frames frames{{Address{0}, 2}, {Address{1U << 20U}, 1}};
  EXPECT_EQ(placed({0x0, 0x1ff0, 0x2000}, frames), (std::vector<std::uint64_t>{0x0, 0x1fc0, 1U << 20U}));
  EXPECT_EQ(placed({0x0ff0, 0x1000}, frames), (std::vector<std::uint64_t>{0x0ff0, 0x1000}));
}

TEST(FirstTouchStream, ReportsWhatHasNoFrame) {
  const Frames frames{{Address{0}, 2}};
  const InputError error = input_error([&] { placed({0, 4096, 8192}, frames); });
  EXPECT_EQ(error.path(), "workload.h");
  EXPECT_EQ(error.detail().found, "page 3 of 4KiB");
  EXPECT_EQ(error.detail().allowed, "at most 2 pages (8KiB)");
  const InputError shared = input_error([&] { placed({0, 4096, 8192}, frames, 64, {4096, 3}); });
  EXPECT_EQ(shared.detail().allowed, "at most 2 pages (8KiB), its share of 4096 frames among 3 programs");
}

TEST(FirstTouchStream, ReportsAnAccessThatIsLongerThanItsMemory) {
  const Frames frames{{Address{0}, 2}, {Address{1U << 20U}, 4}};
  const InputError error = input_error([&] { placed({0, 4096}, frames, 8192); });
  EXPECT_EQ(error.path(), "workload.h");
  EXPECT_EQ(error.detail().problem, "the access is longer than the memory that follows on its first byte");
  EXPECT_EQ(error.detail().found, "8KiB from page 2 of 4KiB on");
  EXPECT_EQ(error.detail().allowed, "at most 4KiB in frames that lie side by side");
  const InputError shared = input_error([&] { placed({0, 4096}, frames, 8192, {9, 2}); });
  EXPECT_EQ(shared.detail().allowed,
            "at most 4KiB in frames that lie side by side, its share of 9 frames among 2 programs");
}

}  // namespace
}  // namespace cxloom
