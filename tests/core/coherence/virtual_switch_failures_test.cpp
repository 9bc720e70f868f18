// Failures beside virtual CXL switches that coherent memory is bound to, to the picosecond:
// docs/model/virtual_switch.md, docs/model/failures.md.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "core/support/coherence_flows.hpp"
#include "core/support/coherent_pool.hpp"
#include "core/support/failing_system.hpp"
#include "core/support/system.hpp"

namespace cxloom::test {
namespace {

using namespace literals;

constexpr Time kGivesUp = 5_us;
constexpr Time kNear =
    kToSwitch + kLookup + kMemoryRead + kToSwitch;  // of h2's read, once it is in the cache
constexpr Time kNearMiss = kProcess + kCache + kNear;
constexpr Time kHitInPool = kProcess + kCache;
constexpr Time kFromUp = kProcess + kCache + kPorts + kSwitch + kPorts;  // the first switch answers h0 or h1

SpecBuilder failing_pool(const std::vector<PoolStep>& steps, const Value::List& switches,
                         const std::vector<Value::Map>& events, bool second_switch = false) {
  SpecBuilder system = pool(steps, PoolParts{.switches = switches,
                                             .dcoh = {{"answer_timeout", "5us"}},
                                             .host = {{"completion_timeout", "3us"}},
                                             .second_switch = second_switch});
  for (const Value::Map& event : events) system.event(event);
  return system;
}

/// Mem0 leaves its virtual switch, and comes to that of h2 in the same instant.
std::vector<Value::Map> moves(const char* at, bool surprise = false) {
  return {
      {{"at", at}, {"unbind", Value::Map{{"switch", "sw"}, {"vcs", 0}, {"vppb", 0}, {"surprise", surprise}}}},
      {{"at", at}, {"bind", Value::Map{{"switch", "sw"}, {"vcs", 1}, {"vppb", 1}, {"to", "mem0"}}}}};
}

std::vector<Value::Map> joined(std::vector<Value::Map> events, const std::vector<Value::Map>& others) {
  events.insert(events.end(), others.begin(), others.end());
  return events;
}

double of_mem0(Played& played, std::string_view measure) {
  return played.run.number({"per_home", "mem0", measure});
}
double lost_by(Played& played, std::string_view host) {
  return played.run.number({"per_requester", host, "dirty_lines_lost"});
}

// ---- Who is cut off

TEST(CoherentVirtualSwitchFailures, AHostThatIsCutOffHasLostItsLinesAsWithoutVirtualSwitches) {
  const std::vector<PoolStep> steps{{"h0", 0, W}, {"h1", 0, R}, {"h1", 0, R}, {"h1", 0, W}, {"h1", 0, R}};
  for (const Value::List& switches : {Value::List{}, kTwoSwitches}) {
    for (const Value::Map& event : {fail_link("5us", "h0", "up", "1us"), fail_device("5us", "h0", "1us")}) {
      Played played(failing_pool(steps, switches, {event}), steps.size());
      EXPECT_EQ(played.latency[1], kFarMiss + kGivesUp);
      EXPECT_EQ(played.latency[2], kFarMiss) << "nobody is asked any more";
      EXPECT_EQ(played.latency[3], kFarMiss) << "written as a whole";
      EXPECT_EQ(played.latency[4], kHitInPool);
      EXPECT_EQ(played.failed, (std::vector{false, true, true, false, false}));
      EXPECT_EQ(lost_by(played, "h0"), 1.0);
      EXPECT_EQ(of_mem0(played, "snoops_timed_out"), 1.0);
    }
  }
}

TEST(CoherentVirtualSwitchFailures, AVirtualSwitchThatIsCutOffIsTheOnlyOne) {
  // Both hosts of it lose what they have: one a modified line, one a shared copy. They come back with
  // nothing.
  const std::vector<PoolStep> steps{{"h0", 0, W},       {"h1", 64, R}, {"h2", kSecond, W},
                                    {"h2", kSecond, R}, {"h1", 0, R},  {"h0", 64, R}};
  Played played(failing_pool(steps, kTwoSwitches,
                             {fail_link("25us", "up", "sw", "1us"), repair_link("35us", "up", "sw")}),
                steps.size());
  EXPECT_EQ(played.latency[2], kNearMiss);
  EXPECT_EQ(played.latency[3], kHitInPool) << "of another virtual switch";
  EXPECT_EQ(played.latency[4], kFarMiss + kFarSnoop) << "the owner is asked, who has nothing";
  EXPECT_EQ(played.latency[5], kFarMiss + kFarSnoop);
  EXPECT_EQ(played.failed, (std::vector{false, false, false, false, true, false}));
  EXPECT_EQ(of_mem0(played, "lines_poisoned"), 1.0) << "what was modified, in the instant";
  EXPECT_EQ(of_mem0(played, "snoops_timed_out"), 0.0);
}

TEST(CoherentVirtualSwitchFailures, AMemoryThatIsCutOffIsMissedByItsVirtualSwitchAlone) {
  const std::vector<PoolStep> steps{{"h0", 0, W}, {"h1", 0, R}, {"h2", kSecond, R}, {"h1", 0, R}};
  for (const bool whole : {false, true}) {
    const std::vector<Value::Map> events =
        whole ? std::vector{fail_device("5us", "mem0", "1us"), repair_device("25us", "mem0")}
              : std::vector{fail_link("5us", "sw", "mem0", "1us"), repair_link("25us", "sw", "mem0")};
    Played played(failing_pool(steps, kTwoSwitches, events), steps.size());
    EXPECT_EQ(played.latency[1], kFromUp) << "by the first from which no way leads";
    EXPECT_EQ(played.latency[2], kNearMiss);
    // Its filter knows of h0 still, unless it is the memory that failed.
    EXPECT_EQ(played.latency[3], whole ? kFarMiss : kFarMiss + kFarSnoop);
    EXPECT_EQ(played.failed, (std::vector{false, true, false, true}));
    EXPECT_EQ(lost_by(played, "h0"), 1.0);
    EXPECT_EQ(played.run.number({"per_switch", "sw", "isolation_errors"}), 0.0);
  }
}

TEST(CoherentVirtualSwitchFailures, BindingsOutlastTheFailureOfTheirSwitch) {
  const std::vector<PoolStep> steps{{"h0", 0, W}, {"h1", 0, R},       {"h2", kSecond, R},
                                    {"h1", 0, R}, {"h2", kSecond, R}, {"h2", 0, R}};
  Played played(
      failing_pool(steps, kTwoSwitches, {fail_device("5us", "sw", "1us"), repair_device("25us", "sw")}),
      steps.size());
  EXPECT_EQ(played.latency[1], kFromUp);
  EXPECT_EQ(played.latency[2], kHitInPool) << "its own link is down";
  EXPECT_EQ(played.latency[3], kFarMiss + kFarSnoop);
  EXPECT_EQ(played.latency[4], kNearMiss);
  EXPECT_EQ(played.latency[5], kRefused);
  EXPECT_EQ(played.failed, (std::vector{false, true, true, true, false, true}));
  EXPECT_EQ(played.run.number({"per_switch", "sw", "isolation_errors"}), 1.0);
}

// ---- The new way leads by another virtual switch

constexpr Time kRound = kPorts + kSwitch + kSwitch + kSwitch;  // h0 - up - up2 - sw - mem0
const Value::List kTwoUps{vcs("up", {"mem0"}), vcs("up2", {"mem1"})};

TEST(CoherentVirtualSwitchFailures, AHostWhoseWayLeadsByAnotherVirtualSwitchHasLostItsLines) {
  const std::vector<PoolStep> steps{{"h0", 0, W}, {"h0", 0, R}, {"h2", kSecond, R}, {"h0", 0, R}};
  Played played(failing_pool(steps, kTwoUps,
                             {fail_link("5us", "up", "sw", "1us"), repair_link("25us", "up", "sw")}, true),
                steps.size());
  EXPECT_EQ(played.latency[1], kProcess + kCache + kRound + (kRound - kSwitch));
  EXPECT_EQ(played.latency[2], kFarMiss);
  EXPECT_EQ(played.latency[3], kFarMiss) << "it is the owner itself";
  EXPECT_EQ(played.failed, (std::vector{false, true, false, true})) << "refused, and poison";
  EXPECT_EQ(lost_by(played, "h0"), 1.0);
  EXPECT_EQ(of_mem0(played, "lines_poisoned"), 1.0);
  EXPECT_EQ(played.run.number({"per_switch", "sw", "isolation_errors"}), 1.0);
}

TEST(CoherentVirtualSwitchFailures, TheMemoryMayComeToTheVirtualSwitchThatIsLeft) {
  const std::vector<PoolStep> steps{
      {"h0", 0, W}, {"h1", 64, R}, {"h2", kSecond, R}, {"h0", 0, W}, {"h2", 0, R}};
  Played played(
      failing_pool(steps, kTwoUps, joined({fail_link("15us", "up", "sw", "1us")}, moves("25us")), true),
      steps.size());
  EXPECT_EQ(played.latency[3], kProcess + kCache + kRound + kLookup + kMemoryRead + kRound);
  EXPECT_EQ(played.latency[4], kFarMiss + kRound * 2 + kCache + (kRound * 2 + kLookup + kMemoryWrite));
  EXPECT_EQ(played.failed, std::vector(5, false));
  EXPECT_EQ(of_mem0(played, "lines_poisoned"), 1.0) << "until it was written as a whole";
  EXPECT_EQ(of_mem0(played, "lines_cured"), 1.0);
  EXPECT_EQ(of_mem0(played, "snoops_timed_out"), 0.0) << "both hosts were asked as the memory left";
}

// ---- Beside a removal by surprise

TEST(CoherentVirtualSwitchFailures, ARemovalBySurpriseNeedsNoLinkToTellTheHome) {
  const std::vector<PoolStep> steps{{"h0", 0, W}, {"h1", 64, R}, {"h2", 0, R}, {"h2", 64, R}, {"h0", 0, R}};
  for (const char* const fails : {"20us", "12us"}) {  // in the same instant, and known before
    Played played(failing_pool(steps, kTwoSwitches,
                               joined(joined({fail_link(fails, "up", "sw", "1us")}, moves("20us", true)),
                                      {repair_link("35us", "up", "sw")})),
                  steps.size());
    EXPECT_EQ(played.latency[2], kNearMiss) << "nobody is asked";
    EXPECT_EQ(played.latency[3], kNearMiss);
    EXPECT_EQ(played.latency[4], kRefusedFar) << "no hit";
    EXPECT_EQ(played.failed, (std::vector{false, false, true, true, true}));
    EXPECT_EQ(of_mem0(played, "lines_poisoned"), 2.0);
    EXPECT_EQ(of_mem0(played, "snoops_timed_out"), 0.0);
    EXPECT_EQ(lost_by(played, "h0"), 1.0);
  }
}

// ---- A managed unbinding that something cuts short. The home asks h0 at 20 us; h2 asks for the line then.

const std::vector<PoolStep> kUnbinding{{"h0", 0, W}, {"h1", 64, R}, {"h2", 0, R},
                                       {"h2", 0, W}, {"h2", 0, R},  {"h2", 64, R}};

void expect_it_ends(Played& played, const std::string& what) {
  EXPECT_EQ(played.latency[2], kGivesUp + kMemoryRead + kToSwitch) << what;
  EXPECT_EQ(played.latency[3], kNearMiss) << what;
  EXPECT_EQ(played.latency[4], kHitInPool) << what;
  EXPECT_EQ(played.latency[5], kNearMiss) << what;
  EXPECT_EQ(played.failed, (std::vector{false, false, true, false, false, false})) << what << ": one poison";
  EXPECT_EQ(of_mem0(played, "lines_poisoned"), 1.0) << what;
  EXPECT_EQ(of_mem0(played, "snoops_timed_out"), 1.0) << what;
  EXPECT_EQ(lost_by(played, "h0"), 1.0) << what;
  EXPECT_EQ(played.run.number({"per_switch", "sw", "removal_errors"}), 0.0) << what;
}

TEST(CoherentVirtualSwitchFailures, AnUnbindingWhoseHostFailsEndsWhenItsHomeGivesUp) {
  // While the snoop is under way, and while the write-back is to leave.
  for (const char* const at : {"20.03us", "20.07us"}) {
    for (const Value::Map& event : {fail_device(at, "h0", "100ns"), fail_link(at, "h0", "up", "100ns")}) {
      Played played(failing_pool(kUnbinding, kTwoSwitches, joined(moves("20us"), {event})),
                    kUnbinding.size());
      expect_it_ends(played, at);
    }
  }
  // The host has been cut off, or has crashed, long before.
  for (const Value::Map& event : {fail_device("5us", "h0", "1us"), fail_link("5us", "h0", "up", "1us")}) {
    Played played(failing_pool(kUnbinding, kTwoSwitches, joined({event}, moves("20us"))), kUnbinding.size());
    expect_it_ends(played, "before");
  }
}

TEST(CoherentVirtualSwitchFailures, AnUnbindingWaitsForALinkThatIsRepairedInTime) {
  // The snoop is at up at 20.01 us, and goes on at the repair.
  Played played(failing_pool(kUnbinding, kTwoSwitches,
                             joined(moves("20us"), {fail_link("20.005us", "h0", "up", "9us"),
                                                    repair_link("22us", "h0", "up")})),
                kUnbinding.size());
  EXPECT_EQ(played.latency[2], 2_us + kPorts + kCache + kFarWriteBack + kFar + kMemoryRead + kToSwitch);
  EXPECT_EQ(played.failed, std::vector(6, false));
  EXPECT_EQ(of_mem0(played, "snoops_timed_out"), 0.0);
}

TEST(CoherentVirtualSwitchFailures, AnUnbindingWhoseMemoryIsCutOffEndsToo) {
  // At sw the write-back of h0 is answered with an error, at 20.17 us, and the ends of both snoops are lost.
  // By 30 us the home has given up, and is back.
  std::vector<PoolStep> steps = kUnbinding;
  steps[2] = {"h1", 128, R};  // refused
  steps[3] = {"h2", 0, R};
  Played played(failing_pool(steps, kTwoSwitches,
                             joined(moves("20us"), {fail_link("20.07us", "sw", "mem0", "100ns"),
                                                    repair_link("27us", "sw", "mem0")})),
                steps.size());
  EXPECT_EQ(played.latency[3], kNearMiss);
  EXPECT_EQ(played.failed, (std::vector{false, false, true, true, true, true}));
  EXPECT_EQ(of_mem0(played, "snoops_timed_out"), 2.0);
  EXPECT_EQ(of_mem0(played, "lines_poisoned"), 2.0) << "that of h1 might have been modified";
  EXPECT_EQ(lost_by(played, "h0"), 1.0);
}

TEST(CoherentVirtualSwitchFailures, AHostThatComesBackIsNotGivenWhatWasUnboundMeanwhile) {
  // h0's read is beyond the switch at 10.1 us, where its link fails; it is back before the answer leaves, and
  // mem0 has gone elsewhere.
  const std::vector<PoolStep> steps{{"h1", 128, R}, {"h0", 0, R}, {"h0", 0, R}, {"h2", 0, W}};
  const Played played(failing_pool(steps, kTwoSwitches,
                                   joined(joined({fail_link("10.1us", "h0", "up", "10ns")}, moves("10.12us")),
                                          {repair_link("10.14us", "h0", "up")})),
                      steps.size());
  EXPECT_EQ(played.latency[1], kFarMiss);
  EXPECT_EQ(played.latency[2], kRefusedFar) << "no hit: the line was taken back behind the grant";
  EXPECT_EQ(played.latency[3], kNearMiss);
  EXPECT_EQ(played.failed, (std::vector{false, false, true, false}));
}

}  // namespace
}  // namespace cxloom::test
