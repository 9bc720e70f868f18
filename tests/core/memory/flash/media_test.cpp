#include "memory/flash/media.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/random.hpp"
#include "base/schema.hpp"
#include "core/support/errors.hpp"
#include "core/support/media_bench.hpp"

namespace cxloom {
namespace {

using namespace literals;
using test::Messages;
using FlashBench = test::MediaBench<FlashMedia>;

constexpr std::uint64_t kFlashPage = 4096;

// What the operations of one page take.
constexpr Time kCommand = 200_ns;
constexpr Time kArray = 10_us;       // to read
constexpr Time kTransfer = 4096_ns;  // of a page, at 1 GB/s
constexpr Time kProgram = 100_us;
constexpr Time kErase = 1_ms;
constexpr Time kBuffer = 150_ns;

/// One plane of 64 blocks of 8 pages of 4 KiB.
FlashParams one_plane() {
  FlashParams params;
  params.channels = params.packages = params.dies = params.planes = 1;
  params.blocks = 64;
  params.pages = 8;
  params.page = params.sector = Bytes{kFlashPage};
  params.read_time = kArray;
  params.program_time = kProgram;
  params.erase_time = kErase;
  params.command_time = kCommand;
  params.bus_bandwidth = 1_GBps;
  params.over_provisioning = 1.0;
  params.write_buffer = 16;
  params.buffer_time = kBuffer;
  return params;
}

TEST(FlashMedia, AReadTakesCommandArrayAndTransfer) {
  FlashBench bench(one_plane(), Bytes{kFlashPage});
  const Message& page = bench.access(0, 0_ns, Opcode::kMemRd, 4096);
  const Message& line = bench.access(kFlashPage, 1_ms, Opcode::kMemRd, 64);
  bench.run();
  EXPECT_EQ(bench.latency(page), kCommand + kArray + kTransfer);
  EXPECT_EQ(bench.latency(line), kCommand + kArray + kTransfer) << "a sector passes the bus";
  EXPECT_EQ(Messages::segment(page, Segment::kMedia), kCommand + kArray + kTransfer);
}

TEST(FlashMedia, OfAPageTheSectorsThatAreWantedPassTheBus) {
  FlashParams params = one_plane();
  params.sector = 512_B;
  FlashBench bench(params, Bytes{kFlashPage});
  const Message& one = bench.access(64, 0_ns, Opcode::kMemRd, 64);
  const Message& two = bench.access(480, 1_ms, Opcode::kMemRd, 64);
  bench.run();
  EXPECT_EQ(bench.latency(one), kCommand + kArray + 512_ns);
  EXPECT_EQ(bench.latency(two), kCommand + kArray + 1024_ns);
}

TEST(FlashMedia, AWriteIsDoneInTheBufferOrWithoutOneInTheArray) {
  FlashBench buffered(one_plane(), Bytes{kFlashPage});
  const Message& first = buffered.access(0, 0_ns, Opcode::kMemWr, 4096);
  buffered.run();
  EXPECT_EQ(buffered.latency(first), kBuffer);
  EXPECT_EQ(buffered.kernel().now(), kCommand + kTransfer + kProgram) << "it goes on into the array";

  FlashParams params = one_plane();
  params.write_buffer = 0;
  FlashBench through(params, Bytes{kFlashPage});
  const Message& second = through.access(0, 0_ns, Opcode::kMemWr, 4096);
  through.run();
  EXPECT_EQ(through.latency(second), kCommand + kTransfer + kProgram);
}

TEST(FlashMedia, AWriteOfPartOfAPageReadsTheRestBefore) {
  FlashParams params = one_plane();
  params.sector = 512_B;
  params.write_buffer = 0;
  FlashBench bench(params, Bytes{kFlashPage});
  const Message& part = bench.access(0, 0_ns, Opcode::kMemWr, 512);
  bench.run();
  const Time fetch = kCommand + kArray + 512_ns * 7;
  EXPECT_EQ(bench.latency(part), fetch + kCommand + kTransfer + kProgram);
  EXPECT_EQ(Messages::segment(part, Segment::kMedia), bench.latency(part));

  params.filled = 0.0;
  FlashBench empty(params, Bytes{kFlashPage});
  const Message& fresh = empty.access(0, 0_ns, Opcode::kMemWr, 512);
  empty.run();
  EXPECT_EQ(empty.latency(fresh), kCommand + kTransfer + kProgram) << "there is no rest";
}

// --- reads of one page -----------------------------------------------------------------------------------

TEST(FlashMedia, LinesOfAPageInFlightAreReadOnce) {
  // 64 lines of a page at the same time: one command, one array time, and the page passes the bus once, c + R
  // + x. Each by itself would take 64 times as long on the one die.
  FlashParams params = one_plane();
  params.sector = Bytes{64};
  FlashBench bench(params, Bytes{kFlashPage});
  bench.open();
  for (std::uint64_t line = 0; line < 64; ++line) bench.access(line * 64, 0_ns);
  bench.run();
  for (const auto& [message, at] : bench.done) EXPECT_EQ(at, kCommand + kArray + kTransfer);
  const auto found = bench.measures();
  EXPECT_EQ(found.at("page_reads"), 1.0);
  EXPECT_EQ(found.at("joined_reads"), 63.0);
  EXPECT_EQ(found.at("read_amplification"), 1.0) << "a page of 4096 bytes for 64 lines";
}

TEST(FlashMedia, AReadJoinsUntilTheDataLeaveTheArray) {
  FlashParams params = one_plane();
  params.sector = 512_B;
  FlashBench bench(params, Bytes{kFlashPage});
  const Message& first = bench.access(0, 0_ns);
  const Message& same = bench.access(64, 1_us);  // of the same sector
  const Message& other = bench.access(512, kCommand + kArray - 1_ns);
  const Message& late = bench.access(1024, kCommand + kArray + 1_ns);  // the first two sectors are on the bus
  bench.run();
  const Time joined = kCommand + kArray + 1024_ns;
  EXPECT_EQ(bench.done.at(&first), joined);
  EXPECT_EQ(bench.done.at(&same), joined);
  EXPECT_EQ(bench.done.at(&other), joined);
  EXPECT_EQ(Messages::segment(other, Segment::kMedia), 1025_ns) << "nobody waits for what works on it";
  EXPECT_EQ(Messages::segment(other, Segment::kMediaQueue), 0_ns);
  EXPECT_EQ(bench.done.at(&late), joined + kCommand + kArray + 512_ns) << "a read of its own";
}

TEST(FlashMedia, ReadsThatWaitForTheDieJoinToo) {
  // Another page of the same plane is read first. Then n lines of a page take c + R + x together.
  FlashBench bench(one_plane(), Bytes{kFlashPage});
  const Time one = kCommand + kArray + kTransfer;
  bench.access(kFlashPage, 0_ns);
  for (std::uint64_t line = 0; line < 8; ++line)
    bench.access(line * 64, 1_us + 1_us * static_cast<std::int64_t>(line));
  bench.run();
  EXPECT_EQ(bench.end(), one * 2);
}

TEST(FlashMedia, DependentReadsFollowEachOther) {
  FlashBench bench(one_plane(), Bytes{kFlashPage});
  Time at;
  for (std::uint64_t i = 0; i < 20; ++i) {
    const Message& read = bench.access(i * kFlashPage, at, Opcode::kMemRd, 4096);
    bench.run();
    at = bench.done.at(&read);
  }
  EXPECT_EQ(at, (kCommand + kArray + kTransfer) * 20);
}

TEST(FlashMedia, ATransferOfAFractionOfAPicosecondCarriesTheRest) {
  // 4096 B at 1.2 GB/s are 3413.333 ns: three reads that follow each other at once on the bus take 10240 ns
  // on it.
  FlashParams params = one_plane();
  params.dies = 3;
  params.command_time = 0_ns;
  params.bus_bandwidth = parse_bandwidth("1.2GB/s");
  FlashBench bench(params, Bytes{kFlashPage});
  std::vector<const Message*> reads;
  for (std::uint64_t i = 0; i < 3; ++i)
    reads.push_back(&bench.access(i * kFlashPage, 0_ns, Opcode::kMemRd, 4096));
  bench.run();
  EXPECT_EQ(bench.latency(*reads[0]), kArray + Time{3'413'333});
  EXPECT_EQ(bench.latency(*reads[1]), kArray + Time{6'826'666});
  EXPECT_EQ(bench.latency(*reads[2]), kArray + Time{10'240'000});
  EXPECT_EQ(Messages::segment(*reads[2], Segment::kMediaQueue), Time{6'826'666});
}

TEST(FlashMedia, ABlockIsErasedOnceTooFewAreFree) {
  // Five blocks of two pages; the memory's pages 0 to 4 lie in blocks 0, 1 and 2. A write of page 0 fills
  // block 2. The next one, of page 1, opens a block, and leaves one free: block 0, which has no current page
  // any more, is collected.
  FlashParams params = one_plane();
  params.blocks = 5;
  params.pages = 2;
  params.over_provisioning = 1.0;  // 5 logical pages
  params.write_buffer = 0;
  FlashBench bench(params, Bytes{kFlashPage});
  ASSERT_EQ(bench.media().geometry().logical, 5U);
  bench.open();
  const Time program = kCommand + kTransfer + kProgram;
  const Message& zero = bench.access(0, 0_ns, Opcode::kMemWr, 4096);
  const Message& one = bench.access(kFlashPage, 0_ns, Opcode::kMemWr, 4096);
  const Message& two = bench.access(2 * kFlashPage, 0_ns, Opcode::kMemWr, 4096);
  bench.run();
  EXPECT_EQ(bench.latency(zero), program);
  EXPECT_EQ(bench.latency(one), program * 2);
  EXPECT_EQ(bench.measures().at("block_erases"), 1.0);
  EXPECT_EQ(bench.measures().at("pages_moved"), 0.0);
  // A write and collection take turns in the plane; the write had the last one.
  EXPECT_EQ(bench.latency(two), program * 2 + kCommand + kErase + program);
}

// --- what bounds it --------------------------------------------------------------------------------------

/// Reads that are all there at the beginning, each of a page of its own, in pages per nanosecond.
double rate(FlashParams params, std::uint64_t reads = 4000) {
  params.blocks = 2048;
  FlashBench bench(params, Bytes{kFlashPage});
  EXPECT_GE(bench.media().geometry().logical_pages(), reads);
  for (std::uint64_t i = 0; i < reads; ++i) bench.access(i * kFlashPage, 0_ns, Opcode::kMemRd, 4096);
  bench.run();
  return static_cast<double>(reads) / bench.end().ns();
}

FlashParams shaped(std::uint32_t channels, std::uint32_t packages, std::uint32_t dies, std::uint32_t planes,
                   FlashPlaneWork work = FlashPlaneWork::kOne) {
  FlashParams params = one_plane();
  params.channels = channels;
  params.packages = packages;
  params.dies = dies;
  params.planes = planes;
  params.plane_work = work;
  return params;
}

TEST(FlashMedia, DiesBoundReadsWhereTheBusIsFree) {
  const double alone = 1.0 / (kCommand + kArray + kTransfer).ns();
  EXPECT_NEAR(rate(shaped(1, 1, 1, 1)), alone, 0.01 * alone);
  EXPECT_NEAR(rate(shaped(1, 1, 2, 1)), 2 * alone, 0.01 * 2 * alone);
  EXPECT_NEAR(rate(shaped(1, 2, 1, 1)), 2 * alone, 0.01 * 2 * alone);
  EXPECT_NEAR(rate(shaped(4, 1, 2, 1)), 8 * alone, 0.01 * 8 * alone);
  EXPECT_NEAR(rate(shaped(1, 1, 1, 4)), alone, 0.01 * alone) << "one plane of a die works";
}

TEST(FlashMedia, ChannelsBoundReadsOfManyDies) {
  const double bus = 1.0 / (kCommand + kTransfer).ns();
  EXPECT_NEAR(rate(shaped(1, 1, 16, 1)), bus, 0.01 * bus);
  EXPECT_NEAR(rate(shaped(2, 4, 4, 1), 8000), 2 * bus, 0.01 * 2 * bus);
}

TEST(FlashMedia, PlanesReadTogetherOrByThemselves) {
  // Together: the commands, one array time, the transfers.
  const double together = 2.0 / (kCommand * 2 + kArray + kTransfer * 2).ns();
  EXPECT_NEAR(rate(shaped(1, 1, 1, 2, FlashPlaneWork::kTogether)), together, 0.01 * together);
  const double apart = 2.0 / (kCommand + kArray + kTransfer).ns();
  EXPECT_NEAR(rate(shaped(1, 1, 1, 2, FlashPlaneWork::kIndependent)), apart, 0.01 * apart);
}

TEST(FlashMedia, ProgramsBoundWritesOnceTheBufferIsFull) {
  for (const auto work : {FlashPlaneWork::kOne, FlashPlaneWork::kTogether, FlashPlaneWork::kIndependent}) {
    FlashParams params = shaped(2, 1, 2, 2, work);
    params.filled = 0.0;  // nothing to be collected
    params.blocks = 512;
    FlashBench bench(params, Bytes{kFlashPage});
    const std::uint64_t writes = 8000;
    for (std::uint64_t i = 0; i < writes; ++i) bench.access(i * kFlashPage, 0_ns, Opcode::kMemWr, 4096);
    bench.run();
    const Time one = kCommand + kTransfer + kProgram;
    const double wanted = work == FlashPlaneWork::kOne ? 4.0 / one.ns()
                          : work == FlashPlaneWork::kTogether
                              ? 8.0 / ((kCommand + kTransfer) * 2 + kProgram).ns()
                              : 8.0 / one.ns();
    EXPECT_NEAR(static_cast<double>(writes) / bench.kernel().now().ns(), wanted, 0.01 * wanted);
  }
}

// --- the write buffer ------------------------------------------------------------------------------------

TEST(FlashMedia, WritesToAPageInTheBufferAreMergedAndReadsOfItForwarded) {
  FlashParams params = one_plane();
  params.sector = 512_B;
  params.hold = 4;
  FlashBench bench(params, Bytes{kFlashPage});
  bench.open();
  bench.access(0, 0_ns, Opcode::kMemWr, 512);
  const Message& merged = bench.access(512, 1_us, Opcode::kMemWr, 512);
  const Message& forwarded = bench.access(256, 2_us, Opcode::kMemRd, 512);
  const Message& beside = bench.access(768, 3_us, Opcode::kMemRd, 512);
  bench.run();
  EXPECT_EQ(bench.latency(merged), kBuffer);
  EXPECT_EQ(bench.latency(forwarded), kBuffer);
  EXPECT_EQ(bench.latency(beside), kCommand + kArray + 1024_ns);
  const auto found = bench.measures();
  EXPECT_EQ(found.at("merged_writes"), 1.0);
  EXPECT_EQ(found.at("forwarded_reads"), 1.0);
  EXPECT_EQ(found.at("page_programs"), 0.0) << "it stays in the buffer";
}

TEST(FlashMedia, AReadOfAPageThatIsBeingProgrammedIsForwarded) {
  FlashBench bench(one_plane(), Bytes{kFlashPage});
  bench.access(0, 0_ns, Opcode::kMemWr, 4096);
  const Message& read = bench.access(0, 50_us, Opcode::kMemRd, 4096);
  bench.run();
  EXPECT_EQ(bench.latency(read), kBuffer);
}

TEST(FlashMedia, AReadOfAPageThatWasNeverWrittenTouchesNoFlash) {
  FlashParams params = one_plane();
  params.filled = 0.5;
  FlashBench bench(params, Bytes{kFlashPage});
  const Message& read = bench.access(200 * kFlashPage, 0_ns, Opcode::kMemRd, 4096);
  bench.run();
  EXPECT_EQ(bench.latency(read), kBuffer);
}

TEST(FlashMedia, CopybackLeavesTheBusAlone) {
  // Page 1 is still current when the block of page 0 is collected.
  for (const bool copyback : {false, true}) {
    FlashParams params = one_plane();
    params.blocks = 5;
    params.pages = 2;
    params.write_buffer = 0;
    params.copyback = copyback;
    params.collection = {"fifo", Value(Value::Map{})};
    FlashBench bench(params, Bytes{kFlashPage});
    bench.open();
    bench.access(0, 0_ns, Opcode::kMemWr, 4096);
    bench.access(0, 0_ns, Opcode::kMemWr, 4096);
    bench.run();
    ASSERT_EQ(bench.measures().at("pages_moved"), 1.0);
    const Time write = kCommand + kTransfer + kProgram;
    const Time move = kCommand * 2 + kArray + kProgram + (copyback ? 0_ns : kTransfer * 2);
    EXPECT_EQ(bench.kernel().now(), write * 2 + move + kCommand + kErase);
  }
}

// --- parameters ------------------------------------------------------------------------------------------

FlashParams read(const Value::Map& map) { return read_params<FlashParams>(Value(map)); }

TEST(FlashParams, PresetsAreTheValuesOfWhatIsNotWritten) {
  const FlashParams tlc = read({});
  EXPECT_EQ(tlc.read_time, 75_us);
  EXPECT_EQ(tlc.program_time, 900_us);
  EXPECT_EQ(tlc.erase_time, Time{4'500'000'000});
  EXPECT_EQ(tlc.page, 16_KiB);
  // Agrawal et al.: a page of 4 KiB passes the bus in 100 us.
  const FlashParams slc = read({{"preset", "slc"}, {"program_time", "250us"}});
  EXPECT_EQ(slc.read_time, 25_us);
  EXPECT_EQ(slc.program_time, 250_us) << "what is written takes precedence";
  EXPECT_EQ(RateMeter(slc.bus_bandwidth.rate).advance(4096), 100_us);
  EXPECT_EQ(slc.endurance, 100'000U);
  // Cheong et al.: 160 MB/s of writes per die are its planes' pages in one program time.
  const FlashParams znand = read({{"preset", "z-nand"}});
  EXPECT_EQ(znand.read_time, 3_us);
  EXPECT_NEAR(static_cast<double>(znand.planes * znand.page.count()) / znand.program_time.ns(), 0.160, 0.005);
}

TEST(FlashParams, BlocksAreAsManyAsTheCapacityAndTheSparePagesTake) {
  FlashParams params = one_plane();
  params.blocks.reset();
  params.over_provisioning = 0.25;
  const FlashGeometry made = params.geometry(Bytes{1000 * kFlashPage});
  EXPECT_EQ(made.logical, 1000U);
  EXPECT_EQ(made.blocks, 157U);  // 1250 pages in blocks of 8
  params.over_provisioning = 0.001;
  EXPECT_EQ(params.geometry(Bytes{1000 * kFlashPage}).blocks, 128U) << "the free ones, and one more";
}

TEST(FlashParams, WhatCannotWorkIsRefusedWithTheReason) {
  FlashParams params = one_plane();
  params.blocks = 3;
  params.over_provisioning = 0.1;
  EXPECT_THROW(params.geometry({}), InputError) << "two of three blocks are to be free";
  params.blocks = 64;
  EXPECT_NO_THROW(params.geometry(Bytes{400 * kFlashPage}));
  EXPECT_THROW(params.geometry(Bytes{500 * kFlashPage}), InputError)
      << "512 pages, of which 465 are the memory's";
}

}  // namespace
}  // namespace cxloom
