#include "workload/foreign_trace.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "core/workload/trace_expectations.hpp"

namespace cxloom {
namespace {

Access line_access(std::uint64_t address, AccessKind kind) {
  Access result;
  result.address = Address{address};
  result.kind = kind;
  return result;
}

Access timed(std::uint64_t address, AccessKind kind, std::int64_t picoseconds) {
  Access result = line_access(address, kind);
  result.timed = true;
  result.timestamp = Time{picoseconds};
  return result;
}

constexpr AccessKind kRead = AccessKind::kRead;
constexpr AccessKind kWrite = AccessKind::kWrite;

// The text gives the accesses, in blocks of any size, with and without an end to its last line.
void expect_accesses(const ForeignTraceParser& parser, const std::string& text,
                     const std::vector<Access>& expected) {
  for (const std::size_t block : {1U, 7U, 1000U}) {
    EXPECT_TRUE(same(parse_all(parser, text, block), expected)) << text;
    EXPECT_TRUE(same(parse_all(parser, text + "\n", block), expected)) << text;
  }
}

TEST(ForeignTrace, Dramsim3HasAddressKindAndCycle) {
  expect_accesses(ForeignTraceParser(ForeignForm::kDramsim3, Time{625}),
                  "0x40 READ 0\n\n1f40  WRITE\t3\n0Xff read 3",
                  {timed(0x40, kRead, 0), timed(0x1f40, kWrite, 1875), timed(0xff, kRead, 1875)});
}

TEST(ForeignTrace, RamulatorsLoadStoreTraceHasHexadecimalOrDecimalAddresses) {
  expect_accesses(ForeignTraceParser(ForeignForm::kRamulatorLoadStore), "LD 0x40\nST 8000\r\nLD 0XA0",
                  {line_access(0x40, kRead), line_access(8000, kWrite), line_access(0xa0, kRead)});
}

TEST(ForeignTrace, RamulatorsSimpleO3TraceHasLoadsAndTheWriteBacksThatTheyCause) {
  Access first = line_access(8000, kRead);
  first.instruction_gap = 4;  // three others, and the load
  Access second = line_access(64, kRead);
  second.instruction_gap = 1;
  expect_accesses(ForeignTraceParser(ForeignForm::kRamulatorSimpleO3), "3 8000 16000\n0 64",
                  {first, line_access(16000, kWrite), second});
}

TEST(ForeignTrace, CoordinatesAreDigitsOfTheBurstsNumber) {
  const std::vector<std::uint64_t> levels{2, 3, 5};
  std::string text;
  std::vector<Access> expected;
  for (std::uint64_t burst = 0; burst < 30; ++burst) {
    text += (burst % 2 == 0 ? "R " : "W ") + std::to_string(burst / 15) + "," +
            std::to_string(burst / 5 % 3) + "," + std::to_string(burst % 5) + "\n";
    expected.push_back(line_access(burst * 64, burst % 2 == 0 ? kRead : kWrite));
  }
  EXPECT_TRUE(
      same(parse_all(ForeignTraceParser(ForeignForm::kRamulatorReadWrite, Time{1}, levels), text), expected));
}

TEST(ForeignTrace, RecognisesItsFormsAndNoOther) {
  EXPECT_EQ(foreign_form_of("0x40 READ 0"), ForeignForm::kDramsim3);
  EXPECT_EQ(foreign_form_of("0x40 WRITE"), ForeignForm::kDramsim3);  // cut off: to be refused as one
  EXPECT_EQ(foreign_form_of("LD 0x40"), ForeignForm::kRamulatorLoadStore);
  EXPECT_EQ(foreign_form_of("W 0,1,2"), ForeignForm::kRamulatorReadWrite);
  EXPECT_EQ(foreign_form_of("3 8000"), ForeignForm::kRamulatorSimpleO3);
  EXPECT_EQ(foreign_form_of("3 8000 9000"), ForeignForm::kRamulatorSimpleO3);
  for (const char* other : {"0x40 R 0", "# cxloom-trace 1: address kind", "", "40", "R 0x40", "3 0x40",
                            "1 2 3 4", " L 1fff000758,8", "a word of prose", "LD"}) {
    EXPECT_EQ(foreign_form_of(other), std::nullopt) << other;
  }
}

TEST(ForeignTrace, SaysWhatIsWrongAndWhere) {
  const auto error = [](ForeignForm form, const char* text, std::vector<std::uint64_t> levels = {}) {
    return error_of(ForeignTraceParser(form, Time{1}, std::move(levels)), text);
  };
  using enum ForeignForm;
  EXPECT_EQ(error(kDramsim3, "0x40 READ 0\n0x80 REA"),
            "line 2: a line of 2 columns, found '0x80 REA'; allowed: 0xADDRESS READ|WRITE CYCLE");
  EXPECT_EQ(error(kDramsim3, "0x40 REED 0"), "line 1: bad kind, found 'REED'; allowed: READ or WRITE");
  EXPECT_EQ(error(kDramsim3, "0x40 READ 5\n0x40 READ 4"),
            "line 2: bad cycle, found '4'; allowed: no less than the one before, 5");
  EXPECT_EQ(error(kDramsim3, "0x40 READ -4"),
            "line 1: bad cycle, found '-4'; allowed: an integer from 0 to 9223372036854775807");
  EXPECT_EQ(error(kDramsim3, "0xq READ 1"),
            "line 1: bad address, found '0xq'; allowed: an address of up to 64 bits, such as 0x1f40");
  EXPECT_EQ(error(kRamulatorLoadStore, "LD 0x40\nR 0x40"), "line 2: bad kind, found 'R'; allowed: LD or ST");
  EXPECT_EQ(error(kRamulatorLoadStore, "LD 4f"),
            "line 1: bad address, found '4f'; allowed: an address of up to 64 bits, such as 0x1f40");
  EXPECT_EQ(error(kRamulatorLoadStore, "\n\n"), "line 2: the trace has no accesses; allowed: LD|ST ADDRESS");
  EXPECT_EQ(error(kRamulatorSimpleO3, "3 0x40"),
            "line 1: bad address, found '0x40'; allowed: an integer from 0 to 18446744073709551615");
  EXPECT_EQ(
      error(kRamulatorSimpleO3, "4294967295 64"),
      "line 1: bad number of instructions, found '4294967295'; allowed: an integer from 0 to 4294967294");
  EXPECT_EQ(error(kRamulatorReadWrite, "R 0,2", {2, 2}),
            "line 1: bad coordinate, found '2'; allowed: an integer from 0 to 1");
  EXPECT_EQ(error(kRamulatorReadWrite, "R 0,1,1", {2, 2}),
            "line 1: 3 coordinates, found '0,1,1'; allowed: 2, one for each of the levels");
  EXPECT_EQ(error(kRamulatorReadWrite, "R 0", {2, 2}),
            "line 1: 1 coordinate, found '0'; allowed: 2, one for each of the levels");
  EXPECT_EQ(error(kRamulatorReadWrite, "R 0,", {2, 2}),
            "line 1: bad coordinate, found ''; allowed: an integer from 0 to 1");
}

TEST(ForeignTrace, LevelsBelongToCoordinates) {
  EXPECT_THROW(ForeignTraceParser(ForeignForm::kRamulatorReadWrite), InputError);
  EXPECT_THROW(ForeignTraceParser(ForeignForm::kDramsim3, Time{1}, {1, 2}), InputError);
  EXPECT_THROW(ForeignTraceParser(ForeignForm::kDramsim3, Time{0}), InputError);
  EXPECT_THROW(ForeignTraceParser(ForeignForm::kRamulatorReadWrite, Time{1}, {1, 0}), InputError);
  const std::uint64_t large = std::uint64_t{1} << 29U;
  EXPECT_THROW(ForeignTraceParser(ForeignForm::kRamulatorReadWrite, Time{1}, {2 * large, large}), InputError);
  ForeignTraceParser(ForeignForm::kRamulatorReadWrite, Time{1}, {large, large});
}

}  // namespace
}  // namespace cxloom
