#include "workload/trace/foreign.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "core/workload/trace/expectations.hpp"

namespace cxloom {
namespace {

ForeignTraceParser parser(std::string_view format, const TraceOptions& options = {}) {
  return ForeignTraceParser(*trace_format(format), options);
}

Access access_to(std::uint64_t address, AccessKind kind) {
  Access result;
  result.address = Address{address};
  result.kind = kind;
  return result;
}

Access timed(std::uint64_t address, AccessKind kind, std::int64_t picoseconds) {
  Access result = access_to(address, kind);
  result.timed = true;
  result.timestamp = Time{picoseconds};
  return result;
}

Access sized(Access access, std::uint16_t size) {
  access.size = size;
  return access;
}

Access behind(Access access, std::uint32_t instructions) {
  access.instruction_gap = instructions;
  return access;
}

constexpr AccessKind kRead = AccessKind::kRead;
constexpr AccessKind kWrite = AccessKind::kWrite;

// The text gives the accesses, in blocks of any size, with and without an end to its last line.
void expect_accesses(std::string_view format, const std::string& text, const std::vector<Access>& expected,
                     const TraceOptions& options = {}) {
  for (const std::size_t block : {1U, 7U, 1000U}) {
    EXPECT_TRUE(same(parse_all(parser(format, options), text, block), expected)) << format << ": " << text;
    EXPECT_TRUE(same(parse_all(parser(format, options), text + "\n", block), expected)) << format;
  }
}

const TraceOptions kCycles{.tick = parse_period("1.6GHz"), .levels = {}};  // of 625 ps

// --- what lines mean: derived by hand from the readers that each file of a family names ------------------

// An access is the line that the address is in: the simulators leave its lowest bits out.
TEST(ForeignTrace, DramsimHasAddressOperationAndCycle) {
  expect_accesses("dramsim3", "0x40 READ 0\n\n1f40  WRITE\t3\n0Xff read 3",
                  {timed(0x40, kRead, 0), timed(0x1f40, kWrite, 1875), timed(0xc0, kRead, 1875)}, kCycles);
  expect_accesses("dramsim2-mase", "0x40 IFETCH 0\n0x80 WRITE 2\n0x80 READ 2",
                  {timed(0x40, kRead, 0), timed(0x80, kWrite, 1250), timed(0x80, kRead, 1250)}, kCycles);
  expect_accesses(
      "dramsim2-k6",
      "0x0 P_FETCH 0\n0x0 P_MEM_RD 0\n0x0 P_MEM_WR 0\n0x0 BOFF 0\n0x0 P_LOCK_RD 0\n0x0 P_LOCK_WR 1",
      {timed(0, kRead, 0), timed(0, kRead, 0), timed(0, kWrite, 0), timed(0, kWrite, 0), timed(0, kRead, 0),
       timed(0, kRead, 625)},
      kCycles);
}

TEST(ForeignTrace, RamulatorsDramTraceHasAddressAndKind) {
  expect_accesses("ramulator-dram", "0x12345680 R\n0x4cbd56c8 W",
                  {access_to(0x12345680, kRead), access_to(0x4cbd56c0, kWrite)});
}

TEST(ForeignTrace, RamulatorsLoadStoreTraceHasHexadecimalOrDecimalAddresses) {
  expect_accesses("ramulator2-load-store", "LD 0x40\nST 8000\r\nLD 0X80",
                  {access_to(0x40, kRead), access_to(8000, kWrite), access_to(0x80, kRead)});
}

// Three others and the load; a write-back is no instruction.
TEST(ForeignTrace, RamulatorsSimpleO3TraceHasLoadsAndTheWriteBacksThatTheyCause) {
  expect_accesses(
      "ramulator2-simple-o3", "3 8000 16000\n0 64",
      {behind(access_to(8000, kRead), 4), access_to(16000, kWrite), behind(access_to(64, kRead), 1)});
}

TEST(ForeignTrace, CoordinatesAreDigitsOfTheBurstsNumber) {
  const TraceOptions options{.tick = {}, .levels = {2, 3, 5}};
  std::string text;
  std::vector<Access> expected;
  for (std::uint64_t burst = 0; burst < 30; ++burst) {
    text += (burst % 2 == 0 ? "R " : "W ") + std::to_string(burst / 15) + "," +
            std::to_string(burst / 5 % 3) + "," + std::to_string(burst % 5) + "\n";
    expected.push_back(access_to(burst * 64, burst % 2 == 0 ? kRead : kWrite));
  }
  EXPECT_TRUE(same(parse_all(parser("ramulator2-read-write", options), text), expected));
}

// Cycles of the player's clock, from the start or from the request before; a length of its own in brackets.
TEST(ForeignTrace, DramsysHasCyclesCommandsAndLengths) {
  const std::string text =
      "# made by hand\n31: read 0x400140\n33:\t(128) write\t0x400180 0x0123\n33: read 40";
  expect_accesses("dramsys-stl", text,
                  {timed(0x400140, kRead, 31 * 625), sized(timed(0x400180, kWrite, 33 * 625), 128),
                   timed(0x40, kRead, 33 * 625)},
                  kCycles);
  expect_accesses("dramsys-rstl", text,
                  {timed(0x400140, kRead, 31 * 625), sized(timed(0x400180, kWrite, 64 * 625), 128),
                   timed(0x40, kRead, 97 * 625)},
                  kCycles);
}

// Instructions are counted, words are of four bytes, and what is copied back is flushed.
TEST(ForeignTrace, DineroHasLabelsAndHexadecimalAddresses) {
  Access copied_back = sized(access_to(0x20, AccessKind::kFlush), 4);
  copied_back.keeps = true;
  expect_accesses("dinero", "2 400\n2 404\n0 1fc7 the rest is ignored\n1 0x10\n3 a0\n4 20\n5 20",
                  {sized(behind(access_to(0x1fc4, kRead), 2), 4), sized(access_to(0x10, kWrite), 4),
                   sized(access_to(0xa0, kRead), 4), copied_back});
  copied_back.size = 0x40;
  expect_accesses("dinero-extended", "i 400 4\nr 1fc7 8\nw 0x10 0x2 rest\nm a0 1\nc 20 40\nv 20 40\nr 0 0",
                  {sized(behind(access_to(0x1fc7, kRead), 1), 8), sized(access_to(0x10, kWrite), 2),
                   sized(access_to(0xa0, kRead), 1), copied_back});
}

TEST(ForeignTrace, PinatraceHasInstructionsAndAddresses) {
  expect_accesses("pinatrace", "0x7f3: R 0x7ffe48\n0x7f8: W 0x80\n0x7f8: R (nil)\n#eof",
                  {access_to(0x7ffe40, kRead), access_to(0x80, kWrite), access_to(0, kRead)});
}

TEST(ForeignTrace, ProsperoHasCyclesDecimalAddressesAndSizes) {
  expect_accesses("prospero", "0 R 10 8\n4 w 4097 70",
                  {sized(timed(10, kRead, 0), 8), sized(timed(4097, kWrite, 2500), 70)}, kCycles);
}

// --- records --------------------------------------------------------------------------------------------

std::string bytes_of(std::uint64_t number) {
  std::string bytes;
  for (unsigned i = 0; i < 8; ++i) bytes += static_cast<char>(number >> (8 * i));
  return bytes;
}

// An instruction: two flags, registers, the addresses that it writes and those that it reads.
std::string champsim(std::vector<std::uint64_t> written, std::vector<std::uint64_t> read) {
  written.resize(2);
  read.resize(4);
  std::string record = bytes_of(0x400000) + std::string(8, '\0');
  for (const auto& addresses : {written, read}) {
    for (const std::uint64_t address : addresses) record += bytes_of(address);
  }
  return record;
}

// What reads nothing and writes nothing is counted; the second access of an instruction is no other
// instruction.
TEST(ForeignTrace, ChampsimHasARecordForEachInstruction) {
  const std::string text = champsim({}, {}) + champsim({0x88}, {0x7fff0000, 0x40}) + champsim({}, {0x40});
  const std::vector<Access> expected{behind(access_to(0x7fff0000, kRead), 2), access_to(0x40, kRead),
                                     access_to(0x80, kWrite), behind(access_to(0x40, kRead), 1)};
  for (const std::size_t block : {1U, 60U, 64U, 1000U})
    EXPECT_TRUE(same(parse_all(parser("champsim"), text, block), expected)) << block;
  EXPECT_EQ(error_of(parser("champsim"), text.substr(0, 100)),
            "the trace is cut off within record 1, found 36 bytes; allowed: records of 64 bytes");
  EXPECT_EQ(error_of(parser("champsim"), champsim({}, {})),
            "the trace has no accesses; allowed: records of 64 bytes");
}

// --- blocks of disks ------------------------------------------------------------------------------------

std::vector<Access> lines_of(std::uint64_t address, std::uint64_t bytes, Access like) {
  std::vector<Access> lines;
  for (std::uint64_t offset = 0; offset < bytes; offset += 64) {
    lines.push_back(like);
    lines.back().address = Address{address + offset};
  }
  return lines;
}

std::vector<Access> joined(const std::vector<std::vector<Access>>& parts) {
  std::vector<Access> all;
  for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

// 128166372003061629 ticks of 100 ns since 1601, the second 25 ticks later and the third back by 5: as at the
// second.
TEST(ForeignTrace, MsrCountsTicksOfAHundredNanosecondsFromTheFirst) {
  const std::string text =
      "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n"
      "128166372003061629,hm,1,Read,4096,512,413\n128166372003061654,hm,1,Write,383496192,4096,1\n"
      "128166372003061649,hm,0,Read,0,64,7";
  Access read = timed(0, kRead, 0);
  read.thread = 1;
  Access write = timed(0, kWrite, 2'500'000);
  write.thread = 1;
  expect_accesses(
      "msr", text,
      joined({lines_of(4096, 512, read), lines_of(383496192, 4096, write), {timed(0, kRead, 2'500'000)}}));
  ForeignTraceParser parsing = parser("msr");
  parsing.feed(text + "\n");
  EXPECT_EQ(parsing.remark(),
            "1 request with a time before that of the request above: taken as at the same time");
}

// Sectors are of 512 bytes: sixteen of them are 128 lines.
TEST(ForeignTrace, MqsimHasSectors) {
  Access write = timed(0, kWrite, 0);
  write.thread = 4;
  expect_accesses(
      "mqsim", "938513000 4 264719034 16 0\n938513002 0 1 1 1",
      joined({lines_of(264719034ULL * 512, 16 * 512, write), lines_of(512, 512, timed(0, kRead, 2000))}),
      {.tick = parse_period("1ns"), .levels = {}});
}

TEST(ForeignTrace, BlkparseHasWhatIsIssuedOrQueued) {
  const std::string text =
      "Input file sda.blktrace.0 added\n"
      "  8,0    3        1     0.000000000   697  Q   W 16 + 8 [kjournald]\n"
      "  8,0    3        2     0.000000500   697  G   W 16 + 8 [kjournald]\n"
      "  8,0    3        3     0.000001000   697  D  WS 16 + 8 [kjournald]\n"
      "  8,0    3        4     0.000001100   697  D   D 512 + 8 [fstrim]\n"
      "  8,0    3        5     0.000001200   697  D   R 36 (12 00 ..) [hald]\n"
      "  8,0    3        6     0.000001300   697  Q  RA 32 + 1 [cp]\n"
      "  8,0    3        7     1.000002000   697  D  RA 32 + 1 [cp]\n"
      "  8,0    3        0     1.000002000     0  m   N cfq697 insert_request\n"
      "  8,0    3        8     1.500000000     0  C   W 16 + 8 [0]\n"
      "CPU3 (8,0):\n Reads Queued:           1,        1KiB\n\nTotal (8,0):\n 1 2 3";
  expect_accesses("blkparse", text,
                  joined({lines_of(8192, 4096, timed(0, kWrite, 0)),
                          lines_of(16384, 512, timed(0, kRead, 1'000'001'000'000))}));
  expect_accesses(
      "blkparse-queued", text,
      joined({lines_of(8192, 4096, timed(0, kWrite, 0)), lines_of(16384, 512, timed(0, kRead, 1'300'000))}));
}

// --- what content says ----------------------------------------------------------------------------------

std::vector<std::string> recognised(std::string_view text, bool whole = true) {
  std::vector<std::string> names;
  for (const TraceFormat* format : formats_of_text(text, whole)) names.emplace_back(format->name);
  return names;
}

TEST(ForeignTrace, RecognisesItsForms) {
  using Names = std::vector<std::string>;
  const std::vector<std::pair<const char*, Names>> cases{
      {"0x40 READ 0", {"dramsim3"}},
      {"0x40 WRITE", {"dramsim3"}},  // cut off: to be refused as one
      {"0x40 READ 0\n0x40 IFETCH 1", {"dramsim2-mase"}},
      {"0x40 P_MEM_RD 0", {"dramsim2-k6"}},
      {"0x40 R", {"ramulator-dram"}},
      {"LD 0x40", {"ramulator2-load-store"}},
      {"W 0,1,2", {"ramulator2-read-write"}},
      {"31: read 0x40", {"dramsys-stl", "dramsys-rstl"}},
      {"# by hand\n31: (8) read 0x40", {"dramsys-stl", "dramsys-rstl"}},
      {"r 40 4", {"dinero-extended"}},
      {"0x1: R 0x40", {"pinatrace"}},
      {"0 R 64 8", {"prospero"}},
      {"128166372003061629,hm,1,Read,4096,512,413", {"msr"}},
      {"9 4 264719034 16 0", {"mqsim"}},
      {"8,0 3 1 0.000000000 697 D W 16 + 8 [a]", {"blkparse"}},
      // Two numbers are a label and an address, or instructions and an address, until a line is one of them
      // only.
      {"0 64", {"ramulator2-simple-o3", "dinero"}},
      {"0 64\n2 40", {"ramulator2-simple-o3", "dinero"}},
      {"0 64\n7 40", {"ramulator2-simple-o3"}},
      {"0 64\n2 40 80", {"ramulator2-simple-o3"}},
      {"0 64\n2 4c", {"dinero"}},
      // Garbage further down is for the reader to refuse.
      {"0x40 R\nrubbish", {"ramulator-dram"}}};
  for (const auto& [text, names] : cases) EXPECT_EQ(recognised(text), names) << text;
  // A line that may be cut off says nothing.
  EXPECT_EQ(recognised("0 64\n2 4c", false), (Names{"ramulator2-simple-o3", "dinero"}));
  for (const char* other : {"0x40 R 0", "# cxloom-trace 1: address kind", "", "40", "1 2 3 4",
                            "a word of prose", "LD", " L 1fff000758,8", "# a comment alone"}) {
    EXPECT_EQ(recognised(other), Names{}) << other;
  }
}

// A family may not be told from another by chance: each form says one name only of what it is.
TEST(ForeignTrace, NamesAreUnique) {
  for (const TraceFormat& format : trace_formats())
    EXPECT_EQ(trace_format(format.name), &format) << format.name;
  EXPECT_EQ(trace_format("no such"), nullptr);
}

TEST(ForeignTrace, RecognisesRecords) {
  std::string instructions;
  for (std::uint64_t i = 0; i < 100; ++i)
    instructions += i % 5 == 0 ? champsim({}, {}) : champsim({i}, {0x7fff0000 + i});
  ASSERT_EQ(formats_of_records(instructions, true).size(), 1U);
  EXPECT_EQ(formats_of_records(instructions, true)[0]->name, "champsim");
  // Few records may fit another form by chance, but are not a whole number of its records.
  const std::string few =
      champsim({}, {}) + champsim({0x80}, {0x40}) + champsim({}, {0x40}) + champsim({}, {0x40});
  EXPECT_EQ(formats_of_records(few, true)[0]->name, "champsim");
  // One byte where a flag belongs, or an address that no machine has, and it is something else.
  instructions[64 * 50 + 8] = 2;
  EXPECT_TRUE(formats_of_records(instructions, true).empty());
  EXPECT_TRUE(formats_of_records(std::string(6400, '\0'), true).empty());
  EXPECT_TRUE(formats_of_records(std::string(6400, '\x55'), true).empty());
  EXPECT_TRUE(formats_of_records("short", true).empty());
}

// --- what is wrong --------------------------------------------------------------------------------------

TEST(ForeignTrace, SaysWhatIsWrongAndWhere) {
  const std::vector<std::tuple<const char*, const char*, const char*>> cases{
      {"dramsim3", "0x40 READ 0\n0x80 REA",
       "line 2: a line of 2 columns, found '0x80 REA'; allowed: 0xADDRESS"},
      {"dramsim3", "0x40 REED 0",
       "line 1: bad kind, found 'REED'; allowed: READ, WRITE, read or write of dramsim3; READ, WRITE or "
       "IFETCH of "
       "dramsim2-mase; P_MEM_RD, P_MEM_WR, P_FETCH, P_LOCK_RD, P_LOCK_WR or BOFF of dramsim2-k6"},
      {"dramsim3", "0x40 READ 5\n0x40 READ 4",
       "line 2: bad cycle, found '4'; allowed: no less than the one before, 5"},
      {"dramsim3", "0x40 READ -4",
       "line 1: bad cycle, found '-4'; allowed: an integer from 0 to 9223372036854775807"},
      {"dramsim3", "0xq READ 1", "line 1: bad address, found '0xq'; allowed: an address of up to 64 bits"},
      {"ramulator-dram", "0x40 R\n0x40", "line 2: a line of 1 column"},
      {"ramulator-dram", "0x40 R\n0x40 X", "line 2: bad kind, found 'X'; allowed: R or W"},
      {"ramulator2-load-store", "LD 0x40\nR 0x40", "line 2: bad kind, found 'R'; allowed: LD or ST"},
      {"ramulator2-load-store", "LD 4f", "line 1: bad address, found '4f'"},
      {"ramulator2-load-store", "\n\n", "line 2: the trace has no accesses; allowed: LD|ST ADDRESS"},
      {"ramulator2-simple-o3", "3 0x40", "line 1: bad address, found '0x40'; allowed: an integer from 0"},
      {"ramulator2-simple-o3", "4294967295 64", "line 1: bad number of instructions, found '4294967295'"},
      {"dramsys-stl", "1: read 0x40\n0: read 0x40", "line 2: bad cycle, found '0'"},
      {"dramsys-stl", "1: (8) read", "line 1: a line of 3 columns"},
      {"dramsys-stl", "1: fetch 0x40", "line 1: bad command, found 'fetch'"},
      {"dinero", "6 40", "line 1: bad label, found '6'"},
      {"dinero", "0 4g", "line 1: bad address, found '4g'"},
      {"dinero-extended", "x 4 4", "line 1: bad label, found 'x'"},
      {"dinero-extended", "r 4 40000001", "line 1: bad size, found '40000001'"},
      {"pinatrace", "0x4: R 0x4\n0x4 R 0x4", "line 2: bad instruction, found '0x4'"},
      {"prospero", "1 R 0x4 8", "line 1: bad address, found '0x4'"},
      {"prospero", "1 R 4 0", "line 1: bad size, found '0'"},
      {"msr", "1,hm,0,Read,0,512", "line 1: a line of 6 columns"},
      {"msr", "1,hm,0,Read,0,1073741825,1", "line 1: bad size, found '1073741825'"},
      {"msr", "1,hm,0,Flush,0,512,1", "line 1: bad kind, found 'Flush'"},
      {"mqsim", "1 0 0 8 2", "line 1: bad kind, found '2'"},
      {"mqsim", "1 0 0 2097153 1", "line 1: bad number of sectors, found '2097153'"},
      {"blkparse", "8,0 3 1 0.000000000 697 D W 16 + 8 [a]\nrubbish", "line 2: not an event of blkparse"},
      {"blkparse", "8,0 3 1 0.5 697 D W 16 + 8 [a]", "line 1: bad time, found '0.5'"}};
  for (const auto& [format, text, problem] : cases) {
    const std::string said = error_of(parser(format), text);
    EXPECT_TRUE(said.starts_with(problem)) << format << ": " << said;
  }
  const auto bursts = [](const char* text) {
    return error_of(parser("ramulator2-read-write", {.tick = {}, .levels = {2, 2}}), text);
  };
  EXPECT_EQ(bursts("R 0,2"), "line 1: bad coordinate, found '2'; allowed: an integer from 0 to 1");
  EXPECT_EQ(bursts("R 0,1,1"),
            "line 1: 3 coordinates, found '0,1,1'; allowed: 2, one for each of the levels");
  EXPECT_EQ(bursts("R 0"), "line 1: 1 coordinate, found '0'; allowed: 2, one for each of the levels");
  EXPECT_EQ(bursts("R 0,"), "line 1: bad coordinate, found ''; allowed: an integer from 0 to 1");
}

TEST(ForeignTrace, LevelsBelongToCoordinates) {
  const auto with = [](const char* format, std::vector<std::uint64_t> levels) {
    return parser(format, {.tick = {}, .levels = std::move(levels)});
  };
  EXPECT_THROW(with("ramulator2-read-write", {}), InputError);
  EXPECT_THROW(with("dramsim3", {1, 2}), InputError);
  EXPECT_THROW(with("ramulator2-read-write", {1, 0}), InputError);
  const std::uint64_t large = std::uint64_t{1} << 29U;
  EXPECT_THROW(with("ramulator2-read-write", {2 * large, large}), InputError);
  with("ramulator2-read-write", {large, large});
}

}  // namespace
}  // namespace cxloom
