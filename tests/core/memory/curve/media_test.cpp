#include "memory/curve/media.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "base/schema.hpp"
#include "core/support/errors.hpp"
#include "core/support/files.hpp"
#include "core/support/media_bench.hpp"

namespace cxloom {
namespace {

using namespace literals;
using test::Messages;
using CurveBench = test::MediaBench<CurveMedia>;

CurvePoint point(double reads, std::uint64_t gb_per_s, std::int64_t latency_ns) {
  return {reads, Bandwidth{Rate::per_time(gb_per_s, 1000)}, Time{latency_ns * 1000}};
}

/// Reads alone reach 32 GB/s, an even mix 16 GB/s.
CurveMediaParams curve_media() {
  CurveMediaParams params;
  params.points = {point(1.0, 1, 80),  point(1.0, 16, 100), point(1.0, 32, 400),
                   point(0.5, 1, 100), point(0.5, 8, 140),  point(0.5, 16, 500)};
  params.window = 64;
  return params;
}

/// The latency of the last of many accesses at a constant rate.
Time latency_at(const CurveMediaParams& params, Time interval, int reads_of_four = 4) {
  CurveBench bench(params);
  const Message* last = nullptr;
  for (int i = 0; i < 400; ++i) {
    last = &bench.access(0, interval * i, i % 4 < reads_of_four ? Opcode::kMemRd : Opcode::kMemWr);
  }
  bench.run();
  EXPECT_EQ(bench.done.size(), 400U);
  return bench.latency(*last);
}

TEST(CurveMedia, AtAConstantLoadTheLatencyIsThatOfTheTable) {
  EXPECT_EQ(latency_at(curve_media(), 64_ns), 80_ns);                          // 1 GB/s
  EXPECT_EQ(latency_at(curve_media(), 1_us), 80_ns);                           // below the first point
  EXPECT_EQ(latency_at(curve_media(), 4_ns), 100_ns);                          // 16 GB/s
  EXPECT_EQ(latency_at(curve_media(), 8_ns), Time{80'000 + 20'000 * 7 / 15});  // 8 GB/s: 7/15 from 1 to 16
  EXPECT_EQ(latency_at(curve_media(), Time{2500}), Time{100'000 + 300'000 * 96 / 160});  // 25.6 GB/s
  EXPECT_EQ(latency_at(curve_media(), 2_ns), 400_ns);                                    // the whole of it
}

TEST(CurveMedia, TheShareOfReadsChoosesTheCurve) {
  EXPECT_EQ(latency_at(curve_media(), 8_ns, 2), 140_ns);  // 8 GB/s, half reads
  EXPECT_EQ(latency_at(curve_media(), 8_ns, 0), 140_ns) << "below the lowest share its curve holds";
  // Three reads of four: halfway between the two, each at a third of its largest bandwidth of (16 + 32) / 2.
  const double pure = 80.0 + 20.0 * (32.0 / 3 - 1) / 15;
  const double mixed = 100.0 + 40.0 * (16.0 / 3 - 1) / 7;
  EXPECT_NEAR(latency_at(curve_media(), 8_ns, 3).ns(), (pure + mixed) / 2, 0.001);
}

TEST(CurveMedia, MoreThanTheLargestBandwidthIsThrottledToIt) {
  for (const int reads_of_two : {2, 1}) {
    CurveBench bench(curve_media());
    bench.open();
    std::uint64_t served = 0;
    for (int i = 0; i < 10'000; ++i) {
      bench.access(0, Time{i * 10}, i % 2 < reads_of_two ? Opcode::kMemRd : Opcode::kMemWr);  // 6.4 TB/s
    }
    bench.run();
    for (const auto& [message, at] : bench.done) served += message->size;
    const double largest = reads_of_two == 2 ? 32.0 : 16.0;
    // From the first start on, and the last is done its least latency after its own.
    EXPECT_NEAR(static_cast<double>(served) / (bench.end().ns() - 80.0), largest, 0.001 * largest);
    EXPECT_GT(bench.measures()["throttled"], 0.95);
  }
}

TEST(CurveMedia, AtNoTimeHasMoreBeenServedThanTheLargestBandwidthAllows) {
  CurveBench bench(curve_media());
  RandomStream random(3, "media", "test");
  Time now;
  for (int i = 0; i < 20'000; ++i) {
    // Bursts and pauses, 1.5 times the largest bandwidth on average.
    if (random.chance(0.02)) now += Time{static_cast<std::int64_t>(random.below(100'000))};
    now += Time{static_cast<std::int64_t>(random.below(800))};
    bench.access(0, now);
  }
  bench.run();
  std::vector<Time> ends;
  for (const auto& [message, at] : bench.done) ends.push_back(at);
  std::sort(ends.begin(), ends.end());
  for (std::size_t i = 0; i < ends.size(); ++i) {
    ASSERT_GE(ends[i], 80_ns + 2_ns * static_cast<std::int64_t>(i)) << "at " << i;
  }
}

TEST(CurveMedia, PoissonArrivalsSeeTheTableToo) {
  // What waits for a start is in the measured latency already: it is not added to it.
  CurveMediaParams params = curve_media();
  params.window = 2048;
  CurveBench bench(params);
  RandomStream random(5, "media", "test");
  Time now;
  for (int i = 0; i < 100'000; ++i) {
    now += Time{static_cast<std::int64_t>(4000 * random.exponential())};  // 16 GB/s of 32
    bench.access(0, now);
  }
  bench.run();
  double sum = 0;
  for (const auto& [message, at] : bench.done) sum += bench.latency(*message).ns();
  EXPECT_NEAR(sum / 100'000, 100.0, 3.0);
}

TEST(CurveMedia, AnIdleTimeIsForgottenAfterAWindow) {
  CurveBench bench(curve_media());
  Time now;
  for (int i = 0; i < 100; ++i) bench.access(0, now += 4_ns);
  now += 1_ms;
  std::vector<const Message*> later;
  for (int i = 0; i < 65; ++i) later.push_back(&bench.access(0, now += 4_ns));
  bench.run();
  EXPECT_EQ(bench.latency(*later.front()), 80_ns);
  EXPECT_EQ(bench.latency(*later.back()), 100_ns);
}

TEST(CurveMedia, WhatIsSpentElsewhereIsTakenOff) {
  CurveMediaParams params = curve_media();
  params.elsewhere = 30_ns;
  EXPECT_EQ(latency_at(params, 4_ns), 70_ns);
  params.elsewhere = 80_ns;
  const InputError error = test::input_error([&] { CurveBench bench(params); });
  EXPECT_EQ(error.path(), "elsewhere");
  EXPECT_TRUE(test::contains(error.what(), "80"));
}

TEST(CurveMedia, ItsAccountIsTheLatency) {
  CurveBench bench(curve_media());
  for (int i = 0; i < 100; ++i) bench.access(0, 0_ns);
  bench.run();
  for (const auto& [message, at] : bench.done) {
    EXPECT_EQ(
        Messages::segment(*message, Segment::kMediaQueue) + Messages::segment(*message, Segment::kMedia), at);
  }
}

// --- tables ----------------------------------------------------------------------------------------------

class CurveFile : public testing::Test {
 protected:
  std::string write(const std::string& text, const std::string& name = "curve.csv") {
    return test::write_file(name, text);
  }
  std::string problem(const std::string& text) {
    const std::string path = write(text);
    const InputError error = test::input_error([&] { CurveTable::from_file(path); });
    EXPECT_EQ(error.path(), "file");
    return error.what();
  }
};

TEST_F(CurveFile, IsReadByItsHeader) {
  const CurveTable csv = CurveTable::from_file(
      write("# measured\nlatency_ns,reads,bandwidth_gb_per_s\n\n100,100%,1\n200,1.0,20.5\n90,0.5,1 # "
            "idle\n300,50%,10\n"));
  EXPECT_DOUBLE_EQ(csv.capacity(1.0), 20.5);
  EXPECT_DOUBLE_EQ(csv.capacity(0.75), 15.25);
  EXPECT_DOUBLE_EQ(csv.latency(0.5, 1.0), 300);
  EXPECT_DOUBLE_EQ(csv.least_latency(), 90);
  const CurveTable tsv =
      CurveTable::from_file(write("bandwidth_gb_per_s\tlatency_ns\r\n1\t100\r\n3\t200\r\n", "curve.tsv"));
  EXPECT_DOUBLE_EQ(tsv.latency(0.2, 2.0 / 3), 150);
}

TEST_F(CurveFile, SaysWhereItIsWrong) {
  const std::string head = "reads,bandwidth_gb_per_s,latency_ns\n";
  EXPECT_TRUE(
      test::contains(problem(head + "1,5,100\n1,4,110\n"), "curve.csv:3: the bandwidth does not rise"));
  EXPECT_TRUE(test::contains(problem(head + "1,5,100\n"), "curve.csv:2: too few points"));
  EXPECT_TRUE(test::contains(problem(head + "1,5,100\n1,6,fast\n"), "curve.csv:3: column 3 is not a number"));
  EXPECT_TRUE(test::contains(problem(head + "1,5,100\n1,6\n"), "2 cells"));
  EXPECT_TRUE(test::contains(problem(head + "1,5,0\n1,6,100\n"), "curve.csv:2: not a latency"));
  EXPECT_TRUE(test::contains(problem(head + "1,5,90\n1,6,1e22\n"), "curve.csv:3: not a latency"));
  EXPECT_TRUE(test::contains(problem(head + "1,0,90\n1,1e-9,100\n"), "curve.csv:3: the largest bandwidth"));
  EXPECT_TRUE(test::contains(problem(head + "2,5,90\n1,6,100\n"), "not a share of reads"));
  EXPECT_TRUE(test::contains(problem(head + "1,-5,90\n1,6,100\n"), "not a bandwidth"));
  EXPECT_TRUE(
      test::contains(problem("bandwidth_gb_s,latency_ns\n1,2\n"), "did you mean 'bandwidth_gb_per_s'"));
  EXPECT_TRUE(test::contains(problem("reads,latency_ns\n1,2\n"), "no column 'bandwidth_gb_per_s'"));
  EXPECT_TRUE(test::contains(problem("reads,reads\n"), "a column twice"));
  EXPECT_TRUE(test::contains(problem(head), "too few points"));
  EXPECT_TRUE(test::contains(problem("# nothing\n"), "an empty table"));
  const InputError missing = test::input_error([] { CurveTable::from_file("/nowhere/curve.csv"); });
  EXPECT_TRUE(test::contains(missing.what(), "/nowhere/curve.csv: the table cannot be read"));
}

// A spec from elsewhere may name any file of its user.
TEST_F(CurveFile, ShowsNothingOfWhatIsInAFile) {
  const std::string head = "reads,bandwidth_gb_per_s,latency_ns\n";
  for (const std::string& text : {std::string("root:secret:0:0\n"), std::string("secret,secret\n"),
                                  head + "1,secret,100\n", head + "secret%,5,100\n"}) {
    const std::string said = problem(text);
    EXPECT_FALSE(test::contains(said, "secret")) << said;
    EXPECT_TRUE(test::contains(said, "curve.csv:")) << said;
    EXPECT_TRUE(test::contains(said, "latency_ns") || test::contains(said, "a number for")) << said;
  }
}

TEST(CurveTable, PointsAreCheckedLikeAFile) {
  const auto wrong = [](const std::vector<CurvePoint>& points) {
    return test::input_error([&] { CurveTable table(points); });
  };
  EXPECT_EQ(wrong({point(1, 5, 100), point(1, 5, 110)}).path(), "points[1]");
  EXPECT_EQ(wrong({point(1, 5, 100), point(1, 6, 110), point(0.5, 6, 110)}).path(), "points[2]");
  EXPECT_TRUE(test::contains(wrong({{1.0, {}, 5_ns}, point(1, 6, 110)}).what(), "not a bandwidth"));
  EXPECT_TRUE(test::contains(test::input_error([] { read_params<CurveMediaParams>(Value::Map{}); }).what(),
                             "exactly one of points and file"));
}

}  // namespace
}  // namespace cxloom
