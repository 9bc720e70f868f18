// What each prefetcher asks for, against sequences worked by hand.
#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <vector>

#include "tags/prefetch_best_offset.hpp"
#include "tags/prefetch_leap.hpp"
#include "tags/prefetch_next_line.hpp"
#include "tags/prefetch_streamer.hpp"
#include "tags/prefetch_stride.hpp"

namespace cxloom {
namespace {

using Lines = std::vector<std::uint64_t>;

Lines wanted(Prefetcher& prefetcher, std::uint64_t line, Found found = Found::kMiss,
             std::uint32_t thread = 0) {
  std::vector<LineAddress> lines;
  prefetcher.accessed({LineAddress{line}, thread, found}, lines);
  Lines numbers;
  for (const LineAddress each : lines) numbers.push_back(each.number());
  return numbers;
}

template <class Kind>
Kind made(typename Kind::Params params = {}) {
  PrefetcherContext context;
  return Kind(params, context);
}

// ---- Next line

TEST(NextLine, TheLinesBehindOneThatIsNew) {
  NextLinePrefetcher::Params params;
  params.degree = 3;
  NextLinePrefetcher prefetcher(made<NextLinePrefetcher>(params));
  EXPECT_EQ(wanted(prefetcher, 10), (Lines{11, 12, 13}));
  EXPECT_EQ(wanted(prefetcher, 10, Found::kHit), Lines{});
  EXPECT_EQ(wanted(prefetcher, 11, Found::kFirstUse), (Lines{12, 13, 14}));
}

// ---- Streamer

TEST(Streamer, TheLinesBeforeAStreamSomeAtEachAccess) {
  StreamerPrefetcher::Params params;
  params.distance = 5;
  StreamerPrefetcher prefetcher(made<StreamerPrefetcher>(params));
  EXPECT_EQ(wanted(prefetcher, 10), Lines{});
  EXPECT_EQ(wanted(prefetcher, 11), Lines{});
  EXPECT_EQ(wanted(prefetcher, 13), (Lines{14, 15})) << "two steps up, whatever their length";
  EXPECT_EQ(wanted(prefetcher, 14, Found::kFirstUse), (Lines{16, 17}));
  EXPECT_EQ(wanted(prefetcher, 15, Found::kFirstUse), (Lines{18, 19}));
  EXPECT_EQ(wanted(prefetcher, 16, Found::kFirstUse), (Lines{20, 21}));
  EXPECT_EQ(wanted(prefetcher, 17, Found::kFirstUse), (Lines{22})) << "no further than five lines ahead";
  EXPECT_EQ(wanted(prefetcher, 40), (Lines{41, 42})) << "a step over what was asked for";
  EXPECT_EQ(wanted(prefetcher, 39), Lines{}) << "the other way: a new stream";
  EXPECT_EQ(wanted(prefetcher, 38), (Lines{37, 36}));
}

TEST(Streamer, LeavesNoHolesWhereFewerLinesAreTaken) {
  StreamerPrefetcher prefetcher(made<StreamerPrefetcher>());
  prefetcher.set_limit(1);
  for (const std::uint64_t line : {10, 11}) EXPECT_EQ(wanted(prefetcher, line), Lines{});
  EXPECT_EQ(wanted(prefetcher, 12), (Lines{13}));
  EXPECT_EQ(wanted(prefetcher, 13, Found::kFirstUse), (Lines{14}));
  prefetcher.set_limit(2);
  EXPECT_EQ(wanted(prefetcher, 14, Found::kFirstUse), (Lines{15, 16}));
}

TEST(Streamer, StaysInItsPageAndKeepsThreadsApart) {
  StreamerPrefetcher prefetcher(made<StreamerPrefetcher>());
  for (const std::uint64_t line : {60, 61}) EXPECT_EQ(wanted(prefetcher, line), Lines{});
  for (const std::uint64_t line : {60, 61}) EXPECT_EQ(wanted(prefetcher, line, Found::kMiss, 1), Lines{});
  EXPECT_EQ(wanted(prefetcher, 62), (Lines{63}));
  EXPECT_EQ(wanted(prefetcher, 64), Lines{}) << "another page";
  EXPECT_EQ(wanted(prefetcher, 62, Found::kMiss, 1), (Lines{63}));
}

TEST(Streamer, DownToTheFirstLineOfMemory) {
  StreamerPrefetcher prefetcher(made<StreamerPrefetcher>());
  for (const std::uint64_t line : {4, 3}) EXPECT_EQ(wanted(prefetcher, line), Lines{});
  EXPECT_EQ(wanted(prefetcher, 2), (Lines{1, 0}));
  EXPECT_EQ(wanted(prefetcher, 1), Lines{});
}

// ---- Leap

TEST(Leap, TheStrideOfTheMajorityInAWindowThatGrowsWithItsUse) {
  LeapPrefetcher::Params params;
  params.history = 8;
  LeapPrefetcher prefetcher(made<LeapPrefetcher>(params));
  // Three of the latest four strides must be the same.
  EXPECT_EQ(wanted(prefetcher, 0), Lines{});
  EXPECT_EQ(wanted(prefetcher, 3), Lines{});
  EXPECT_EQ(wanted(prefetcher, 6), Lines{});
  EXPECT_EQ(wanted(prefetcher, 9), (Lines{12})) << "nothing was useful yet, but it follows the trend";
  EXPECT_EQ(wanted(prefetcher, 12, Found::kFirstUse), Lines{}) << "it is asked for at misses";
  EXPECT_EQ(wanted(prefetcher, 15), (Lines{18, 21})) << "one was useful: two";
  wanted(prefetcher, 18, Found::kFirstUse);
  wanted(prefetcher, 21, Found::kFirstUse);
  EXPECT_EQ(wanted(prefetcher, 24), (Lines{27, 30, 33, 36})) << "two were: three, rounded up to four";
  EXPECT_EQ(wanted(prefetcher, 100), (Lines{103, 106})) << "none was, and it follows nothing: half";
  EXPECT_EQ(wanted(prefetcher, 27, Found::kHit), Lines{});
}

TEST(Leap, AShortDisturbanceDoesNotHideATrend) {
  LeapPrefetcher::Params params;
  params.history = 8;
  LeapPrefetcher prefetcher(made<LeapPrefetcher>(params));
  for (const std::uint64_t line : {0U, 2U, 4U, 6U, 8U, 10U}) wanted(prefetcher, line);
  // One of the latest four strides is another.
  EXPECT_EQ(wanted(prefetcher, 50), Lines{}) << "the window shrinks to nothing where nothing was useful";
  EXPECT_EQ(wanted(prefetcher, 52), (Lines{54}));
}

TEST(Leap, EachThreadHasItsOwnStrides) {
  LeapPrefetcher prefetcher(made<LeapPrefetcher>());
  Lines first;
  Lines second;
  for (std::uint64_t i = 0; i < 40; ++i) {
    first = wanted(prefetcher, 5 * i, Found::kMiss, 1);
    second = wanted(prefetcher, 10'000 - 2 * i, Found::kMiss, 2);
  }
  EXPECT_EQ(first, (Lines{200}));
  EXPECT_EQ(second, (Lines{10'000 - 80}));
}

// ---- Stride

TEST(Stride, TwoEqualStridesAndThenWhatFollows) {
  StridePrefetcher prefetcher(made<StridePrefetcher>());
  EXPECT_EQ(wanted(prefetcher, 0), Lines{});
  EXPECT_EQ(wanted(prefetcher, 3), Lines{});
  EXPECT_EQ(wanted(prefetcher, 6), (Lines{9, 12}));
  EXPECT_EQ(wanted(prefetcher, 9, Found::kFirstUse), (Lines{12, 15}));
  EXPECT_EQ(wanted(prefetcher, 12, Found::kHit), (Lines{15, 18}));
}

TEST(Stride, BackwardsToo) {
  StridePrefetcher prefetcher(made<StridePrefetcher>());
  for (const std::uint64_t line : {60U, 55U}) EXPECT_EQ(wanted(prefetcher, line), Lines{});
  EXPECT_EQ(wanted(prefetcher, 50), (Lines{45, 40}));
}

TEST(Stride, OneThatDoesNotRepeatBeginsAnew) {
  StridePrefetcher prefetcher(made<StridePrefetcher>());
  for (const std::uint64_t line : {0U, 3U}) wanted(prefetcher, line);
  EXPECT_EQ(wanted(prefetcher, 6).size(), 2U);
  EXPECT_EQ(wanted(prefetcher, 7), Lines{});
  EXPECT_EQ(wanted(prefetcher, 8), (Lines{9, 10}));
}

TEST(Stride, TheSameLineAgainSaysNothing) {
  StridePrefetcher prefetcher(made<StridePrefetcher>());
  for (const std::uint64_t line : {0U, 0U, 3U, 3U, 3U}) EXPECT_EQ(wanted(prefetcher, line), Lines{});
  EXPECT_EQ(wanted(prefetcher, 6), (Lines{9, 12}));
  EXPECT_EQ(wanted(prefetcher, 6, Found::kHit), Lines{});
}

TEST(Stride, ConfidenceIsHowOftenItMustCome) {
  StridePrefetcher::Params params;
  for (params.confidence = 1; params.confidence < 5; ++params.confidence) {
    StridePrefetcher prefetcher(made<StridePrefetcher>(params));
    for (std::uint64_t i = 0; i < 6; ++i)
      EXPECT_EQ(wanted(prefetcher, 2 * i).size(), i < params.confidence ? 0U : 2U) << i;
  }
}

TEST(Stride, ThreadsAndPagesAreStreamsOfTheirOwn) {
  StridePrefetcher prefetcher(made<StridePrefetcher>());  // 64 lines in a page
  for (std::uint64_t i = 0; i < 2; ++i) {
    EXPECT_EQ(wanted(prefetcher, 3 * i, Found::kMiss, 0), Lines{});
    EXPECT_EQ(wanted(prefetcher, 20 + 5 * i, Found::kMiss, 1), Lines{});
    EXPECT_EQ(wanted(prefetcher, 64 + 7 * i, Found::kMiss, 0), Lines{});
  }
  EXPECT_EQ(wanted(prefetcher, 6, Found::kMiss, 0), (Lines{9, 12}));
  EXPECT_EQ(wanted(prefetcher, 30, Found::kMiss, 1), (Lines{35, 40}));
  EXPECT_EQ(wanted(prefetcher, 78, Found::kMiss, 0), (Lines{85, 92}));
}

TEST(Stride, TheStreamThatWasLongestWithoutAnAccessGoes) {
  StridePrefetcher::Params params;
  params.streams = 2;
  StridePrefetcher prefetcher(made<StridePrefetcher>(params));
  for (const std::uint64_t line : {0U, 64U, 1U, 128U}) wanted(prefetcher, line);  // page 1 has gone
  EXPECT_EQ(wanted(prefetcher, 2), (Lines{3, 4}));
  wanted(prefetcher, 65);  // page 2 has gone
  EXPECT_EQ(wanted(prefetcher, 66), Lines{});
  EXPECT_EQ(wanted(prefetcher, 67), (Lines{68, 69}));
  EXPECT_EQ(wanted(prefetcher, 3), (Lines{4, 5}));
}

// ---- Best offset

/// Accesses to one line after the other, whose prefetches take `delay` accesses each. What it asks for at the
/// end.
class Sweep {
 public:
  Sweep(BestOffsetPrefetcher& prefetcher, std::size_t delay) : prefetcher_(prefetcher), delay_(delay) {}

  void run(std::size_t accesses, std::uint64_t stride = 1) {
    for (const std::size_t end = made_ + accesses; made_ < end; ++made_, line_ += stride) {
      for (const std::uint64_t each : wanted(prefetcher_, line_, Found::kFirstUse))
        coming_.push_back({LineAddress{each}, made_ + delay_});
      while (!coming_.empty() && coming_.front().at <= made_ + 1) {
        prefetcher_.filled(coming_.front().line, true);
        coming_.pop_front();
      }
      if (prefetcher_.offset() == 0) prefetcher_.filled(LineAddress{line_}, false);
    }
  }

 private:
  struct Coming {
    LineAddress line;
    std::size_t at;
  };
  BestOffsetPrefetcher& prefetcher_;
  std::size_t delay_;
  std::size_t made_ = 0;
  std::uint64_t line_ = 1U << 20U;
  std::deque<Coming> coming_;
};

BestOffsetPrefetcher::Params large_pages() {
  BestOffsetPrefetcher::Params params;
  params.page = Bytes{1U << 20U};
  return params;
}

// A prefetch is in time if it was made at least `delay` accesses before: the shortest such offset that is
// tried.
TEST(BestOffset, TheShortestThatIsInTime) {
  for (const auto& [delay, offset] : std::vector<std::pair<std::size_t, std::uint64_t>>{
           {1, 1}, {2, 2}, {4, 4}, {5, 5}, {7, 8}, {13, 15}, {33, 36}, {151, 160}}) {
    BestOffsetPrefetcher prefetcher(made<BestOffsetPrefetcher>(large_pages()));
    Sweep(prefetcher, delay).run(52 * 40);
    EXPECT_EQ(prefetcher.offset(), offset) << delay;
  }
}

TEST(BestOffset, AMultipleOfTheStride) {
  BestOffsetPrefetcher prefetcher(made<BestOffsetPrefetcher>(large_pages()));
  Sweep(prefetcher, 4).run(52 * 40, 3);
  EXPECT_EQ(prefetcher.offset(), 12U);
}

TEST(BestOffset, WithoutConfidenceItAsksForNothing) {
  BestOffsetPrefetcher::Params params = large_pages();
  params.rounds = 10;
  BestOffsetPrefetcher prefetcher(made<BestOffsetPrefetcher>(params));
  EXPECT_EQ(wanted(prefetcher, 5), Lines{6});  // before it has learnt anything
  for (std::uint64_t i = 0; i < 52 * 10; ++i) {
    wanted(prefetcher, i * 1000);
    prefetcher.filled(LineAddress{i * 1000}, false);
  }
  EXPECT_EQ(prefetcher.offset(), 0U);
  EXPECT_EQ(wanted(prefetcher, 5), Lines{});
  Sweep(prefetcher, 1).run(52 * 20);  // what accesses ask for teaches it, too
  EXPECT_NE(prefetcher.offset(), 0U);
}

// With a delay of three, 3 is the first of the 52 offsets that is good, and has its first point in the second
// round: before it nothing has come.
TEST(BestOffset, APhaseEndsWithTheBestScore) {
  BestOffsetPrefetcher::Params params = large_pages();
  params.best_score = 4;
  BestOffsetPrefetcher prefetcher(made<BestOffsetPrefetcher>(params));
  Sweep sweep(prefetcher, 3);
  sweep.run(4 * 52 + 2);
  EXPECT_EQ(prefetcher.offset(), 1U);
  sweep.run(1);
  EXPECT_EQ(prefetcher.offset(), 3U);
}

TEST(BestOffset, APhaseEndsWithTheLastRound) {
  BestOffsetPrefetcher::Params params = large_pages();
  params.rounds = 4;
  BestOffsetPrefetcher prefetcher(made<BestOffsetPrefetcher>(params));
  Sweep sweep(prefetcher, 3);
  sweep.run(4 * 52 - 1);
  EXPECT_EQ(prefetcher.offset(), 1U);
  sweep.run(1);
  EXPECT_EQ(prefetcher.offset(), 3U);
}

// With a delay of 21 the first offset that is tried and good is 24. What it looks for came three accesses
// before.
TEST(BestOffset, OnlyWhatCameLatelyIsRemembered) {
  BestOffsetPrefetcher::Params params = large_pages();
  for (const std::uint32_t recent : {1U, 64U}) {
    params.recent = recent;
    BestOffsetPrefetcher prefetcher(made<BestOffsetPrefetcher>(params));
    Sweep(prefetcher, 21).run(52 * (recent == 1 ? 100 : 32));  // the first phase
    EXPECT_EQ(prefetcher.offset(), recent == 1 ? 0U : 24U) << recent;
  }
}

TEST(BestOffset, NoOffsetLeavesThePage) {
  BestOffsetPrefetcher::Params params;
  params.page = Bytes{4 * kLineBytes};
  BestOffsetPrefetcher prefetcher(made<BestOffsetPrefetcher>(params));
  Sweep(prefetcher, 7).run(3 * 101);
  EXPECT_EQ(prefetcher.offset(), 0U);  // 1, 2 and 3 are too late
  Sweep(prefetcher, 3).run(3 * 101);
  EXPECT_EQ(prefetcher.offset(), 3U);
}

TEST(BestOffset, ThoseThatAreTried) {
  BestOffsetPrefetcher::Params params = large_pages();
  params.max_offset = 7;
  BestOffsetPrefetcher prefetcher(made<BestOffsetPrefetcher>(params));
  Sweep(prefetcher, 7).run(6 * 101);
  EXPECT_EQ(prefetcher.offset(), 0U);  // seven is prime, and eight too far
  Sweep(prefetcher, 6).run(6 * 101);
  EXPECT_EQ(prefetcher.offset(), 6U);
}

}  // namespace
}  // namespace cxloom
