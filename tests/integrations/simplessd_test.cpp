// The adapter to SimpleSSD against a stand-in of the library.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "core/support/errors.hpp"
#include "core/support/files.hpp"
#include "core/support/media_bench.hpp"
#include "integrations/simplessd/simplessd_media.hpp"

namespace cxloom::integrations {
namespace {

using namespace literals;
using test::contains;

class SimpleSsdTest : public testing::Test {
 protected:
  using Bench = test::MediaBench<SimpleSsdMedia>;
  SimpleSsdTest() { SimpleSSD::behaviour = {}; }

  static constexpr const char* kWhole =
      "[cpu]\nClockSpeed = 400000000\n[pal]\nPageAllocation = CWDP\nNANDType = 0\nBlock = 64\n"
      "[ftl]\nOverProvisioningRatio = 0.25\nGCThreshold = 0.05\n";
  static SimpleSsdParams params(const std::string& text = kWhole) {
    SimpleSsdParams made;
    made.config = test::write_file("simplessd.cfg", text);
    return made;
  }
  static std::string problem(const std::string& from, const std::string& to) {
    std::string text = kWhole;
    text.replace(text.find(from), from.size(), to);
    const InputError error = test::input_error([&] { Bench bench(params(text)); });
    EXPECT_EQ(error.path(), "config");
    return error.what();
  }
};

TEST_F(SimpleSsdTest, AnswersWhenTheLibraryDoes) {
  Bench bench(params());
  const Message& read = bench.access(0, 3_ns);
  bench.run();
  EXPECT_EQ(bench.latency(read), 75_us);
  const Message& write = bench.access(4096, 1_ms, Opcode::kMemWr);
  bench.run();
  EXPECT_EQ(bench.latency(write), 750_us);
}

TEST_F(SimpleSsdTest, HandsOnTheOrderOfArrival) {
  Bench bench(params());
  const Message& first = bench.access(0, 0_ns);
  const Message& second = bench.access(4096, 0_ns);
  const Message& third = bench.access(8192, 10_us);
  bench.run();
  EXPECT_EQ(bench.done.at(&first), 75_us);
  EXPECT_EQ(bench.done.at(&second), 150_us);
  EXPECT_EQ(bench.done.at(&third), 225_us);
}

TEST_F(SimpleSsdTest, AnAccessIsOfThePagesThatItTouches) {
  Bench bench(params());
  const Message& one = bench.access(4096, 0_ns, Opcode::kMemRd, 4096);
  bench.run();
  EXPECT_EQ(bench.latency(one), 75_us);
  const Message& two = bench.access(4096 + 4064, 1_ms, Opcode::kMemRd, 64);
  bench.run();
  EXPECT_EQ(bench.latency(two), 150_us);
}

TEST_F(SimpleSsdTest, WhatItDoesByItselfKeepsNoRunAlive) {
  SimpleSSD::behaviour.refresh = 10'000'000;  // 10 us
  Bench bench(params());
  bench.open();
  bench.access(0, 1_us);
  bench.run();
  EXPECT_EQ(bench.kernel().now(), 76_us);
  // Seven refreshes by then; those of the time in which nothing is asked of it come with the next access.
  bench.access(0, 200_us);
  bench.run();
  EXPECT_EQ(bench.kernel().now(), 275_us);
  const auto measures = bench.measures();
  EXPECT_EQ(measures.at("page_reads"), 2);
  EXPECT_EQ(measures.at("page_programs"), 0);
  EXPECT_EQ(measures.at("library_events"), 27 + 2);
}

TEST_F(SimpleSsdTest, CostsAFewEventsForEachAccess) {
  // Each read comes between a write and its end, so that what is expected next moves back and forth.
  Bench bench(params());
  for (int i = 0; i < 300; ++i) {
    bench.access(0, 100_us * (2 * i), Opcode::kMemWr);
    bench.access(4096, 100_us * (2 * i + 1));
  }
  bench.run();
  EXPECT_EQ(bench.done.size(), 600U);
  EXPECT_LE(bench.kernel().events(), 3000U);
}

TEST_F(SimpleSsdTest, TwoDevicesDoNotMeet) {
  Bench one(params());
  Bench other(params());
  const Message& first = one.access(0, 0_ns);
  const Message& second = other.access(0, 5_us, Opcode::kMemWr);
  one.run();
  other.run();
  EXPECT_EQ(one.latency(first), 75_us);
  EXPECT_EQ(other.latency(second), 750_us);
}

TEST_F(SimpleSsdTest, ItsHangsAreOurs) {
  SimpleSSD::behaviour.hangs = true;
  SimpleSSD::behaviour.refresh = 1000;
  SimpleSsdParams impatient = params();
  impatient.watchdog = 1000;
  Bench bench(impatient);
  bench.access(0, 0_ns);
  try {
    bench.run();
    ADD_FAILURE() << "no SimulationError";
  } catch (const SimulationError& error) {
    EXPECT_TRUE(contains(error.what(), "SimpleSSD hangs")) << error.what();
  }
  EXPECT_LE(bench.kernel().now(), 2_us);
}

TEST_F(SimpleSsdTest, RefusesAnotherConfigurationInOneProcess) {
  Bench bench(params());
  EXPECT_TRUE(contains(problem("Block = 64", "Block = 128"), "keeps the first one"));
}

TEST_F(SimpleSsdTest, RefusesConfigurationsThatWouldEndTheProcess) {
  EXPECT_TRUE(contains(problem("= CWDP", "= CWD"), "simplessd.cfg:4: pal.PageAllocation is no order"));
  EXPECT_TRUE(contains(problem("= CWDP", "= CCWD"), "found 'CCWD'"));
  EXPECT_TRUE(contains(problem("NANDType = 0", "NANDType = 3"), "pal.NANDType is not known"));
  EXPECT_TRUE(contains(problem("NANDType = 0", "DMAWidth = 12"), "no whole bytes"));
  EXPECT_TRUE(contains(problem("400000000", "0"), "cpu.ClockSpeed is not a number that can be"));
  EXPECT_TRUE(contains(problem("Ratio = 0.25", "Ratio = 0.01"), "a spare block each"));
  EXPECT_TRUE(contains(problem("Ratio = 0.25", "Ratio = 1.5"), "a number from 0 to 1"));
  EXPECT_TRUE(contains(problem("GCThreshold = 0.05", "GCMode = 2"), "0 or 1"));
  EXPECT_TRUE(contains(problem("GCThreshold = 0.05", "GCMode = 1\nGCReclaimThreshold = 0.01"), "below GC"));
  EXPECT_TRUE(contains(problem("GCThreshold = 0.05", "FillRatio = 1\nInvalidPageRatio = 0.3"),
                       "more than fits before garbage collection"));
  EXPECT_TRUE(contains(problem("GCThreshold = 0.05", "EvictPolicy = 2"), "not repeatable"));
  EXPECT_TRUE(contains(problem("GCThreshold = 0.05", "FillingMode = 1"), "not repeatable"));
  EXPECT_TRUE(contains(problem("GCThreshold = 0.05", "[icl]\nEvictPolicy = 0"), "not repeatable"));
  EXPECT_TRUE(contains(problem("GCThreshold = 0.05", "[icl]\nReadPrefetchCount = 0"), "ReadPrefetchCount"));
  EXPECT_TRUE(contains(problem("GCThreshold = 0.05", "[dram]\nModel = 1"), "dram.Model"));
}

TEST_F(SimpleSsdTest, RefusesWhatTheLibraryDoesNotKnow) {
  Bench bench(params());  // so that the process has its configuration
  SimpleSsdParams missing;
  missing.config = "/nowhere/simplessd.cfg";
  EXPECT_TRUE(contains(test::input_error([&] { Bench none(missing); }).what(), "/nowhere/simplessd.cfg"));
  const InputError large = test::input_error([&] { Bench none(params(), Bytes{2ULL << 30U}); });
  EXPECT_TRUE(contains(large.what(), "1GiB"));
  EXPECT_TRUE(contains(problem("Block = 64", "XBlock = 64"), "found Config [pal] XBlock = 64 not handled"));
}

}  // namespace
}  // namespace cxloom::integrations
