// The adapter to ChampSim against a stand-in of the parts of it that it uses.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "integrations/champsim/dram_controller.h"

namespace {

using champsim::channel;

// A read takes 10 + (25 + 0.5 + 5 + 25) + 40 + 45 + (25 + 2.5 + 5 + 25) ns: a request has 16 bytes, an
// answer 80. header) ns.
constexpr const char* kSystem = R"({
  "devices": {
    "host": {"kind": "host", "process_time": "10ns"},
    "cxl": {"kind": "memory", "capacity": "1GiB", "controller_time": "40ns",
      "media": {"kind": "fixed", "latency": "45ns"}}},
  "links": [{"between": ["host", "cxl"], "bandwidth": "32GB/s", "header": "16B", "data_header": "16B",
    "port_delay": "25ns", "delay": "5ns"}],
  "address_map": [{"to": ["cxl"]}]})";
constexpr std::int64_t kPeriod = 250;

class ChampsimTest : public testing::Test {
 protected:
  ChampsimTest() {
    write("system.json", kSystem);
    set("CXLOOM_SYSTEM", folder_ + "system.json");
    for (const char* name : {"CXLOOM_HOST", "CXLOOM_WRITES", "CXLOOM_SUMMARY"}) unsetenv(name);
  }
  ~ChampsimTest() override {
    for (const char* name : {"CXLOOM_SYSTEM", "CXLOOM_HOST", "CXLOOM_WRITES", "CXLOOM_SUMMARY"})
      unsetenv(name);
  }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ + name) << text;
  }
  static void set(const char* name, const std::string& value) { setenv(name, value.c_str(), 1); }

  std::unique_ptr<MEMORY_CONTROLLER> open(std::vector<channel*> channels) const {
    using champsim::chrono::picoseconds;
    auto controller = std::make_unique<MEMORY_CONTROLLER>(
        picoseconds{625}, picoseconds{kPeriod}, 24, 24, 24, 52, champsim::chrono::microseconds{32000},
        std::move(channels), 64, 64, 1, champsim::data::bytes{8}, 65536, 1024, 1, 2, 1, 8192);
    controller->begin_phase();
    controller->warmup = false;
    return controller;
  }
  static channel::request_type line(std::uint64_t address, bool response = true) {
    return {response, champsim::address{address}};
  }
  // Cycles until so many answers are there.
  static std::int64_t cycles_to(MEMORY_CONTROLLER& controller, const channel& channel, std::size_t answers) {
    std::int64_t cycles = 0;
    for (; channel.returned.size() < answers; ++cycles) {
      if (cycles > 100'000) return -1;
      controller._operate();
    }
    return cycles;
  }

  const std::string folder_ = testing::TempDir();
};

