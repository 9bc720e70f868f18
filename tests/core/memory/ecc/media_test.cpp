// Inline ECC: what it takes of capacity and of accesses, by its closed forms, before media that do one thing
// at a time.
#include "memory/ecc/media.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "base/schema.hpp"
#include "core/support/errors.hpp"
#include "core/support/media_bench.hpp"
#include "core/support/media_kinds.hpp"

namespace cxloom {
namespace {

using namespace literals;
using test::MediaBench;

using EccBench = MediaBench<InlineEccMedia>;

/// Media with one bank, of which each line takes 10 ns; lines of ECC for `data_lines`, one of them cached.
InlineEccParams one_line(std::uint32_t data_lines = 8) {
  InlineEccParams params;
  params.data_lines = data_lines;
  params.cache = 64_B;
  params.ways = 1;
  params.backing = {"fixed", Value(Value::Map{{"latency", "10ns"}, {"banks", 1}})};
  return params;
}

/// How long so many lines take that are `apart` lines from each other, `together` of them at a time.
Time time_of(const InlineEccParams& params, std::uint64_t lines, std::uint64_t apart, std::uint64_t together,
             Opcode opcode = Opcode::kMemRd) {
  EccBench bench(params);
  for (std::uint64_t i = 0; i < lines;) {
    for (std::uint64_t n = 0; n < together; ++n) bench.access(i++ * apart * 64, bench.kernel().now(), opcode);
    bench.run();
  }
  EXPECT_EQ(bench.done.size(), lines);
  return bench.end();
}

// n lines of data and one of ECC for each group: a stream gets n / (n + 1).
TEST(InlineEcc, AStreamReadsOneLineForEachGroup) {
  EXPECT_EQ(time_of(one_line(8), 800, 1, 8), 10_ns * (800 + 100));
  EXPECT_EQ(time_of(one_line(15), 900, 1, 15), 10_ns * (900 + 60));
  EXPECT_EQ(time_of(one_line(1), 100, 1, 1), 10_ns * 200);
}

// With h of its lines of ECC in the cache a read takes 2 - h accesses.
TEST(InlineEcc, AReadThatMissesReadsTwice) {
  EXPECT_EQ(time_of(one_line(), 300, 8, 1), 10_ns * 600);
  EXPECT_EQ(time_of(one_line(), 300, 4, 1), 10_ns * (300 + 150));  // two lines of each group: h is a half
}

// A write that misses reads its line of ECC, and another goes back; one of its whole group reads nothing.
TEST(InlineEcc, AWriteThatMissesAddsAReadAndAWrite) {
  EXPECT_EQ(time_of(one_line(), 300, 8, 1, Opcode::kMemWr), 10_ns * (300 + 300 + 299));
  EccBench bench(one_line());
  bench.open();
  for (std::uint64_t i = 0; i < 100; ++i) bench.access(i * 512, 0_ns, Opcode::kMemWr, 512);
  bench.run();
  const auto measures = bench.measures();
  EXPECT_EQ(measures.at("ecc_reads"), 0);
  EXPECT_EQ(measures.at("ecc_write_backs"), 99);
  EXPECT_EQ(measures.at("ecc_misses"), 100);
}

// While the only place of the cache waits for a line, others pass it by: each reads its own, and a write
// writes it back.
TEST(InlineEcc, WithoutAPlaceALineIsReadAndWrittenBackAtOnce) {
  EccBench bench(one_line());
  bench.open();
  for (std::uint64_t i = 0; i < 50; ++i) bench.access(i * 512, 0_ns, Opcode::kMemWr);
  bench.run();
  const auto measures = bench.measures();
  EXPECT_EQ(measures.at("ecc_reads"), 50);
  EXPECT_EQ(measures.at("ecc_write_backs"), 49);  // the first has the place
  EXPECT_EQ(bench.end(), 10_ns * (50 + 50 + 49));
}

// A larger cache keeps the lines of ECC of what is used again.
TEST(InlineEcc, ACacheKeepsLinesOfEcc) {
  const auto twice = [](Bytes cache) {
    InlineEccParams params = one_line();
    params.cache = cache;
    EccBench bench(params);
    bench.open();
    for (int round = 0; round < 2; ++round) {
      for (std::uint64_t i = 0; i < 64; ++i) {
        bench.access(i * 512, bench.kernel().now());
        bench.run();
      }
    }
    return bench.end();
  };
  EXPECT_EQ(twice(64_B), 10_ns * 256);
  EXPECT_EQ(twice(4096_B), 10_ns * (128 + 64));
}

// Whoever comes while the line of ECC does waits for it, and no second one is read.
TEST(InlineEcc, ALineThatComesIsNotReadAgain) {
  EccBench bench(one_line());
  bench.open();
  const Message& first = bench.access(0, 0_ns);
  const Message& second = bench.access(64, 0_ns);
  bench.run();
  EXPECT_EQ(bench.measures().at("ecc_joins"), 1);
  EXPECT_EQ(bench.measures().at("ecc_reads"), 1);
  EXPECT_EQ(bench.latency(first), 20_ns);   // its data, then the line of ECC
  EXPECT_EQ(bench.latency(second), 30_ns);  // its data come last
}

// The memory has n of n + 1 lines of the media, whoever says how many there are.
TEST(InlineEcc, TakesItsPartOfTheCapacity) {
  InlineEccParams params = one_line(7);
  params.backing = {"dram", Value(Value::Map{{"preset", "test-D5"}})};  // of 8 GiB
  EccBench fits(params, Bytes{7ULL << 30U});
  EXPECT_EQ(fits.media().capacity()->count(), 7ULL << 30U);
  const InputError error = test::input_error([&] { EccBench larger(params, Bytes{(7ULL << 30U) + 448}); });
  EXPECT_TRUE(test::contains(error.what(), "larger than its DRAM"));
}

}  // namespace
}  // namespace cxloom
