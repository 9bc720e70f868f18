// What a home and its caches make of losses, to the picosecond: docs/model/failures.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/support/coherence_flows.hpp"
#include "core/support/failing_system.hpp"
#include "core/support/system.hpp"

namespace cxloom::test {
namespace {

using namespace literals;

constexpr Time kIdleMiss = kThere + kMemoryRead + kWay;
constexpr Time kAnswerTimeout = 5_us;

struct TimedStep {
  int host;
  std::uint64_t address;
  AccessKind kind;
  std::uint16_t size = kLineBytes;
};

/// Two hosts, h0 and h1, before one coherent memory. TimedStep i is made at i times 10 us. Each host makes
/// another access behind the last step, so that the window stays open.
struct FailingRun {
  FailingRun(const std::vector<TimedStep>& steps, const std::vector<Value::Map>& events) {
    SpecBuilder system;
    system.device("mem", "memory",
                  {{"capacity", "1MiB"},
                   {"controller_time", "40ns"},
                   {"media", Value::Map{{"kind", "fixed"}, {"latency", "45ns"}, {"write_latency", "60ns"}}},
                   {"dcoh", Value::Map{{"lookup_time", "7ns"}, {"answer_timeout", "5us"}}}});
    system.device("bus", "bus", {{"bus_time", "0ns"}});
    for (int h = 0; h < 2; ++h) {
      const std::string name = "h" + std::to_string(h);
      system.device(name, "host",
                    {{"process_time", "10ns"},
                     {"completion_timeout", "3us"},
                     {"cache", Value::Map{{"access_time", "12ns"}, {"ways", 0}, {"size", "1KiB"}}}});
      system.link(name, "bus", {{"port_delay", "25ns"}});
      std::vector<Access> accesses;
      for (std::size_t i = 0; i < steps.size(); ++i) {
        if (steps[i].host != h) continue;
        Access access = access_to(steps[i].address, steps[i].kind);
        access.size = steps[i].size;
        access.timed = true;
        access.timestamp = 10_us * static_cast<std::int64_t>(i);
        accesses.push_back(access);
      }
      Access last = access_to(0x10000 + kLineBytes * static_cast<std::uint64_t>(h));
      last.timed = true;
      last.timestamp = 10_us * static_cast<std::int64_t>(steps.size());
      accesses.push_back(last);
      system.replay(name, accesses, {{"replay", "timestamps"}});
    }
    system.link("bus", "mem", {{"port_delay", "0ns"}});
    system.region({"mem"}, {{"coherence", "hdm-db"}});
    system.outputs({{"requests", true}});
    for (const Value::Map& event : events) system.event(event);
    run = std::make_unique<Running>(system);
    run->to_end();
    rows.resize(steps.size() + 1);
    for (std::size_t row = 0; row < run->table().rows(); ++row)
      rows.at(static_cast<std::size_t>(run->created(row).ps() / (10_us).ps())) = row;
    rows.pop_back();
  }
  Time latency(std::size_t step) const { return run->latency(rows[step]); }
  Time segment(std::size_t step, Segment which) const { return run->segment(rows[step], which); }
  /// Steps that ended with an error.
  std::ptrdiff_t errors() const {
    return std::ranges::count_if(rows, [&](std::size_t row) { return run->table().error[row] != 0; });
  }
  double of_home(const char* measure) const { return run->number({"coherence", measure}); }
  double of_host(const char* host, const char* measure) const {
    return run->number({"per_requester", host, measure});
  }