TEST_F(ChampsimTest, AReadTakesTheLatencyOfTheSystem) {
  channel above;
  const auto controller = open({&above});
  above.RQ.push_back(line(4096));
  // It comes in the first cycle, and its answer is seen in the first cycle at or after its time.
  EXPECT_EQ(cycles_to(*controller, above, 1), 1 + (208'000 + kPeriod - 1) / kPeriod);
  EXPECT_EQ(above.returned.front().address.to<std::uint64_t>(), 4096U);
}

TEST_F(ChampsimTest, ACacheGetsItsOwnAnswers) {
  channel one;
  channel other;
  const auto controller = open({&one, &other});
  one.RQ.push_back(line(0));
  other.PQ.push_back(line(64));
  other.RQ.push_back(line(128, false));  // nobody waits for it
  for (int cycle = 0; cycle < 2000; ++cycle) controller->_operate();
  ASSERT_EQ(one.returned.size(), 1U);
  ASSERT_EQ(other.returned.size(), 1U);
  EXPECT_EQ(one.returned.front().address.to<std::uint64_t>(), 0U);
  EXPECT_EQ(other.returned.front().address.to<std::uint64_t>(), 64U);
}

TEST_F(ChampsimTest, WritesBeyondTheLimitWaitAbove) {
  set("CXLOOM_WRITES", "3");
  channel above;
  const auto controller = open({&above});
  for (std::uint64_t i = 0; i < 8; ++i) above.WQ.push_back(line(64 * i));
  controller->_operate();
  EXPECT_EQ(above.WQ.size(), 5U);
  for (int cycle = 0; cycle < 4000; ++cycle) controller->_operate();
  EXPECT_TRUE(above.WQ.empty());
  EXPECT_EQ(controller->operate(), 0);  // nothing is on its way
}

TEST_F(ChampsimTest, WarmUpTakesNoTime) {
  channel above;
  const auto controller = open({&above});
  controller->warmup = true;
  above.RQ = {line(0), line(64, false)};
  above.WQ = {line(128)};
  controller->_operate();
  EXPECT_EQ(above.returned.size(), 1U);
  EXPECT_TRUE(above.RQ.empty());
  EXPECT_TRUE(above.WQ.empty());
}

TEST_F(ChampsimTest, AnAccessOnItsWayIsProgress) {
  channel above;
  const auto controller = open({&above});
  above.RQ.push_back(line(0));
  controller->_operate();
  EXPECT_GT(controller->_operate(), 0);
}

TEST_F(ChampsimTest, TheSummaryHasWhatCameSinceThePhaseBegan) {
  set("CXLOOM_SUMMARY", folder_ + "summary.json");
  channel above;
  {
    auto controller = open({&above});
    for (std::uint64_t i = 0; i < 5; ++i) above.RQ.push_back(line(64 * i));
    ASSERT_GT(cycles_to(*controller, above, 5), 0);
    controller->begin_phase();
    for (std::uint64_t i = 0; i < 2; ++i) above.RQ.push_back(line(64 * i));
    ASSERT_GT(cycles_to(*controller, above, 7), 0);
    const MEMORY_CONTROLLER copy = *controller;  // as ChampSim makes to read counts
    EXPECT_EQ(copy.size().count(), 8LL * 65536 * 1024 * 2);
  }
  std::ifstream file(folder_ + "summary.json");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_NE(text.find("\"requests\": 2"), std::string::npos) << text.substr(0, 300);
}

using ChampsimDeathTest = ChampsimTest;

TEST_F(ChampsimDeathTest, SaysWhatIsWrong) {
  const auto made = [this] { open({}); };
  set("CXLOOM_HOST", "nobody");
  EXPECT_EXIT(made(), testing::ExitedWithCode(2), "there is no device \"nobody\"");
  set("CXLOOM_HOST", "host");
  for (const char* writes : {"0", "-5", "3x", ""}) {
    set("CXLOOM_WRITES", writes);
    EXPECT_EXIT(made(), testing::ExitedWithCode(2), "CXLOOM_WRITES is");
  }
  unsetenv("CXLOOM_WRITES");
  set("CXLOOM_SYSTEM", folder_ + "absent.json");
  EXPECT_EXIT(made(), testing::ExitedWithCode(2), "absent.json\" cannot be read");
  write("bad.json", "{\"devices\": {}}");
  set("CXLOOM_SYSTEM", folder_ + "bad.json");
  EXPECT_EXIT(made(), testing::ExitedWithCode(2), "bad.json: ");
  unsetenv("CXLOOM_SYSTEM");
  EXPECT_EXIT(made(), testing::ExitedWithCode(2), "names no file");
}

TEST_F(ChampsimDeathTest, PhysicalMemoryThatTheMapDoesNotHaveIsSaidBeforeTheFirstAccess) {
  std::string small = kSystem;
  small.replace(small.find("1GiB"), 4, "512MiB");
  write("small.json", small);
  set("CXLOOM_SYSTEM", folder_ + "small.json");
  EXPECT_EXIT(open({}), testing::ExitedWithCode(2), "physical_memory has 1073741824 bytes: ");
}

TEST_F(ChampsimDeathTest, AnAddressThatNoMemoryHasEndsTheProgram) {
  channel above;
  const auto controller = open({&above});
  above.RQ.push_back(line(std::uint64_t{1} << 40));
  EXPECT_EXIT(controller->_operate(), testing::ExitedWithCode(2), "cxloom: ");
}

}  // namespace
