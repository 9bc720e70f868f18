// What home agents of hosts (HDM-H) and bias agents (HDM-D) make of losses, to the picosecond:
// docs/model/failures.md. failures_test.cpp has those of HDM-DB.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "core/support/coherence_flows.hpp"
#include "core/support/failing_system.hpp"
#include "core/support/system.hpp"

namespace cxloom::test {
namespace {

using namespace literals;

constexpr Time kMissOfDevice = kThere + kMemoryRead + kWay;
constexpr Time kHomeGivesUp = 5_us;
constexpr Time kDeviceGivesUp = 3_us;

constexpr int kOwner = -1;

/// An access of a requester, or of the device that has the lines.
struct KeptStep {
  int device;
  std::uint64_t address;
  AccessKind kind;
  std::uint16_t size = kLineBytes;
};

/// Requesters d0 and d1 before a device that keeps its own memory coherent. KeptStep i is made at i times 10
/// us. Each requester makes another access behind the last step, so that the window stays open.
struct KeptRun {
  KeptRun(const std::string& coherence, const std::vector<KeptStep>& steps,
          const std::vector<Value::Map>& events, bool second_has_cache = true, int flip_after = 0) {
    const Value::Map cache{{"access_time", "12ns"}, {"ways", 0}, {"size", "1KiB"}};
    Value::Map agent{{"lookup_time", "7ns"}, {"answer_timeout", "5us"}};
    Value::Map memory{
        {"capacity", "1MiB"},
        {"controller_time", "40ns"},
        {"media", Value::Map{{"kind", "fixed"}, {"latency", "45ns"}, {"write_latency", "60ns"}}}};
    Value::Map home{{"process_time", "10ns"}, {"cache", cache}};
    const bool bias = coherence == "hdm-d";
    if (bias) agent.emplace_back("flip_after", flip_after);
    if (bias) memory.emplace_back("bias", agent);
    if (!bias) home.emplace_back("home_agent", agent);
    home.emplace_back("memory", memory);
    SpecBuilder system;
    system.device("home", bias ? "accelerator" : "host", home).device("bus", "bus", {{"bus_time", "0ns"}});
    system.link("home", "bus", {{"port_delay", "0ns"}});
    add_program(system, "home", kOwner, steps);
    for (int d = 0; d < (bias ? 1 : 2); ++d) {
      const std::string name = "d" + std::to_string(d);
      Value::Map device{{"process_time", "10ns"}, {"completion_timeout", "3us"}};
      if (d == 0 || second_has_cache) device.emplace_back("cache", cache);
      system.device(name, bias ? "host" : "accelerator", device);
      system.link(name, "bus", {{"port_delay", "25ns"}});
      add_program(system, name, d, steps);
    }
    system.region({"home"}, {{"coherence", coherence}}).outputs({{"requests", true}});
    for (const Value::Map& event : events) system.event(event);
    run = std::make_unique<Running>(system);
    run->to_end();
    rows.resize(steps.size() + 1);
    for (std::size_t row = 0; row < run->table().rows(); ++row)
      rows.at(static_cast<std::size_t>(run->created(row).ps() / (10_us).ps())) = row;
    rows.pop_back();
  }
  static void add_program(SpecBuilder& system, const std::string& name, int who,
                          const std::vector<KeptStep>& steps) {
    std::vector<Access> accesses;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (steps[i].device != who) continue;
      Access access = access_to(steps[i].address, steps[i].kind);
      access.size = steps[i].size;
      access.timed = true;
      access.timestamp = 10_us * static_cast<std::int64_t>(i);
      accesses.push_back(access);
    }
    Access last = access_to(0x10000 + kLineBytes * static_cast<std::uint64_t>(who + 1));
    last.timed = true;
    last.timestamp = 10_us * static_cast<std::int64_t>(steps.size());
    accesses.push_back(last);
    system.replay(name, accesses, {{"replay", "timestamps"}});
  }
  Time latency(std::size_t step) const { return run->latency(rows[step]); }
  Time segment(std::size_t step, Segment which) const { return run->segment(rows[step], which); }
  bool failed(std::size_t step) const { return run->table().error[rows[step]] != 0; }
  std::ptrdiff_t errors() const {
    return std::ranges::count_if(rows, [&](std::size_t row) { return run->table().error[row] != 0; });
  }
  double of_home(const char* measure) const { return run->number({"coherence", measure}); }
  double of(const char* device, const char* measure) const {
    return run->number({"per_requester", device, measure});
  }

  std::unique_ptr<Running> run;
  std::vector<std::size_t> rows;
};

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