  std::unique_ptr<Running> run;
  std::vector<std::size_t> rows;
};

Value::Map h0_fails() { return fail_link("5us", "h0", "bus", "1us"); }

TEST(CoherenceFailures, AModifiedLineOfAHostThatIsCutOffIsPoisonedUntilItIsWrittenAsAWhole) {
  const FailingRun played({{0, 0, W}, {1, 0, R}, {1, 0, R}, {1, 0, W, 8}, {1, 0, W}, {1, 0, R}, {1, 0, R}},
                          {h0_fails()});
  EXPECT_EQ(played.latency(0), kIdleMiss);
  // The snoop finds no way at the bus; the home waits for its answer as long as it would from anybody.
  EXPECT_EQ(played.latency(1), kIdleMiss + kAnswerTimeout);
  EXPECT_EQ(played.segment(1, Segment::kRetry), kAnswerTimeout);
  EXPECT_EQ(played.latency(2), kIdleMiss);  // nobody else is asked any more
  EXPECT_EQ(played.latency(3), kIdleMiss);  // and a part of a line heals nothing
  EXPECT_EQ(played.latency(4), kIdleMiss);  // what was there is of no matter
  EXPECT_EQ(played.latency(5), kProcess + kCache);
  EXPECT_EQ(played.errors(), 3);
  EXPECT_EQ(played.of_host("h0", "dirty_lines_lost"), 1.0);
  EXPECT_EQ(played.of_host("h1", "poison_consumed"), 3.0);
  EXPECT_EQ(played.of_home("snoops_timed_out"), 1.0);
  EXPECT_EQ(played.of_home("lines_poisoned"), 1.0);
  EXPECT_EQ(played.of_home("poison_delivered"), 4.0);
}

TEST(CoherenceFailures, ALineThatMayHaveBeenWrittenIsPoisonedToo) {
  const FailingRun played({{0, 0, R}, {1, 0, R}, {1, 0, R}}, {h0_fails()});
  EXPECT_EQ(played.latency(1), kIdleMiss + kAnswerTimeout);
  EXPECT_EQ(played.of_home("lines_poisoned"), 1.0);
  EXPECT_EQ(played.errors(), 2);
}

TEST(CoherenceFailures, ASharedLineIsReclaimed) {
  const FailingRun played({{0, 0, R}, {1, 0, R}, {1, 64, R}, {1, 0, W}, {1, 0, R}},
                          {fail_link("25us", "h0", "bus", "1us")});
  EXPECT_EQ(played.latency(3), kThere + kAnswerTimeout + kWay);  // an upgrade
  EXPECT_EQ(played.latency(4), kProcess + kCache);
  EXPECT_EQ(played.errors(), 0);
  EXPECT_EQ(played.of_home("lines_reclaimed"), 1.0);
  EXPECT_EQ(played.of_home("lines_poisoned"), 0.0);
}

TEST(CoherenceFailures, ARepairBeforeTheFailureIsKnownCostsNothingButTheWait) {
  const FailingRun played({{0, 0, W}, {1, 0, R}},
                          {fail_link("5us", "h0", "bus", "9us"), repair_link("12us", "h0", "bus")});
  const Time write_back = kWay + kLookup + kMemoryWrite + kWay;
  const Time snoop = kWay + kCache + write_back + kWay;
  // The snoop waits at the bus for the repair, at 12 us, and begins its way then.
  EXPECT_EQ(played.latency(1), 2_us + snoop + kMemoryRead + kWay);
  EXPECT_EQ(played.errors(), 0);
  EXPECT_EQ(played.of_home("snoops_timed_out"), 0.0);
}

TEST(CoherenceFailures, AHostThatComesBackHasNothingOfWhatItHad) {
  const FailingRun played({{0, 0, W}, {1, 64, R}, {0, 0, R}, {0, 0, W}, {1, 0, R}},
                          {h0_fails(), repair_link("15us", "h0", "bus")});
  EXPECT_EQ(played.latency(2), kIdleMiss);  // the home has it as the owner still, and the line is poisoned
  EXPECT_EQ(played.of_host("h0", "poison_consumed"), 1.0);
  EXPECT_EQ(played.latency(3), kIdleMiss);
  EXPECT_GT(played.latency(4), kIdleMiss);  // written back first: sound again
  EXPECT_EQ(played.of_home("lines_cured"), 1.0);
  EXPECT_EQ(played.errors(), 1);
}

TEST(CoherenceFailures, AWriteBackThatIsLostPoisonsItsLine) {
  // The read of h1 makes h0 write back; the way of the data ends at the bus.
  const FailingRun played({{0, 0, W}, {1, 0, R}, {1, 0, R}},
                          {fail_link("10.15us", "bus", "mem", "0ns"), repair_link("14us", "bus", "mem")});
  EXPECT_EQ(played.of_host("h0", "dirty_lines_lost"), 1.0);
  EXPECT_EQ(played.of_home("lines_poisoned"), 1.0);
  EXPECT_GE(played.errors(), 1);
  EXPECT_EQ(played.latency(2), kIdleMiss);
}

// ---- The memory of the home fails

TEST(CoherenceFailures, AMemoryThatFailsTakesWhatCachesHaveOfIt) {
  const FailingRun played({{0, 0, W}, {1, 0, R}, {1, 0, W}, {1, 0, R}, {0, 0, R}, {0, 64, R}},
                          {fail_device("5us", "mem", "1us"), repair_device("7us", "mem")});
  // The filter is empty: nobody is asked for the line that the first host had modified.
  EXPECT_EQ(played.latency(1), kIdleMiss);
  EXPECT_EQ(played.latency(2), kIdleMiss);  // written as a whole: it is sound again
  EXPECT_EQ(played.latency(3), kProcess + kCache);
  EXPECT_EQ(played.latency(4), kIdleMiss + kSnoop + kWriteBack);
  EXPECT_EQ(played.errors(), 2);  // the first read of each of two lines
  EXPECT_EQ(played.of_host("h0", "dirty_lines_lost"), 1.0);
  EXPECT_EQ(played.of_host("h1", "poison_consumed"), 1.0);
  EXPECT_EQ(played.of_home("snoops_timed_out"), 0.0);
  EXPECT_EQ(played.run->number({"events", "5us fail device mem", "requesters", "h0", "dirty_lines_lost"}),
            1.0);
}

TEST(CoherenceFailures, ARequestInAHomeThatFailsEndsWithItsTimeout) {
  // The read of h1 is looked up at 10.079 us, and its snoop is under way at the failure: nobody waits for its
  // answer.
  const FailingRun played({{0, 0, W}, {1, 0, R}, {1, 0, W}, {0, 0, R}},
                          {fail_device("10.1us", "mem", "1us"), repair_device("12us", "mem")});
  EXPECT_EQ(played.latency(1), 3_us);
  EXPECT_EQ(played.latency(2), kIdleMiss);
  EXPECT_EQ(played.latency(3), kIdleMiss + kSnoop + kWriteBack);
  EXPECT_EQ(played.errors(), 1);
  EXPECT_EQ(played.of_host("h0", "dirty_lines_lost"), 1.0);
  EXPECT_EQ(played.of_home("snoops_timed_out"), 0.0);
}

TEST(CoherenceFailures, AResetThatClearsItsMemoryLeavesNoPoison) {
  const FailingRun played({{0, 0, W}, {1, 0, R}, {0, 0, R}},
                          {fail_device("5us", "mem", "1us"),
                           {{"at", "7us"}, {"repair", Value::Map{{"device", "mem"}, {"cleared", true}}}}});
  EXPECT_EQ(played.errors(), 0);
  EXPECT_EQ(played.latency(1), kIdleMiss);
  EXPECT_EQ(played.of_host("h0", "dirty_lines_lost"), 1.0);
}

Value::Map crash(const char* at, const char* host) { return fail_device(at, host, "1us"); }

TEST(CoherenceFailures, ACrashedHostLosesItsLinesAndMakesNoMoreRequests) {
  const FailingRun played({{0, 0, W}, {0, 64, R}, {1, 0, R}, {1, 64, R}, {0, 128, W}, {1, 0, W}},
                          {crash("15us", "h0")});
  EXPECT_EQ(played.run->table().rows(), 6U);                 // its third is never made, nor its last
  EXPECT_EQ(played.latency(2), kIdleMiss + kAnswerTimeout);  // the home asks once,
  EXPECT_EQ(played.latency(3), kIdleMiss);                   // and takes back everything
  EXPECT_EQ(played.of_host("h0", "dirty_lines_lost"), 1.0);
  EXPECT_EQ(played.of_home("lines_poisoned"), 2.0);  // one of them was clean, which nobody knows
  EXPECT_EQ(played.of_home("snoops_timed_out"), 1.0);
  EXPECT_EQ(played.of_host("h1", "poison_consumed"), 2.0);
  const std::vector<std::string_view> h1{"events", "15us fail device h0", "requesters", "h1"};
  const auto around = [&](std::string_view measure) {
    return played.run->number({h1[0], h1[1], h1[2], h1[3], measure});
  };
  EXPECT_EQ(around("requests_before"), 0.0);
  EXPECT_EQ(around("errors"), 2.0);
  EXPECT_EQ(around("requests"), 2.0);
  EXPECT_EQ(around("latency_ns"), kIdleMiss.ns());
}

// Its home takes it again with its first request.
TEST(CoherenceFailures, AHostThatHasBootedIsAskedAgain) {
  Value::Map boot = repair_device("15us", "h0");
  boot[1].second = Value::Map{{"device", "h0"}, {"restart", true}};
  const FailingRun played({{0, 0, W}, {1, 0, R}, {0, 64, R}, {1, 64, R}}, {crash("5us", "h0"), boot});
  EXPECT_EQ(played.latency(1), kIdleMiss + kAnswerTimeout);
  EXPECT_EQ(played.latency(2), kIdleMiss);
  EXPECT_EQ(played.latency(3), kThere + kSnoop + kMemoryRead + kWay);
  EXPECT_EQ(played.errors(), 1);
}

Value::Map of_viral(const std::string& at, const char* what, bool cleared = false) {
  Value::Map memory{{"device", "mem"}};
  if (cleared) memory.emplace_back("cleared", true);
  return {{"at", at}, {what, memory}};
}

// Without a failure timeouts have no effect.
const Value::Map kMuchLater = fail_link("1ms", "h0", "bus", "1us");

// What caches have stays good. What a snoop writes back is not kept, and the memory reads as poison.
TEST(CoherenceFailures, AViralMemoryAnswersItsHomeWithPoison) {
  const FailingRun played({{0, 0, W},
                           {0, 0, R},
                           {1, 0, R},
                           {0, 0, R},
                           {1, 64, W},
                           {1, 64, R},
                           {1, 0, W, 8},
                           {1, 0, W},
                           {1, 0, R}},
                          {of_viral("5us", "viral"), kMuchLater});
  EXPECT_EQ(played.latency(1), kProcess + kCache);
  EXPECT_EQ(played.latency(2), kThere + kSnoop + kWriteBack + kMemoryRead + kWay);
  EXPECT_EQ(played.latency(4), kIdleMiss);  // of the whole line: what it reads is of no matter
  EXPECT_EQ(played.latency(5), kProcess + kCache);
  EXPECT_EQ(played.latency(8), kProcess + kCache);
  EXPECT_EQ(played.latency(3), kProcess + kCache);  // the snoop has left it a copy
  EXPECT_EQ(played.errors(), 2);                    // of steps 2 and 6
  EXPECT_EQ(played.of_host("h0", "dirty_lines_lost"), 1.0);
  EXPECT_EQ(played.of_home("snoops_timed_out"), 0.0);
}

// The agent goes on: what is modified elsewhere is written back to the memory that was reset.
TEST(CoherenceFailures, AResetOfAViralMemoryTakesWhatIsWrittenBack) {
  for (const bool cleared : {false, true}) {
    const FailingRun played({{0, 0, W}, {0, 64, R}, {1, 64, R}, {1, 0, R}, {1, 128, R}},
                            {of_viral("15us", "viral"), of_viral("18us", "reset", cleared), kMuchLater});
    EXPECT_EQ(played.latency(2), kThere + kSnoop + kMemoryRead + kWay);  // a clean copy, and no data
    EXPECT_EQ(played.latency(3), kThere + kSnoop + kWriteBack + kMemoryRead + kWay);
    EXPECT_EQ(played.errors(), cleared ? 0 : 2);                         // of steps 2 and 4
    EXPECT_EQ(played.of_home("poison_delivered"), cleared ? 0.0 : 4.0);  // and of the reads at the end
  }
}

}  // namespace
}  // namespace cxloom::test
