#include "memory/nvm/media.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "base/schema.hpp"
#include "core/memory/nvm/small_nvm.hpp"
#include "core/support/errors.hpp"

namespace cxloom {
namespace {

using namespace literals;
using test::Messages;
using test::nvm_blocks;
using test::nvm_media;
using test::NvmBench;

TEST(NvmMedia, AloneAReadTakesTheMediaAndAWriteTheBuffer) {
  NvmBench bench(nvm_media());
  const Message& read = bench.access(0, 0_ns);
  const Message& write = bench.access(64, 1_us, Opcode::kMemWr);
  bench.run();
  EXPECT_EQ(bench.latency(read), 100_ns);
  EXPECT_EQ(Messages::segment(read, Segment::kMedia), 100_ns);
  EXPECT_EQ(bench.latency(write), 10_ns);
  EXPECT_EQ(bench.kernel().now(), 1_us + 200_ns) << "the write goes on into the media";
}

TEST(NvmMedia, WithoutABufferAWriteIsDoneInTheMedia) {
  NvmMediaParams params = nvm_media();
  params.write_buffer = 0;
  NvmBench bench(params);
  const Message& line = bench.access(0, 0_ns, Opcode::kMemWr);
  bench.run();
  EXPECT_EQ(bench.latency(line), 200_ns);

  params.block = 256_B;
  NvmBench partial(params);
  const Message& part = partial.access(0, 0_ns, Opcode::kMemWr);
  const Message& whole = partial.access(256, 0_ns, Opcode::kMemWr, 256);
  partial.run();
  EXPECT_EQ(partial.latency(part), 300_ns) << "what the write leaves of its block is read before";
  EXPECT_EQ(partial.latency(whole), 200_ns);
}

TEST(NvmMedia, AReadOfWhatTheWriteBufferHoldsIsForwarded) {
  NvmBench bench(nvm_media());
  bench.open();
  bench.access(0, 0_ns, Opcode::kMemWr);
  const Message& while_written = bench.access(0, 50_ns);
  const Message& other_bank = bench.access(64, 50_ns);
  const Message& afterwards = bench.access(0, 1_us);
  bench.run();
  EXPECT_EQ(bench.latency(while_written), 20_ns);
  EXPECT_EQ(bench.latency(other_bank), 100_ns);
  EXPECT_EQ(bench.latency(afterwards), 100_ns);
  EXPECT_EQ(bench.measures()["forwarded_reads"], 1);
}

TEST(NvmMedia, OfABlockOnlyTheLinesThatWereWrittenAreForwarded) {
  NvmMediaParams params = nvm_blocks();
  params.hold = 4;
  NvmBench bench(params);
  bench.access(64, 0_ns, Opcode::kMemWr);
  const Message& written = bench.access(64, 50_ns);
  const Message& beside = bench.access(128, 100_ns);
  const Message& both = bench.access(64, 500_ns, Opcode::kMemRd, 128);
  bench.run();
  EXPECT_EQ(bench.latency(written), 20_ns);
  EXPECT_EQ(bench.latency(beside), 100_ns);
  EXPECT_EQ(bench.latency(both), 100_ns);
}

TEST(NvmMedia, ABankDoesOneThingAtATimeAndBlocksGoRoundThem) {
  NvmBench bench(nvm_media());
  std::vector<const Message*> same;
  for (std::uint64_t i = 0; i < 5; ++i) same.push_back(&bench.access(i * 4 * 64, 0_ns));
  const Message& other = bench.access(64, 0_ns);
  bench.run();
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(bench.latency(*same[static_cast<std::size_t>(i)]), 100_ns * (i + 1));
    EXPECT_EQ(Messages::segment(*same[static_cast<std::size_t>(i)], Segment::kMediaQueue), 100_ns * i);
  }
  EXPECT_EQ(bench.latency(other), 100_ns);
}

TEST(NvmMedia, SaturatedReadsMoveBanksTimesBlockPerLatency) {
  NvmBench bench(nvm_media());
  bench.open();
  for (std::uint64_t i = 0; i < 400; ++i) bench.access(i * 64, 0_ns);
  bench.run();
  EXPECT_EQ(bench.end(), 100_ns * 100);  // 400 reads, four at a time
  EXPECT_DOUBLE_EQ(bench.measures()["media_read_gb_per_s"], 4 * 64 / 100.0);
}

TEST(NvmMedia, SaturatedWritesMoveBanksTimesBlockPerLatencyOnceTheBufferIsFull) {
  // 8 writes find a place at once; then four banks free four places every 200 ns.
  NvmBench bench(nvm_media());
  std::map<const Message*, Time> wanted;
  for (std::uint64_t i = 0; i < 40; ++i) {
    const Message& message = bench.access(i * 64, 0_ns, Opcode::kMemWr);
    const auto rounds = i < 8 ? 0 : static_cast<std::int64_t>(i - 8) / 4 + 1;
    wanted[&message] = 200_ns * rounds + 10_ns;
  }
  bench.run();
  EXPECT_EQ(bench.done, wanted);
}

TEST(NvmMedia, TheMediaReadAndWriteNoFasterThanTheirBandwidths) {
  NvmMediaParams params = nvm_media();
  params.banks = 1024;
  params.write_buffer = 100;
  params.read_bandwidth = 10_GBps;  // 6.4 ns per line
  params.write_bandwidth = 5_GBps;
  NvmBench reads(params);
  for (std::uint64_t i = 0; i < 100; ++i) reads.access(i * 64, 0_ns);
  reads.run();
  EXPECT_EQ(reads.end(), Time{99 * 6400} + 100_ns);

  NvmBench writes(params);
  for (std::uint64_t i = 0; i < 100; ++i) writes.access(i * 64, 0_ns, Opcode::kMemWr);
  writes.run();
  EXPECT_EQ(writes.kernel().now(), Time{99 * 12800} + 200_ns);
}

TEST(NvmMedia, ReadsGoBeforeTheBackgroundButNotWhenWritesWait) {
  NvmMediaParams params = nvm_media();
  params.banks = 1;
  params.write_buffer = 2;
  // Two writes fill the buffer, the first on its way; a read overtakes the second.
  NvmBench bench(params);
  bench.access(0, 0_ns, Opcode::kMemWr);
  bench.access(64, 0_ns, Opcode::kMemWr);
  const Message& read = bench.access(128, 10_ns);
  bench.run();
  EXPECT_EQ(bench.done.at(&read), 300_ns);
  EXPECT_EQ(bench.kernel().now(), 500_ns);

  // While a third waits for a place they take turns: write, read, write, read.
  NvmBench full(params);
  for (std::uint64_t i = 0; i < 2; ++i) full.access(i * 64, 0_ns, Opcode::kMemWr);
  const Message& third = full.access(128, 0_ns, Opcode::kMemWr);
  const Message& fourth = full.access(192, 0_ns, Opcode::kMemWr);
  const Message& first_read = full.access(256, 10_ns);
  const Message& second_read = full.access(320, 10_ns);
  full.run();
  EXPECT_EQ(full.done.at(&third), 200_ns + 10_ns);
  EXPECT_EQ(full.done.at(&first_read), 300_ns);
  EXPECT_EQ(full.done.at(&fourth), 500_ns + 10_ns);
  EXPECT_EQ(full.done.at(&second_read), 600_ns);
}

// --- blocks larger than a line ---------------------------------------------------------------------------

TEST(NvmMedia, SequentialWritesFillBlocksAndRandomOnesAmplify) {
  NvmMediaParams params = nvm_blocks();
  params.hold = 4;
  NvmBench sequential(params);
  sequential.open();
  for (std::uint64_t i = 0; i < 4000; ++i) {
    sequential.access(i * 64, 60_ns * static_cast<std::int64_t>(i), Opcode::kMemWr);
  }
  sequential.run();
  auto measured = sequential.measures();
  EXPECT_DOUBLE_EQ(measured["write_amplification"], 1.0);
  EXPECT_EQ(measured["merged_writes"], 3000);
  EXPECT_EQ(measured["media_read_gb_per_s"], 0.0) << "whole blocks need not be read";

  // Each write to a block of its own: four times the bytes are written, and as many read to complete the
  // blocks, but for the four blocks that stay in the buffer.
  NvmBench random(params);
  random.open();
  for (std::uint64_t i = 0; i < 4000; ++i) {
    random.access((i * 7919 % 4000) * 256, 100_ns * static_cast<std::int64_t>(i), Opcode::kMemWr);
  }
  random.run();
  measured = random.measures();
  EXPECT_DOUBLE_EQ(measured["write_amplification"], 4.0 * 3996 / 4000);
  EXPECT_EQ(measured["merged_writes"], 0);
  EXPECT_DOUBLE_EQ(measured["media_read_gb_per_s"], measured["media_write_gb_per_s"]);
}

TEST(NvmMedia, HeldBlocksAreTheYoungest) {
  NvmMediaParams params = nvm_blocks();
  params.hold = 2;
  params.banks = 16;
  NvmBench bench(params);
  for (std::uint64_t i = 0; i < 3; ++i)
    bench.access(i * 256, 10_ns * static_cast<std::int64_t>(i), Opcode::kMemWr);
  bench.run();
  EXPECT_EQ(bench.kernel().now(), 20_ns + 300_ns) << "the third write sent the first block on its way";
  const Message& gone = bench.access(0, 1_us);
  const Message& held = bench.access(256, 1_us);
  bench.run();
  EXPECT_EQ(bench.latency(gone), 100_ns);
  EXPECT_EQ(bench.latency(held), 20_ns);
}

TEST(NvmMedia, TheReadBufferServesTheOtherLinesOfABlock) {
  NvmMediaParams params = nvm_blocks();
  params.read_buffer = 2;
  NvmBench bench(params);
  bench.open();
  const Message& miss = bench.access(0, 0_ns);
  const Message& meanwhile = bench.access(64, 40_ns);
  const Message& hit = bench.access(128, 200_ns);
  bench.run();
  EXPECT_EQ(bench.latency(miss), 100_ns);
  EXPECT_EQ(bench.latency(meanwhile), 60_ns) << "it waits for the same read";
  EXPECT_EQ(bench.latency(hit), 20_ns);
  EXPECT_DOUBLE_EQ(bench.measures()["read_amplification"], 256.0 / (3 * 64));
  // Two other blocks, and the first is gone.
  bench.access(256, 1_us);
  bench.access(512, 1_us);
  const Message& again = bench.access(0, 2_us);
  bench.run();
  EXPECT_EQ(bench.latency(again), 100_ns);
}

TEST(NvmMedia, ABlockInTheReadBufferNeedNotBeReadToBeCompleted) {
  NvmMediaParams params = nvm_blocks();
  params.read_buffer = 2;
  NvmBench bench(params);
  bench.access(0, 0_ns);
  bench.access(64, 1_us, Opcode::kMemWr);
  bench.run();
  EXPECT_EQ(bench.kernel().now(), 1_us + 200_ns);
}

TEST(NvmMedia, AnAccessOverSeveralBlocksIsDoneWithTheLast) {
  NvmBench bench(nvm_media());
  const Message& behind = bench.access(128, 0_ns);
  const Message& four = bench.access(0, 0_ns, Opcode::kMemRd, 256);  // lines 0 to 3; that of 2 waits
  bench.run();
  EXPECT_EQ(bench.latency(behind), 100_ns);
  EXPECT_EQ(bench.latency(four), 200_ns);
  EXPECT_EQ(Messages::segment(four, Segment::kMediaQueue), 100_ns);
}

// --- wear ------------------------------------------------------------------------------------------------

TEST(NvmMedia, CountsWearByRegion) {
  NvmMediaParams params = nvm_media();
  params.endurance = 5;
  const auto written = [](const NvmMediaParams& kind) {
    NvmBench bench(kind);
    bench.open();
    Time now;
    for (int round = 0; round < 6; ++round) bench.access(0, now += 1_us, Opcode::kMemWr);
    for (std::uint64_t line = 1; line < 4; ++line) bench.access(line * 64, now += 1_us, Opcode::kMemWr);
    bench.run();
    return bench.measures();
  };
  auto by_line = written(params);
  EXPECT_EQ(by_line["wear_max"], 6);
  EXPECT_DOUBLE_EQ(by_line["wear_mean"], 9.0 / 4);
  EXPECT_EQ(by_line["written_lines"], 4);
  EXPECT_EQ(by_line["worn_lines"], 1);
  params.wear_region = 256_B;  // levelled among four lines
  auto levelled = written(params);
  EXPECT_DOUBLE_EQ(levelled["wear_max"], 9.0 / 4);
  EXPECT_DOUBLE_EQ(levelled["wear_mean"], 9.0 / 4);
  EXPECT_EQ(levelled["written_lines"], 4);
  EXPECT_EQ(levelled["worn_lines"], 0);
}

// --- everything together ---------------------------------------------------------------------------------

TEST(NvmMedia, AnswersEveryAccessOnceUnderRandomTraffic) {
  RandomStream random(1, "media", "test");
  for (const std::uint32_t buffer : {0U, 1U, 2U, 16U}) {
    NvmMediaParams params = nvm_blocks();
    params.write_buffer = buffer;
    params.hold = buffer / 2;
    params.read_buffer = buffer;
    NvmBench bench(params);
    bench.open();
    Time now;
    for (int i = 0; i < 5000; ++i) {
      now += Time{static_cast<std::int64_t>(random.below(100'000))};
      const bool write = random.chance(0.5);
      const auto lines = static_cast<std::uint16_t>(1 + random.below(8));
      bench.access(random.below(256) * 64, now, write ? Opcode::kMemWr : Opcode::kMemRd,
                   static_cast<std::uint16_t>(lines * 64));
    }
    bench.run();
    EXPECT_EQ(bench.done.size(), bench.given);
    auto measured = bench.measures();
    EXPECT_LE(measured["write_buffer_max"], buffer);
    EXPECT_GT(measured["media_write_gb_per_s"], 0);
    EXPECT_LE(measured["written_lines"], 264);
  }
}

// --- parameters ------------------------------------------------------------------------------------------

TEST(NvmMedia, APresetGivesWhatIsNotWritten) {
  const auto optane = read_params<NvmMediaParams>(Value::Map{{"preset", "optane-dcpmm"}, {"banks", 8}});
  EXPECT_EQ(optane.block, 256_B);
  EXPECT_EQ(optane.read_latency, 250_ns);
  EXPECT_EQ(optane.banks, 8U);
  const auto plain = read_params<NvmMediaParams>(Value::Map{});
  EXPECT_EQ(plain.read_latency, 100_ns);
  EXPECT_EQ(plain.write_latency, 200_ns);
  const auto named = read_params<NvmMediaParams>(Value::Map{{"preset", "nvm-100-200"}});
  EXPECT_EQ(named.write_latency, plain.write_latency);
}

TEST(NvmMedia, OptaneHasTheMeasuredBandwidths) {
  const auto params = read_params<NvmMediaParams>(Value::Map{{"preset", "optane-dcpmm"}});
  const auto bandwidth = [&](Opcode opcode, std::uint64_t stride) {
    NvmBench bench(params);
    for (std::uint64_t i = 0; i < 20'000; ++i) bench.access(i * stride, 0_ns, opcode);
    bench.run();
    return 20'000 * 64 / bench.end().ns();
  };
  // Yang et al., Fig. 4: sequential 6.6 and 2.3 GB/s; and 5.1: single lines of blocks get a quarter.
  EXPECT_NEAR(bandwidth(Opcode::kMemRd, 64), 6.6, 0.03 * 6.6);
  EXPECT_NEAR(bandwidth(Opcode::kMemWr, 64), 2.3, 0.03 * 2.3);
  EXPECT_NEAR(bandwidth(Opcode::kMemRd, 256), 6.6 / 4, 0.03 * 6.6 / 4);
  EXPECT_NEAR(bandwidth(Opcode::kMemWr, 256), 2.3 / 4, 0.03 * 2.3 / 4);
}

TEST(NvmMedia, RefusesWhatCannotBe) {
  const auto problem = [](Value::Map params) {
    return std::string(test::input_error([&] { read_params<NvmMediaParams>(params); }).what());
  };
  EXPECT_TRUE(test::contains(problem({{"preset", "optane"}}), "optane-dcpmm"));
  EXPECT_TRUE(test::contains(problem({{"banks", 0}}), "at least 1"));
  EXPECT_TRUE(test::contains(problem({{"block", "0B"}}), "at least 64B"));
  EXPECT_TRUE(test::contains(problem({{"block", "192B"}}), "a power of two"));
  EXPECT_TRUE(test::contains(problem({{"write_buffer", 4}, {"hold", 4}}), "leave a block"));
  EXPECT_TRUE(
      test::contains(problem({{"preset", "optane-dcpmm"}, {"wear_region", "64B"}}), "at least a block"));
  EXPECT_TRUE(test::contains(problem({{"endurance", 0}}), "at least 1"));
}

TEST(NvmMedia, RefusesLatenciesOfBuffersThatItDoesNotHave) {
  const auto read = [](Value::Map params) { read_params<NvmMediaParams>(params); };
  const auto problem = [&](Value::Map params) {
    return std::string(test::input_error([&] { read(std::move(params)); }).what());
  };
  EXPECT_TRUE(test::contains(problem({{"write_buffer", 0}, {"buffer_write_latency", "20ns"}}),
                             "buffer_write_latency has no effect unless"));
  EXPECT_TRUE(test::contains(problem({{"write_buffer", 0}, {"buffer_read_latency", "20ns"}}),
                             "buffer_read_latency has no effect unless"));
  EXPECT_NO_THROW(read({{"write_buffer", 0}, {"read_buffer", 4}, {"buffer_read_latency", "20ns"}}));
  EXPECT_NO_THROW(read({{"buffer_write_latency", "20ns"}, {"buffer_read_latency", "20ns"}}));
  // What a preset brings along is no mistake; what somebody writes beside it is, be it the same.
  const Value::Map bare{{"preset", "optane-dcpmm"}, {"write_buffer", 0}, {"hold", 0}, {"read_buffer", 0}};
  EXPECT_NO_THROW(read(bare));
  for (const char* const key : {"buffer_write_latency", "buffer_read_latency"}) {
    Value::Map params = bare;
    for (const char* const latency : {"10ns", "35ns", "69ns"}) {
      params.emplace_back(key, latency);
      EXPECT_TRUE(test::contains(problem(params), std::string(key) + " has no effect unless"));
      params.pop_back();
    }
  }
}

}  // namespace
}  // namespace cxloom
