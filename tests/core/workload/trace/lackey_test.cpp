#include "workload/trace/lackey.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/workload/trace/expectations.hpp"

namespace cxloom {
namespace {

constexpr char kTrace[] =
    "==4711== Lackey, an example Valgrind tool\n"
    "--4711--   SCHED[1]:  acquired lock (thread_wrapper(starting new thread))\n"
    "--4711--   SCHED[1]: entering VG_(scheduler)\n"
    "I  0401ab70,3\n"
    "I  0401ab73,5\n"
    " S 1fff000758,8\n"
    "I  0401b770,1\n"
    " L 1fff000750,16\n"
    "I  0401b770,4\n"
    " M 04c3a010,4\n"
    "I  0401b771,7\n"
    "--4711--   SCHED[1]: releasing lock (VG_(client_syscall)[async]) -> VgTs_WaitSys\n"
    "--4711--   SCHED[3]:  acquired lock (VG_(client_syscall)[async])\n"
    "I  05000000,4\n"
    " L 05a00000,1\n"
    "--4711--   SCHED[1]:  acquired lock (VG_(client_syscall)[async])\n"
    "I  0401b778,7\n"
    " L 1fff000748,8\n"
    "==4711== \n";

Access access_of_thread(std::uint64_t address, AccessKind kind, std::uint16_t size, std::uint32_t thread,
                        std::uint32_t gap) {
  Access result;
  result.address = Address{address};
  result.kind = kind;
  result.size = size;
  result.thread = thread;
  result.instruction_gap = gap;
  return result;
}

TEST(LackeyTrace, GivesAccessesWithTheirThreadAndInstructionGap) {
  const auto accesses = parse_all(LackeyParser(), kTrace);
  const std::vector<Access> expected = {
      access_of_thread(0x1fff000758, AccessKind::kWrite, 8, 1, 2),
      access_of_thread(0x1fff000750, AccessKind::kRead, 16, 1, 1),
      access_of_thread(0x04c3a010, AccessKind::kRead, 4, 1, 1),
      access_of_thread(0x04c3a010, AccessKind::kWrite, 4, 1, 0),
      access_of_thread(0x05a00000, AccessKind::kRead, 1, 3, 1),
      access_of_thread(0x1fff000748, AccessKind::kRead, 8, 1, 2),
  };
  EXPECT_TRUE(same(accesses, expected));
}

TEST(LackeyTrace, Counts) {
  LackeyParser parser;
  std::vector<Access> accesses;
  parser.feed(kTrace, accesses);
  parser.finish();
  EXPECT_EQ(parser.instructions(), 7U);
  EXPECT_EQ(parser.accesses(), 6U);
}

TEST(LackeyTrace, BlocksMayEndAnywhere) {
  const std::string text = kTrace;
  const auto whole = parse_all(LackeyParser(), text);
  for (std::size_t block = 1; block <= text.size(); ++block) {
    EXPECT_TRUE(same(whole, parse_all(LackeyParser(), text, block))) << "blocks of " << block;
  }
}

TEST(LackeyTrace, ErrorsNameTheLineAndTheText) {
  const auto says = [](std::string_view text, std::string_view part) {
    return error_of(LackeyParser(), text).find(part) != std::string::npos;
  };
  EXPECT_TRUE(
      says("I  0401,3\nhello, world\n", "line 2: not a line of a lackey trace, found 'hello, world'"));
  EXPECT_TRUE(says("I  0401,3\n X 0401,3\n", "line 2: not a line of a lackey trace, found ' X 0401,3'"));
  EXPECT_TRUE(says(" L zz,3\n", "line 1: not a line of a lackey trace, found ' L zz,3'"));
  EXPECT_TRUE(says(" L 10,0\n", "found ' L 10,0'"));
  EXPECT_TRUE(says(" L 10,99999\n", "found ' L 10,99999'"));
  EXPECT_TRUE(says(" L 10,8 \n", "found ' L 10,8 '"));
  EXPECT_TRUE(says("--1-- SCHED[x]: acquired lock\n", "found '--1-- SCHED[x]: acquired lock'"));
  EXPECT_TRUE(says(" L 10,8\n L 1fff00", "line 2: the trace is cut off within a line, found ' L 1fff00'"));
  EXPECT_TRUE(says("", "the trace has no loads or stores"));
  EXPECT_TRUE(says("==1== \nI  0401,3\n", "line 2: the trace has no loads or stores"));
}

}  // namespace
}  // namespace cxloom
