// Inline compression: what accesses take, what bounds them, and what of the capacity is saved, by closed
// forms.
#include "memory/compressed/media.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/schema.hpp"
#include "core/support/errors.hpp"
#include "core/support/media_bench.hpp"
#include "core/support/media_kinds.hpp"

namespace cxloom {
namespace {

using namespace literals;
using test::MediaBench;

using CompressedBench = MediaBench<CompressedMedia>;

/// Media of 10 ns for a read and 20 ns for a write, a byte at a time by a data path of 1 byte / ns or none;
/// blocks of 1 KiB in half of that, read in 100 ns and written in 200 ns by an engine.
CompressedParams halved(bool data_path = false) {
  CompressedParams params;
  Value::Map fixed{{"latency", "10ns"}, {"write_latency", "20ns"}};
  if (data_path) fixed.emplace_back("bandwidth", "1GB/s");
  params.backing = {"fixed", Value(fixed)};
  params.decompress_time = 100_ns;
  params.compress_time = 200_ns;
  return params;
}

/// When the last of so many accesses is done that come at once, each to a block of its own.
Time time_of(const CompressedParams& params, std::uint64_t accesses, Opcode opcode = Opcode::kMemRd,
             std::uint16_t size = 64) {
  CompressedBench bench(params);
  for (std::uint64_t i = 0; i < accesses; ++i) bench.access(i * params.block.count(), 0_ns, opcode, size);
  bench.run();
  EXPECT_EQ(bench.done.size(), accesses);
  return bench.end();
}

TEST(Compressed, AnAccessAloneTakesWhatItsStepsTake) {
  EXPECT_EQ(time_of(halved(), 1), 10_ns + 100_ns);
  EXPECT_EQ(time_of(halved(), 1, Opcode::kMemWr, 1024), 200_ns + 20_ns);
  EXPECT_EQ(time_of(halved(), 1, Opcode::kMemWr), 10_ns + 100_ns + 200_ns + 20_ns);
}

// The time of a message is that of its block that was done last, each step of it in its segment.
TEST(Compressed, AnAccountHasTheStepsAndTheWaits) {
  CompressedParams params = halved();
  params.engines = 1;
  CompressedBench bench(params);
  const Message& first = bench.access(0, 0_ns);
  const Message& write = bench.access(4096, 0_ns, Opcode::kMemWr);
  const Message& both = bench.access(8192, 5_ns, Opcode::kMemRd, 2048);
  bench.run();
  const auto segments = [](const Message& message) {
    return std::pair{message.account->of(Segment::kMediaQueue), message.account->of(Segment::kMedia)};
  };
  EXPECT_EQ(segments(first), (std::pair{0_ns, 110_ns}));
  // Its block is read by 15 ns, after two others; the second one waits for three turns of 100 ns.
  EXPECT_EQ(segments(both), (std::pair{295_ns, 110_ns}));
  EXPECT_EQ(bench.latency(both), 405_ns);
  // It is decompressed by 210 ns, and its turn comes again behind both blocks.
  EXPECT_EQ(segments(write), (std::pair{100_ns + 200_ns, 10_ns + 100_ns + 200_ns + 20_ns}));
}

// n engines carry n blocks in the time that one takes.
TEST(Compressed, EnginesBoundWhatIsReadAndWritten) {
  for (const std::uint32_t engines : {1U, 2U, 8U}) {
    CompressedParams params = halved();
    params.engines = engines;
    EXPECT_EQ(time_of(params, 800), 10_ns + 100_ns * (800 / engines));
    EXPECT_EQ(time_of(params, 800, Opcode::kMemWr, 1024), 200_ns * (800 / engines) + 20_ns);
    EXPECT_EQ(time_of(params, 800, Opcode::kMemWr), 10_ns + 300_ns * (800 / engines) + 20_ns);
  }
}

// Media of one byte / ns carry a block in as many ns as it has bytes when it is stored.
TEST(Compressed, AMediumCarriesStoredBytes) {
  CompressedParams params = halved(true);
  params.engines = 64;
  const auto read = [&](double ratio) {
    params.ratio = ratio;
    return time_of(params, 100);
  };
  EXPECT_EQ(read(1.0), 1024_ns * 99 + 110_ns);
  EXPECT_EQ(read(2.0), 512_ns * 99 + 110_ns);
  EXPECT_EQ(read(3.0), 512_ns * 99 + 110_ns);  // a third are two sectors
  EXPECT_EQ(read(64.0), 256_ns * 99 + 110_ns);
}

TEST(Compressed, CountsWhatTheEnginesDid) {
  CompressedBench bench(halved());
  bench.open();
  bench.access(0, 0_ns);
  bench.access(960, 0_ns, Opcode::kMemRd, 128);                // of two blocks
  bench.access(4096, 0_ns, Opcode::kMemWr, 1024);              // a block
  bench.access(8192 + 512, 0_ns, Opcode::kMemWr, 1024 + 512);  // half of one, and one
  bench.run();
  const auto measures = bench.measures();
  EXPECT_EQ(measures.at("blocks_decompressed"), 3 + 1);
  EXPECT_EQ(measures.at("blocks_compressed"), 1 + 2);
  EXPECT_EQ(measures.at("blocks_merged"), 1);
  EXPECT_EQ(measures.at("stored_share"), 0.5);
  EXPECT_DOUBLE_EQ(measures.at("engines_busy_mean") * bench.end().ns(), 4 * 100 + 3 * 200);
}

// --- ratios ----------------------------------------------------------------------------------------------

CompressedParams varied(double ratio, double spread) {
  CompressedParams params = halved();
  params.ratio = ratio;
  params.spread = spread;
  return params;
}

/// The mean of the bytes that a block takes, over many pages; those of a page are alike.
double mean_of(const CompressedMedia& media, const CompressedParams& params) {
  constexpr std::uint64_t kPages = 100'000;
  double sum = 0;
  for (std::uint64_t page = 0; page < kPages; ++page) {
    const std::uint64_t first = page * params.page.count();
    const std::uint64_t stored = media.stored_at(first);
    EXPECT_EQ(media.stored_at(first + params.page.count() - params.block.count()), stored);
    sum += static_cast<double>(stored);
  }
  return sum / kPages;
}

// Ratios between 1 and 3: four sectors below 4/3, three below 2, two above. Between 0 and 4: two sectors
// above 2, three from 4/3, four below.
TEST(Compressed, PagesHaveRatiosOfTheirOwn) {
  const auto expect_mean = [](double ratio, double spread, double sectors) {
    const CompressedParams params = varied(ratio, spread);
    CompressedBench bench(params);
    EXPECT_NEAR(mean_of(bench.media(), params), sectors * 256, 2.0);
  };
  expect_mean(2.0, 0.5, 4 * (1.0 / 6) + 3 * (1.0 / 3) + 2 * (1.0 / 2));
  expect_mean(2.0, 1.0, 4 * (1.0 / 3) + 3 * (1.0 / 6) + 2 * (1.0 / 2));
  expect_mean(2.0, 0.0, 2);
  expect_mean(1.0, 0.0, 4);
}

// Other media and other seeds have other pages that compress well.
TEST(Compressed, ASeedHasPagesOfItsOwn) {
  Kernel kernel;
  test::Probe owner{kernel, "mem"};
  struct Nobody final : MediaClient {
    void media_done(Message&, Time) override {}
  } nobody;
  const auto stored = [&](std::uint64_t seed) {
    MediaContext context{kernel, owner, nobody, test::media_kinds(), test::victims(), std::nullopt, seed};
    const CompressedMedia media(varied(2.0, 1.0), context);
    std::vector<std::uint64_t> bytes;
    for (std::uint64_t page = 0; page < 64; ++page) bytes.push_back(media.stored_at(page * 4096));
    return bytes;
  };
  EXPECT_EQ(stored(1), stored(1));
  EXPECT_NE(stored(1), stored(2));
}

// --- capacity --------------------------------------------------------------------------------------------

CompressedParams before_dram(double ratio, double spread) {
  CompressedParams params = varied(ratio, spread);
  params.backing = {"dram", Value(Value::Map{{"preset", "test-D5"}})};  // of 8 GiB
  return params;
}

// It is by what blocks take on average, in whole sectors.
TEST(Compressed, TheMemoryIsLargerThanItsMedia) {
  const auto capacity = [](double ratio, double spread) {
    CompressedBench bench(before_dram(ratio, spread));
    return bench.media().capacity()->count() >> 20U;
  };
  EXPECT_EQ(capacity(1.0, 0.0), 8U << 10U);
  EXPECT_EQ(capacity(2.0, 0.0), 16U << 10U);
  EXPECT_EQ(capacity(64.0, 0.0), 32U << 10U);
  EXPECT_EQ(capacity(2.0, 1.0), (8U << 10U) * 4 / 3);  // 2.83 sectors are three
  const CompressedParams params = before_dram(2.0, 0.0);
  EXPECT_NO_THROW(CompressedBench(params, Bytes{16ULL << 30U}));
  const InputError error =
      test::input_error([&] { CompressedBench larger(params, Bytes{(16ULL << 30U) + 1024}); });
  EXPECT_TRUE(test::contains(error.what(), "larger than its DRAM"));
}

// A block that takes more than its place stays within the media, where it is the last one, too.
TEST(Compressed, LargeBlocksStayWithinTheMedia) {
  CompressedParams params = varied(8.0, 1.0);
  params.block = 4096_B;
  params.backing = {"nvm", {}};
  int large = 0;
  for (std::uint64_t blocks = 1; blocks <= 64; ++blocks) {
    CompressedBench bench(params, Bytes{blocks * 4096 - 64});
    const std::uint64_t last = (blocks - 1) * 4096;
    const std::uint64_t stored = bench.media().stored_at(last);
    const std::uint64_t end = std::max<std::uint64_t>(blocks * params.place(), 4096);
    EXPECT_EQ(bench.media().behind(last), std::min((blocks - 1) * params.place(), end - stored));
    large += stored > params.place();
  }
  EXPECT_GT(large, 5);
  EXPECT_LT(large, 59);
}

TEST(Compressed, SizesFitIntoEachOther) {
  const auto refused = [](Bytes sector, Bytes block, Bytes page) {
    CompressedParams params = halved();
    params.sector = sector;
    params.block = block;
    params.page = page;
    return std::string(test::input_error([&] { check_params(params); }).what());
  };
  EXPECT_TRUE(test::contains(refused(2048_B, 1024_B, 4096_B), "sector must be at most block"));
  EXPECT_TRUE(test::contains(refused(256_B, 1024_B, 512_B), "block at most page"));
  EXPECT_TRUE(test::contains(refused(256_B, 768_B, 4096_B), "a power of two"));
}

}  // namespace
}  // namespace cxloom
