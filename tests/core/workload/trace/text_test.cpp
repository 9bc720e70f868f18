#include "workload/trace/text.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "core/workload/trace/expectations.hpp"

namespace cxloom {
namespace {

using namespace literals;

std::vector<Access> parse(std::string_view text, std::string_view tick = "1ps") {
  return parse_all(TextTraceParser(parse_period(tick)), text);
}
std::string error(std::string_view text) { return error_of(TextTraceParser(), text); }
bool says(const std::string& message, std::string_view part) {
  return message.find(part) != std::string::npos;
}

TEST(TextTrace, ALineIsAddressKindTick) {
  const auto accesses = parse("0x1F40 R 12\n0xffffffffffffffff W 12\n");
  ASSERT_EQ(accesses.size(), 2U);
  Access first;
  first.address = Address{0x1f40};
  first.timestamp = 12_ps;
  first.timed = true;
  Access second = first;
  second.address = Address{~std::uint64_t{0}};
  second.kind = AccessKind::kWrite;
  EXPECT_TRUE(same(accesses, {first, second}));
}

TEST(TextTrace, ATickIsAsLongAsOneIsTold) {
  EXPECT_EQ(parse("0x0 R 3\n", "1ns")[0].timestamp, 3_ns);
  // A header settles it: picoseconds.
  EXPECT_EQ(parse("# cxloom-trace 1: address kind timestamp\n0x0 R 3\n", "1ns")[0].timestamp, 3_ps);
}

// At 2.4 GHz three cycles are 1250 ps. What is cut off a cycle does not add up: cycle 3 n is at 1250 n ps
// exactly.
TEST(TextTrace, TicksThatAreNoWholePicosecondsDoNotDrift) {
  const auto accesses = parse("0x0 R 1\n0x0 R 2\n0x0 R 3\n0x0 R 3000000000001\n", "2.4GHz");
  EXPECT_EQ(accesses[0].timestamp.ps(), 416);
  EXPECT_EQ(accesses[1].timestamp.ps(), 833);
  EXPECT_EQ(accesses[2].timestamp.ps(), 1250);
  EXPECT_EQ(accesses[3].timestamp.ps(), 1'250'000'000'000'416);
}

// 70000 bytes from 0x1020 on: 32 to the end of the first line, 1093 lines, and 16 of the last one.
TEST(TextTrace, WhatIsLargerThanAnAccessBecomesItsLines) {
  const std::string header = "# cxloom-trace 2: address kind size instruction_gap timestamp\n";
  const auto accesses = parse(header + "0x1020 W 70000 5 9\n0x40 R 8 1 9\n");
  ASSERT_EQ(accesses.size(), 1U + 1093U + 1U + 1U);
  EXPECT_EQ(accesses[0].size, 32);
  EXPECT_EQ(accesses[0].instruction_gap, 5U);
  EXPECT_EQ(accesses[1].address.value(), 0x1040U);
  EXPECT_EQ(accesses[1].size, 64);
  EXPECT_EQ(accesses[1].instruction_gap, 0U);
  EXPECT_EQ(accesses[1094].address.value(), 0x1040U + 1093 * 64);
  EXPECT_EQ(accesses[1094].size, 16);
  EXPECT_EQ(accesses[1094].timestamp, 9_ps);
  EXPECT_EQ(accesses[1094].kind, AccessKind::kWrite);
  EXPECT_EQ(accesses[1095].size, 8);
}

// Not all of them at once: a line of 40 bytes may stand for sixteen million accesses.
TEST(TextTrace, ALargeAccessIsGivenByAndBy) {
  TextTraceParser parser;
  parser.feed("# cxloom-trace 2: address kind size\n0x0 R 1073741824\n");
  std::uint64_t lines = 0;
  for (std::vector<Access> some;; some.clear()) {
    parser.take(some);
    if (some.empty()) break;
    EXPECT_LE(some.size(), std::size_t{1} << 17U);
    lines += some.size();
  }
  EXPECT_EQ(lines, std::uint64_t{1} << 24U);
}

// A dependence counts accesses, and nobody knows whether their lines.
TEST(TextTrace, DependencesAndLargeAccessesAreRefusedTogether) {
  const std::string header = "# cxloom-trace 2: address kind size dependence\n";
  EXPECT_TRUE(says(error(header + "0x0 R 70000 0\n0x0 R 64 1\n"),
                   "line 3: bad dependence, found '1'; allowed: 0 or all"));
  EXPECT_TRUE(says(error(header + "0x0 R 64 0\n0x0 R 64 1\n0x0 R 70000 0\n"), "line 4: bad dependence"));
  EXPECT_EQ(error(header + "0x0 R 70000 0\n0x0 R 64 all\n"), "");
  EXPECT_TRUE(says(error(header + "0x0 R 1073741825 0\n"), "allowed: an integer from 1 to 1073741824"));
}

TEST(TextTrace, BlanksCommentsAndLineEndsDoNotMatter) {
  const auto plain = parse("0x40 R 1\n0x80 W 2\n");
  EXPECT_TRUE(same(plain, parse("# made by hand\n\n  0x40\tR   1 \r\n   \r\n# more\n0x80 W 2")));
}

TEST(TextTrace, AHeaderNamesTheColumns) {
  const auto accesses = parse(
      "# cxloom-trace 1: kind address thread dependence instruction_gap size timestamp\n"
      "R 0x40 3 0 17 8 -\n"
      "W 0x80 4294967295 1 4294967295 65535 9223372036854775807\n");
  Access first;
  first.address = Address{0x40};
  first.thread = 3;
  first.instruction_gap = 17;
  first.size = 8;
  Access second;
  second.address = Address{0x80};
  second.kind = AccessKind::kWrite;
  second.thread = second.instruction_gap = std::numeric_limits<std::uint32_t>::max();
  second.dependence = 1;
  second.size = 65535;
  second.timed = true;
  second.timestamp = Time::max();
  EXPECT_TRUE(same(accesses, {first, second}));
}

TEST(TextTrace, AFenceIsADependenceOnAllBefore) {
  const auto accesses = parse("# cxloom-trace 1: address kind dependence\n0x0 R all\n0x40 W 1\n0x80 R all\n");
  ASSERT_EQ(accesses.size(), 3U);
  EXPECT_EQ(accesses[0].dependence, kAllBefore);  // of none, too
  EXPECT_EQ(accesses[1].dependence, 1U);
  EXPECT_EQ(accesses[2].dependence, kAllBefore);
  EXPECT_TRUE(says(error("# cxloom-trace 1: address kind dependence\n0x0 R 0\n0x0 R any\n"),
                   "line 3: bad dependence, found 'any'; allowed: an integer from 0 to 1, or all"));
}

TEST(TextTrace, AnAtomicOperationHasFourOrEightAlignedBytes) {
  const auto without_size = parse("0x48 A 1\n0x40 W 2\n");
  EXPECT_EQ(without_size[0].kind, AccessKind::kAtomic);
  EXPECT_EQ(without_size[0].size, 8);
  EXPECT_EQ(without_size[1].size, 64);
  const std::string header =
      "# cxloom-trace 1: size address kind\n";  // the kind comes behind what depends on it
  const auto sized = parse(header + "4 0x44 A\n8 0x48 A\n");
  EXPECT_EQ(sized[0].size, 4);
  EXPECT_EQ(sized[1].size, 8);
  EXPECT_EQ(error("0x0 R 1\n0x44 A 2\n"),
            "line 2: bad address, found '0x44'; allowed: a multiple of the size of the atomic operation, 8");
  EXPECT_EQ(error(header + "4 0x42 A\n"),
            "line 2: bad address, found '0x42'; allowed: a multiple of the size of the atomic operation, 4");
  for (const char* const size : {"3", "16", "64"}) {
    EXPECT_EQ(error(header + size + " 0x40 A\n"), std::string("line 2: bad size, found '") + size +
                                                      "'; allowed: 4 or 8 bytes for an atomic operation");
  }
  EXPECT_TRUE(says(error("0x40 AA 1\n"), "line 1: bad kind, found 'AA'"));
}

TEST(TextTrace, RolesAndCycles) {
  const std::string header = "# cxloom-trace 2: address kind role cycles dependence_cycles\n";
  const auto accesses = parse(header +
                              "0x40 R store-fill 7 0\n0x80 W write-back 0 0\n0x9 R call 4294967295 65535\n"
                              "0x9 R go-on 0 0\n0x40 W demand 1 2\n");
  ASSERT_EQ(accesses.size(), 5U);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(accesses[i].role, static_cast<AccessRole>(i + 1));
  EXPECT_EQ(accesses[4].role, AccessRole::kDemand);
  EXPECT_EQ(accesses[2].cycles, ~std::uint32_t{0});
  EXPECT_EQ(accesses[2].dependence_cycles, 65535);
  EXPECT_EQ(
      error(header + "0x40 R flush 0 0\n"),
      "line 2: bad role, found 'flush'; allowed: demand, store-fill, write-back, call, go-on, wait, branch, "
      "progress, page-walk, prefetch or use");
  EXPECT_EQ(error(header + "0x40 W call 0 0\n"),
            "line 2: bad role, found 'call'; allowed: the kind R for this role");
  EXPECT_EQ(error(header + "0x40 R write-back 0 0\n"),
            "line 2: bad role, found 'write-back'; allowed: the kind W for a write-back");
  EXPECT_TRUE(says(error(header + "0x40 R demand 0 65536\n"), "bad dependence_cycles"));
  EXPECT_TRUE(says(error("# cxloom-trace 3: address kind\n"), "allowed: 1 to 2, as in"));
  EXPECT_TRUE(says(error("# cxloom-trace 0: address kind\n"), "unknown version"));
}

TEST(TextTrace, WhatIsWrittenIsReadBack) {
  RandomStream random(11, "test", "trace");
  std::vector<Access> accesses;
  Time now;
  for (std::uint32_t i = 0; i < 2000; ++i) {
    Access& access = accesses.emplace_back();
    access.address = Address{random.next() >> random.below(64)};
    access.kind = random.chance(0.5) ? AccessKind::kWrite : AccessKind::kRead;
    access.size = static_cast<std::uint16_t>(1 + random.below(65535));
    if (random.chance(0.2)) {
      access.kind = AccessKind::kAtomic;
      access.size = random.chance(0.5) ? 4 : 8;
      access.address = Address{access.address.value() / 8 * 8};
    }
    access.thread = static_cast<std::uint32_t>(random.next() >> 32U);
    access.instruction_gap = static_cast<std::uint32_t>(random.next() >> 40U);
    access.cycles = static_cast<std::uint32_t>(random.next() >> 40U);
    access.dependence_cycles = static_cast<std::uint16_t>(random.below(65536));
    const auto role = static_cast<AccessRole>(random.below(kAccessRoles));
    if (may_be(role, access.kind)) access.role = role;
    access.dependence = random.chance(0.1) ? kAllBefore : static_cast<std::uint32_t>(random.below(i + 1));
    if (random.chance(0.7)) {
      now += Time{static_cast<std::int64_t>(random.below(1'000'000'000))};
      access.timed = true;
      access.timestamp = now;
    }
  }
  std::string text = text_trace_header();
  for (const Access& access : accesses) append_text(access, text);
  EXPECT_TRUE(same(accesses, parse(text)));
}

TEST(TextTrace, BlocksMayEndAnywhere) {
  const std::string text =
      "# cxloom-trace 1: address kind size\r\n0x40 R 8\n\n0x1234567 W 16\n# end\n0x80 R 64";
  const auto whole = parse(text);
  ASSERT_EQ(whole.size(), 3U);
  for (std::size_t block = 1; block <= text.size(); ++block) {
    EXPECT_TRUE(same(whole, parse_all(TextTraceParser(), text, block))) << "blocks of " << block;
  }
}

TEST(TextTrace, ErrorsNameTheLineAndTheText) {
  EXPECT_EQ(error("0x40 R 1\n0x40 X 2\n"), "line 2: bad kind, found 'X'; allowed: R, W, A, F, K, G, L or N");
  EXPECT_EQ(
      error("# c\n\n40 R 1\n"),
      "line 3: bad address, found '40'; allowed: a hexadecimal number of up to 64 bits, such as 0x1f40");
  EXPECT_EQ(error("0x40 R\n"),
            "line 1: a line of 2 columns, found '0x40 R'; allowed: 3 columns: address kind timestamp");
  EXPECT_TRUE(says(error("0x40 R 1\n0x40 R 1 9\n"), "line 2: a line of 4 columns"));
  EXPECT_TRUE(says(error("0x10000000000000000 R 1\n"), "line 1: bad address"));
  EXPECT_TRUE(says(error("0x R 1\n"), "line 1: bad address"));
  EXPECT_TRUE(says(error("0x40 R -1\n"), "line 1: bad timestamp, found '-1'"));
  EXPECT_TRUE(says(error("0x40 R 9223372036854775808\n"), "line 1: bad timestamp"));
  EXPECT_TRUE(says(error("0x40 R 5\n0x40 R -\n0x40 R 4\n"),
                   "line 3: bad timestamp, found '4'; allowed: no less than the one before, 5"));
  EXPECT_TRUE(says(error("0x40 R 1\n0x40 R 1 # late\n"), "line 2: a line of 5 columns"));
}

TEST(TextTrace, ErrorsOfTheOtherColumns) {
  const std::string header = "# cxloom-trace 1: address kind size dependence\n";
  EXPECT_EQ(error(header + "0x40 R 0 0\n"),
            "line 2: bad size, found '0'; allowed: an integer from 1 to 1073741824");
  EXPECT_TRUE(says(error(header + "0x40 R 1073741825 0\n"), "bad size"));
  EXPECT_EQ(error(header + "0x40 R 8 1\n"),
            "line 2: bad dependence, found '1'; allowed: an integer from 0 to 0, or all");
  EXPECT_TRUE(says(error(header + "0x40 R 8 0\n0x40 R 8 2\n"), "line 3: bad dependence, found '2'"));
  EXPECT_TRUE(says(error(header + "0x40 R 8 x\n"), "bad dependence, found 'x'"));
}

TEST(TextTrace, ErrorsOfTheHeader) {
  EXPECT_TRUE(
      says(error("# cxloom-trace 3: address kind\n0x40 R\n"), "line 1: a trace of an unknown version"));
  EXPECT_TRUE(says(error("# cxloom-trace address kind\n0x40 R\n"), "line 1: a trace of an unknown version"));
  EXPECT_TRUE(says(error("# cxloom-trace 1: address kind thred\n"), "did you mean 'thread'"));
  EXPECT_TRUE(says(error("# cxloom-trace 1: address kind kind\n"), "named twice"));
  EXPECT_TRUE(says(error("# cxloom-trace 1: address size\n"), "without the column 'kind'"));
}

TEST(TextTrace, EmptyAndBinaryInputIsRefused) {
  EXPECT_TRUE(says(error(""), "the trace has no accesses"));
  EXPECT_TRUE(says(error("# only a comment\n\n"), "line 2: the trace has no accesses"));
  EXPECT_TRUE(says(error(std::string("\x7f"
                                     "ELF\x01\x00\x02\n",
                                     8)),
                   "found '\\x7fELF\\x01\\x00\\x02'"));
  EXPECT_TRUE(says(error(std::string(1 << 20, 'x')), "line 1: a line of more than 65536 bytes, found 'xxx"));
  // However the blocks fall, such a line is not collected.
  EXPECT_THROW(parse_all(TextTraceParser(), std::string(1 << 17, 'x'), 100), TraceError);
}

}  // namespace
}  // namespace cxloom
