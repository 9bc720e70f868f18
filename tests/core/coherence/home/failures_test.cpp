// What home agents of hosts (HDM-H) and bias agents (HDM-D) make of losses, to the picosecond:
// docs/model/failures.md. failures_test.cpp has those of HDM-DB.
#include <gtest/gtest.h>

#include "core/support/coherence_flows.hpp"
#include "core/support/failing_system.hpp"
#include "core/support/kept_run.hpp"

namespace cxloom::test {
namespace {

using namespace literals;

constexpr Time kMissOfDevice = kThere + kMemoryRead + kWay;
constexpr Time kHomeGivesUp = 5_us;
constexpr Time kDeviceGivesUp = 3_us;

Value::Map d0_fails() { return fail_link("5us", "d0", "bus", "1us"); }

TEST(HomeAgentFailures, AModifiedLineOfADeviceThatIsCutOffIsPoisonedUntilItIsWrittenAsAWhole) {
  const KeptRun played("hdm-h",
                       {{0, 0, W}, {1, 0, R}, {1, 0, R}, {1, 0, W, 8}, {1, 0, W}, {1, 0, R}, {kOwner, 0, R}},
                       {d0_fails()});
  EXPECT_EQ(played.latency(0), kMissOfDevice);
  EXPECT_EQ(played.latency(1), kMissOfDevice + kHomeGivesUp);  // the snoop finds no way at the bus
  EXPECT_EQ(played.segment(1, Segment::kRetry), kHomeGivesUp);
  EXPECT_EQ(played.latency(2), kMissOfDevice);  // nobody is asked any more
  EXPECT_EQ(played.latency(3), kMissOfDevice);  // and a part of a line heals nothing
  EXPECT_EQ(played.latency(4), kMissOfDevice);  // what was there is of no matter
  EXPECT_EQ(played.latency(5), kProcess + kCache);
  EXPECT_EQ(played.latency(6), kInside + kSnoop);  // the data come with the answer to the snoop
  EXPECT_EQ(played.errors(), 3);
  EXPECT_EQ(played.of("d0", "dirty_lines_lost"), 1.0);
  EXPECT_EQ(played.of("d1", "poison_consumed"), 3.0);
  EXPECT_EQ(played.of_home("snoops_timed_out"), 1.0);
  EXPECT_EQ(played.of_home("lines_poisoned"), 1.0);
  EXPECT_EQ(played.of_home("lines_cured"), 1.0);  // by what the snoop has brought
  EXPECT_EQ(played.of_home("poison_delivered"), 4.0);
}

TEST(HomeAgentFailures, ASharedLineIsReclaimed) {
  const KeptRun played("hdm-h", {{0, 0, R}, {1, 0, R}, {1, 64, R}, {1, 0, W}, {1, 0, R}},
                       {fail_link("25us", "d0", "bus", "1us")});
  EXPECT_EQ(played.latency(3), kThere + kHomeGivesUp + kWay);  // an upgrade
  EXPECT_EQ(played.latency(4), kProcess + kCache);
  EXPECT_EQ(played.errors(), 0);
  EXPECT_EQ(played.of_home("lines_reclaimed"), 1.0);
  EXPECT_EQ(played.of_home("lines_poisoned"), 0.0);
}

TEST(HomeAgentFailures, TheHostItselfWaitsAsLong) {
  const KeptRun played("hdm-h", {{0, 0, W}, {kOwner, 0, R}, {kOwner, 0, W}}, {d0_fails()});
  EXPECT_EQ(played.latency(1), kInside + kHomeGivesUp + kMemoryRead);
  EXPECT_EQ(played.latency(2), kInside + kMemoryRead);
  EXPECT_EQ(played.errors(), 1);
}

// Before the failure is known the request waits; afterwards the device itself knows that no way leads on.
TEST(HomeAgentFailures, ARequestWithoutAWayEndsWithAnError) {
  const KeptRun played("hdm-h", {{0, 0, R}, {0, 64, R}, {0, 64, W}, {0, 128, R}},
                       {fail_link("9us", "d0", "bus", "2us"), repair_link("25us", "d0", "bus")});
  EXPECT_EQ(played.latency(1), 1_us);  // from 10 us until 11 us
  EXPECT_EQ(played.latency(2), kProcess + kCache);
  EXPECT_TRUE(played.failed(1) && played.failed(2));
  EXPECT_FALSE(played.failed(3));
}

TEST(HomeAgentFailures, ARequestThatIsLostEndsWithItsTimeout) {
  // Its answer is on the wire to the bus, which has no way on.
  const KeptRun played("hdm-h", {{0, 0, R}, {0, 64, R}, {1, 64, W}},
                       {fail_link("10.08us", "d0", "bus", "0ns"), repair_link("11us", "d0", "bus")});
  EXPECT_EQ(played.latency(1), kDeviceGivesUp);
  EXPECT_TRUE(played.failed(1));
  EXPECT_EQ(played.latency(2), kThere + kSnoop + kMemoryRead + kWay);  // the home has it as an owner still
  EXPECT_EQ(played.of_home("lines_poisoned"), 0.0);
}

// The GO of a write of a whole line calls for its data, and crosses. They do not: nobody knows the line.
TEST(HomeAgentFailures, DataOfAWriteThatAreLostPoisonTheLine) {
  const KeptRun played("hdm-h", {{1, 0, W}, {0, 0, R}, {1, 0, W}, {0, 0, R}},
                       {fail_link("68ns", "d1", "bus", "1us"), repair_link("3us", "d1", "bus")}, false);
  EXPECT_EQ(played.latency(0), kProcess + kWay + kLookup + kWay);
  EXPECT_FALSE(played.failed(0));
  EXPECT_EQ(played.latency(1), kMissOfDevice);
  EXPECT_TRUE(played.failed(1));
  EXPECT_FALSE(played.failed(3));
  EXPECT_EQ(played.of_home("lines_poisoned"), 1.0);
  EXPECT_EQ(played.of_home("lines_cured"), 1.0);
  EXPECT_EQ(played.of_home("snoops_timed_out"), 0.0);
}

// The call for the data of a part of a line finds no way at the bus: the home gives the write up.
TEST(HomeAgentFailures, AWriteWhoseDataAreNotThereEndsWithAnErrorAndLeavesTheLine) {
  const KeptRun played("hdm-h", {{1, 0, W, 8}, {0, 0, R}},
                       {fail_link("61ns", "d1", "bus", "1us"), repair_link("3us", "d1", "bus")}, false);
  EXPECT_EQ(played.latency(0), kProcess + kWay + kLookup + kHomeGivesUp + kWay);
  EXPECT_TRUE(played.failed(0));
  EXPECT_EQ(played.latency(1), kMissOfDevice);
  EXPECT_FALSE(played.failed(1));
  EXPECT_EQ(played.of_home("lines_poisoned"), 0.0);
}

TEST(BiasAgentFailures, LinesThatTheHostHadAloneArePoisonedAndTheOthersAreNot) {
  const KeptRun played("hdm-d",
                       {{0, 0, W}, {kOwner, 0, R}, {kOwner, 64, R}, {kOwner, 0, W}, {0, 0, R}, {0, 0, R}},
                       {d0_fails(), repair_link("35us", "d0", "bus")});
  EXPECT_EQ(played.latency(1),
            kInside + kHomeGivesUp + kMemoryRead);      // the page is the host's: it is asked
  EXPECT_EQ(played.latency(2), kInside + kMemoryRead);  // nobody is asked any more
  EXPECT_EQ(played.latency(3), kInside + kMemoryRead);
  EXPECT_EQ(played.errors(), 1);
  EXPECT_FALSE(played.failed(4));  // what the device has written, which it gives up
  EXPECT_EQ(played.latency(5), kProcess + kCache);
  EXPECT_EQ(played.of("d0", "dirty_lines_lost"), 1.0);
  EXPECT_EQ(played.of("home", "poison_consumed"), 1.0);
  EXPECT_EQ(played.of_home("snoops_timed_out"), 1.0);
  EXPECT_EQ(played.of_home("lines_poisoned"), 1.0);
}

// All 64 lines of the page are asked for at once: so many questions are lost, and time out together.
TEST(BiasAgentFailures, APageThatFlipsGoesToTheDevice) {
  const KeptRun played("hdm-d", {{0, 0, W}, {kOwner, 64, R}, {kOwner, 0, W}, {kOwner, 0, R}}, {d0_fails()},
                       true, 1);
  EXPECT_EQ(played.latency(1), kInside + kHomeGivesUp + kMemoryRead);
  EXPECT_EQ(played.latency(2), kInside + kMemoryRead);
  EXPECT_EQ(played.latency(3), kProcess + kCache);
  EXPECT_EQ(played.errors(), 0);
  EXPECT_EQ(played.of_home("snoops_timed_out"), 64.0);
  EXPECT_EQ(played.of_home("lines_poisoned"), 1.0);
  EXPECT_EQ(played.of_home("bias_flips_to_device"), 1.0);
}

}  // namespace
}  // namespace cxloom::test
