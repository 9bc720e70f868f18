// Banks and data paths together: what waits for a path keeps no bank, so that each bound holds by itself.
#include <gtest/gtest.h>

#include <cstdint>

#include "core/memory/nvm/small_nvm.hpp"

namespace cxloom {
namespace {

using namespace literals;
using test::Messages;
using test::NvmBench;

constexpr std::uint64_t kBlock = 256;

/// One us of the write path for each block.
NvmMediaParams slow_write_path() {
  NvmMediaParams params = test::nvm_blocks();
  params.write_bandwidth = Bandwidth{Rate::per_time(256, 1'000'000)};
  return params;
}

TEST(NvmDataPaths, ReadsPassWritesThatWaitForTheWritePath) {
  NvmBench bench(slow_write_path());
  for (std::uint64_t i = 0; i < 4; ++i) bench.access(i * kBlock, 0_ns, Opcode::kMemWr, kBlock);
  // The write of the fourth bank begins after 3 us. Its bank has nothing to do before.
  const Message& read = bench.access(7 * kBlock, 10_ns);
  const Message& beside_a_write = bench.access(4 * kBlock, 10_ns);
  // It comes in the last 100 ns before the write path is free for its bank, which begins 50 ns later.
  const Message& late = bench.access(11 * kBlock, 2950_ns);
  bench.run();
  EXPECT_EQ(bench.latency(read), 100_ns);
  EXPECT_EQ(bench.latency(beside_a_write), 190_ns + 100_ns);
  EXPECT_EQ(bench.latency(late), 100_ns);
  EXPECT_EQ(bench.kernel().now(), 3050_ns + 200_ns);
}

TEST(NvmDataPaths, ReadsPassABlockThatIsReadAndNotWrittenYet) {
  NvmBench bench(slow_write_path());
  bench.access(0, 0_ns, Opcode::kMemWr, kBlock);
  bench.access(kBlock, 0_ns, Opcode::kMemWr);  // of a block of which lines are missing: read until 100 ns
  const Message& other = bench.access(5 * kBlock, 200_ns);
  const Message& same = bench.access(kBlock, 200_ns);
  const Message& not_written = bench.access(kBlock + 64, 200_ns);
  bench.run();
  EXPECT_EQ(bench.latency(other), 100_ns);
  EXPECT_EQ(bench.latency(same), 20_ns) << "its lines are forwarded";
  EXPECT_EQ(bench.latency(not_written), 200_ns);
  EXPECT_EQ(bench.kernel().now(), 1000_ns + 200_ns) << "it is written as soon as the path is free";
}

TEST(NvmDataPaths, AWriteWithoutABufferKeepsItsPlaceInItsBank) {
  NvmMediaParams params = slow_write_path();
  params.write_buffer = 0;
  NvmBench bench(params);
  bench.access(0, 0_ns, Opcode::kMemWr, kBlock);
  const Message& part = bench.access(kBlock, 0_ns, Opcode::kMemWr);
  const Message& behind = bench.access(5 * kBlock, 10_ns);
  bench.run();
  EXPECT_EQ(bench.latency(part), 1000_ns + 200_ns);
  EXPECT_EQ(bench.latency(behind), 1190_ns + 100_ns);
}

TEST(NvmDataPaths, ReadsAndWritesReachBothBandwidthsAtOnce) {
  // 2 GB/s of writes keep 200 ns x 2 / 64 B = 6.25 banks busy, and 4 GB/s of reads as many: 12.5 of 16.
  // Writes always wait for room in the buffer, so that each bank takes turns.
  NvmMediaParams params;
  params.read_bandwidth = 4_GBps;
  params.write_bandwidth = 2_GBps;
  NvmBench bench(params);
  for (std::uint64_t i = 0; i < 8000; ++i) bench.access(i * 64, 0_ns);
  for (std::uint64_t i = 0; i < 4000; ++i) bench.access((8000 + i) * 64, 0_ns, Opcode::kMemWr);
  bench.run();
  EXPECT_NEAR(bench.end().ns(), 8000 * 64 / 4.0, 0.01 * 8000 * 64 / 4.0);
}

TEST(NvmDataPaths, WritesPassReadsThatWaitForTheReadPath) {
  // 1 GB/s of reads keep 1.6 banks busy and 3 GB/s of writes 9.4 of 16. A bank whose read waits for the path
  // writes more than one block in the meantime.
  NvmMediaParams params;
  params.read_bandwidth = 1_GBps;
  params.write_bandwidth = 3_GBps;
  NvmBench bench(params);
  const Message* last = nullptr;
  for (std::uint64_t i = 0; i < 4000; ++i) bench.access(i * 64, 0_ns);
  for (std::uint64_t i = 0; i < 8000; ++i) last = &bench.access((8000 + i) * 64, 0_ns, Opcode::kMemWr);
  bench.run();
  EXPECT_NEAR(bench.latency(*last).ns(), 8000 * 64 / 3.0, 0.02 * 8000 * 64 / 3.0);
  EXPECT_NEAR(bench.end().ns(), 4000 * 64 / 1.0, 0.01 * 4000 * 64 / 1.0);
}

}  // namespace
}  // namespace cxloom
