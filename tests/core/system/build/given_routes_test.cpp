// A routing table of one's own in a system parts of which fail: what it leads over a failed link, to the
// picosecond.
#include "system/build/given_routes.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "core/support/failing_system.hpp"
#include "core/support/system.hpp"

namespace cxloom::test {
namespace {

using namespace literals;

const Value::Map kPlainLink{{"bandwidth", "16GB/s"}, {"port_delay", "25ns"}};

/// The host reads one line after the other. Its requests leave sw0 for the memory by these neighbours, and
/// answers come directly. Times are those of event_player_test.cpp: by sw2 a request leaves sw0 at 80, that
/// at 150 and sw1 at 220; it is at the memory at 271, its answer leaves that at 356, sw1 at 426 and sw0 at
/// 496, and is at the host at 551.
SpecBuilder with_table(std::size_t accesses, Value::List by, const char* queueing) {
  SpecBuilder system = triangle(lines(accesses), kPlainLink, {{"queueing", queueing}});
  const Value::Map entry{{"at", "sw0"}, {"to", Value::List{"mem"}}, {"by", std::move(by)}};
  return system.run_with({{"routes", Value::List{entry}}});
}

class GivenRoutes : public testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(OfQueues, GivenRoutes, testing::Values("output", "voq", "fifo"),
                         [](const auto& tested) { return std::string(tested.param); });

TEST_P(GivenRoutes, AreKeptWhateverFailsElsewhere) {
  Running run(with_table(2, {"sw2"}, GetParam()).event(fail_link("300ns", "sw0", "sw1", "0ns")));
  run.to_end();
  // The answers' way is found anew: by sw2, 70 longer.
  EXPECT_EQ(run.latency(0), 551_ns + 70_ns);
  EXPECT_EQ(run.latency(1), 551_ns + 70_ns);
  EXPECT_EQ(run.number({"errors", "requests"}), 0.0);
}

TEST_P(GivenRoutes, AnswerWithAnErrorWhatTheyLeadOverAFailedLink) {
  Running run(with_table(8, {"sw2"}, GetParam())
                  .event(fail_link("50ns", "sw0", "sw2", "200ns"))
                  .event(repair_link("600ns", "sw0", "sw2")));
  run.to_end();
  // Though the direct link is there. It waits in sw0 from 80 to 250 ns.
  EXPECT_EQ(run.latency(0), 250_ns + 51_ns);
  EXPECT_EQ(run.segment(0, Segment::kRetry), 170_ns);
  EXPECT_EQ(run.latency(1), 80_ns + 51_ns);
  EXPECT_EQ(run.latency(2), 80_ns + 51_ns);
  // The fourth is made at 563 ns: at 643 the table's way leads on again.
  EXPECT_EQ(run.latency(3), 551_ns);
  EXPECT_EQ(run.latency(7), 551_ns);
  EXPECT_EQ(run.number({"errors", "requests"}), 3.0);
  EXPECT_EQ(run.number({"events", "50ns fail link sw0-sw2", "failed"}), 3.0);
}

TEST_P(GivenRoutes, LeaveOutOfSeveralNeighboursThoseWhoseLinksHaveFailed) {
  Running direct(with_table(2, {"sw2", "sw1"}, GetParam()).event(fail_link("5ns", "sw0", "sw2", "0ns")));
  direct.to_end();
  EXPECT_EQ(direct.latency(0), 481_ns);
  EXPECT_EQ(direct.latency(1), 481_ns);
  Running other(with_table(2, {"sw2", "sw1"}, GetParam()).event(fail_link("5ns", "sw0", "sw1", "0ns")));
  other.to_end();
  EXPECT_EQ(other.latency(0), 551_ns + 70_ns);
  EXPECT_EQ(other.number({"errors", "requests"}), 0.0);
}

TEST_P(GivenRoutes, LeadNobodyInACircle) {
  Running run(with_table(2, {"sw2"}, GetParam()).event(fail_link("100ns", "sw2", "sw1", "200ns")));
  run.to_end();
  // From sw2 the memory is reached by sw0 alone, from which the table leads to sw2. The first request waits
  // in sw2 from 150 to 300 ns; its error leaves sw0 at 370.
  EXPECT_EQ(run.latency(0), 300_ns + 70_ns + 51_ns);
  EXPECT_EQ(run.segment(0, Segment::kRetry), 150_ns);
  // The second one is answered where it is known that no way leads on.
  EXPECT_EQ(run.latency(1), 80_ns + 51_ns);
  Running another(with_table(2, {"sw2", "sw1"}, GetParam()).event(fail_link("5ns", "sw2", "sw1", "0ns")));
  another.to_end();
  EXPECT_EQ(another.latency(0), 481_ns);
  EXPECT_EQ(another.number({"errors", "requests"}), 0.0);
}

/// From A the table leads by B and by D to M; from B by X and by E and F. The link from X to M fails. How
/// many of 400 reads go by D.
double requests_by_d(const Value::List& by_of_b, bool x_leads_back) {
  SpecBuilder system;
  system.device("h", "host", {{"queue", 8}});
  for (const char* name : {"A", "B", "D", "E", "F", "X", "M"}) system.device(name, "switch");
  slow_memory(system);
  const std::pair<const char*, const char*> between[] = {{"h", "A"}, {"A", "B"},  {"A", "D"}, {"D", "M"},
                                                         {"B", "X"}, {"X", "M"},  {"B", "E"}, {"E", "F"},
                                                         {"F", "M"}, {"M", "mem"}};
  for (const auto& [a, b] : between) system.link(a, b, kPlainLink);
  const auto entry = [](const char* at, const Value::List& by) {
    return Value::Map{{"at", at}, {"to", Value::List{"mem"}}, {"by", by}};
  };
  Value::List table{entry("A", {"B", "D"}), entry("B", by_of_b)};
  if (!x_leads_back) table.emplace_back(entry("X", {"M"}));
  system.region({"mem"}).replay("h", lines(400)).event(fail_link("1ns", "X", "M", "0ns"));
  system.run_with({{"routing", "random"}, {"routes", std::move(table)}});
  Running run(system);
  run.to_end();
  EXPECT_EQ(run.number({"errors", "requests"}), 0.0);
  return run.number({"per_link", "A-D", "A->D", "messages"});
}

// X is a dead end, or leads back to B: neither is a reason to leave B, from which E leads on.
TEST(GivenRoutesOfSeveral, LoseOnlyThoseThatDoNotLeadOn) {
  const double without_x = requests_by_d({"E"}, true);
  EXPECT_GT(without_x, 150.0);
  EXPECT_LT(without_x, 250.0);
  EXPECT_EQ(requests_by_d({"X", "E"}, true), without_x);
  EXPECT_EQ(requests_by_d({"X", "E"}, false), without_x);
}

}  // namespace
}  // namespace cxloom::test
