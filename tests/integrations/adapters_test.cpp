// The adapters against stand-ins of their libraries.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "core/support/errors.hpp"
#include "core/support/files.hpp"
#include "core/support/media_bench.hpp"
#include "integrations/dramsim3/dramsim3_media.hpp"
#include "integrations/ramulator2/ramulator2_media.hpp"

namespace cxloom::integrations {
namespace {

using namespace literals;
using test::contains;
using test::write_file;

constexpr auto kWrite = Opcode::kMemWr;

// --- DRAMsim3 --------------------------------------------------------------------------------------------

class Dramsim3Test : public testing::Test {
 protected:
  using Bench = test::MediaBench<Dramsim3Media>;
  Dramsim3Test() { dramsim3::behaviour = {}; }

  static constexpr const char* kWhole =
      "[dram_structure]\nprotocol = DDR4 ; a comment\nbankgroups = 4\nbanks_per_group = 4\nBL = 8\n"
      "[timing]\ntCK = 0.416\ntREFI = 9375\n[system]\nchannel_size = 8192\naddress_mapping = rochrababgco\n";
  static Dramsim3Params params(const std::string& text = kWhole) {
    Dramsim3Params made;
    made.config = write_file("dramsim3.ini", text);
    return made;
  }
  static std::string problem(const std::string& text) {
    const InputError error = test::input_error([&] { Bench bench(params(text)); });
    EXPECT_EQ(error.path(), "config");
    return error.what();
  }
};

TEST_F(Dramsim3Test, AnswersAfterTheLibrarysLatency) {
  Bench bench(params());
  const Message& read = bench.access(0, 0_ns);
  const Message& write = bench.access(64, 0_ns, kWrite);
  bench.run();
  EXPECT_EQ(bench.latency(read), Time{48 * 416});
  EXPECT_EQ(bench.latency(write), Time{416});
}

TEST_F(Dramsim3Test, SeveralReadsOfALineAreAnsweredInTheirOrder) {
  Bench bench(params());
  const Message& first = bench.access(0, 0_ns);
  const Message& other = bench.access(64, 1_ns);
  const Message& second = bench.access(0, 5_ns);  // joins the first in the library
  const Message& write = bench.access(0, 6_ns, kWrite);
  bench.run();
  EXPECT_EQ(bench.done.at(&first), Time{48 * 416});
  EXPECT_EQ(bench.done.at(&second), Time{48 * 416});
  EXPECT_EQ(bench.done.at(&other), Time{51 * 416});
  EXPECT_EQ(bench.done.at(&write), Time{16 * 416}) << "a write has an order of its own";
  // Apart in time, each read of the line has its own latency.
  const Message& later = bench.access(0, 1_us);
  bench.run();
  EXPECT_LE(bench.latency(later), Time{49 * 416});
}

TEST_F(Dramsim3Test, RetriesWhatIsRefused) {
  dramsim3::behaviour.queue = 4;
  Bench bench(params());
  for (std::uint64_t i = 0; i < 100; ++i) bench.access(i * 64, 0_ns);
  bench.run();
  EXPECT_EQ(bench.done.size(), 100U);
  EXPECT_EQ(bench.end(), Time{(24 * 49 + 48) * 416});
}

TEST_F(Dramsim3Test, ItsHangsAndErrorsAreOurs) {
  dramsim3::behaviour.hangs_after = 10;
  Dramsim3Params impatient = params();
  impatient.watchdog = 2000;
  Bench hanging(impatient);
  for (std::uint64_t i = 0; i < 20; ++i) hanging.access(i * 64, 0_ns);
  EXPECT_THROW(hanging.run(), SimulationError);
  EXPECT_EQ(hanging.done.size(), 10U);
  dramsim3::behaviour = {};
  dramsim3::behaviour.throws_at = 5;
  Bench failing(params());
  failing.access(0, 0_ns);
  try {
    failing.run();
    ADD_FAILURE() << "no SimulationError";
  } catch (const SimulationError& error) {
    EXPECT_TRUE(contains(error.what(), "DRAMsim3 failed in its cycle 5: a bank has lost its way"));
  }
}

TEST_F(Dramsim3Test, ReadsTheClockAsTheFractionThatItIs) {
  std::string text = kWhole;
  text.replace(text.find("0.416"), 5, "0.3125");
  text.replace(text.find("8192"), 4, "32768");
  const Dramsim3Config config(params(text).config);
  EXPECT_EQ(config.period().start_of(2), 625_ps);
  EXPECT_EQ(config.period().start_of(2'000'000), 625_us);
  EXPECT_EQ(config.bytes(), 64U);
  EXPECT_EQ(config.capacity(), 32ULL << 30U);
  EXPECT_EQ(config.idle_period(), 9372U)
      << "four ranks, refreshed in turn, the interval cut into whole cycles";
}

TEST_F(Dramsim3Test, RefusesConfigurationsThatWouldEndTheProcess) {
  const auto with = [](const std::string& from, const std::string& to) {
    std::string text = kWhole;
    return text.replace(text.find(from), from.size(), to);
  };
  EXPECT_TRUE(
      contains(problem(with("DDR4 ", "DDR5 ")), "dramsim3.ini:2: dram_structure.protocol is not known"));
  EXPECT_TRUE(contains(problem(with("DDR4 ", "HMC ")), "not known"));
  EXPECT_TRUE(contains(problem(with("rochrababgco", "rochrababg")), "not a mapping"));
  EXPECT_TRUE(contains(problem(with("rochrababgco", "rochrababgro")), "not a mapping"));
  EXPECT_TRUE(contains(problem(with("0.416", "fast")), "timing.tCK is not a time, found 'fast'"));
  EXPECT_TRUE(contains(problem(with("0.416", "0")), "not a time"));
  EXPECT_TRUE(contains(problem(with("bankgroups = 4", "bankgroups = 3")), "a power of two"));
  EXPECT_TRUE(contains(problem(with("channel_size = 8192", "channel_size = 64")), "less than one rank"));
  EXPECT_TRUE(contains(problem(with("address_mapping = rochrababgco", "refresh_policy = NEVER")),
                       "RANK_LEVEL_STAGGERED"));
  EXPECT_TRUE(contains(problem(with("address_mapping = rochrababgco", "queue_structure = PER_BANKS")),
                       "did you mean 'PER_BANK'"));
  EXPECT_TRUE(contains(problem(with("[timing]", "timing:")), "dramsim3.ini:6: not an entry"));
  EXPECT_TRUE(contains(problem(""), "cannot be read"));
  Dramsim3Params missing;
  missing.config = "/nowhere/dramsim3.ini";
  EXPECT_TRUE(contains(test::input_error([&] { Bench bench(missing); }).what(), "/nowhere/dramsim3.ini"));
}

// --- Ramulator 2 -----------------------------------------------------------------------------------------

class Ramulator2Test : public testing::Test {
 protected:
  using Bench = test::MediaBench<Ramulator2Media>;
  Ramulator2Test() { Ramulator::behaviour = {}; }

  static constexpr const char* kWhole =
      "frontend.impl: External\nmemory_system.impl: GenericDRAM\n"
      "memory_system.controllers.0.dram.channel_width: 32\n"
      "memory_system.controllers.0.dram.org.count.0: 8\nmemory_system.controllers.0.dram.org.count.1: "
      "268435456\n";
  static Ramulator2Params params(const std::string& text = kWhole) {
    Ramulator2Params made;
    made.config = write_file("ramulator2.yaml", text);
    return made;
  }
};

TEST_F(Ramulator2Test, AnswersAfterTheLibrarysLatency) {
  Bench bench(params());
  const Message& read = bench.access(0, 0_ns);
  const Message& write = bench.access(64, 0_ns, kWrite);
  const Message& merged = bench.access(64, 0_ns, kWrite);  // done while it is handed over
  bench.run();
  EXPECT_EQ(bench.latency(read), Time{48 * 416});
  EXPECT_EQ(bench.latency(write), Time{2 * 416});
  EXPECT_EQ(bench.latency(merged), Time{416});
}

TEST_F(Ramulator2Test, RetriesWhatIsRefusedAndLosesNothing) {
  Ramulator::behaviour.queue = 4;
  Bench bench(params());
  for (std::uint64_t i = 0; i < 400; ++i)
    bench.access(i % 16 * 64, 0_ns, i % 3 == 0 ? kWrite : Opcode::kMemRd);
  bench.run();
  EXPECT_EQ(bench.done.size(), 400U);
}

TEST_F(Ramulator2Test, ItsHangsAreOurs) {
  Ramulator::behaviour.hangs = true;
  Bench bench(params());
  bench.access(0, 0_ns);
  try {
    bench.run();
    ADD_FAILURE() << "no SimulationError";
  } catch (const SimulationError& error) {
    EXPECT_TRUE(contains(error.what(), "Ramulator 2 hangs"));
  }
}

TEST_F(Ramulator2Test, RefusesConfigurationsThatCannotBe) {
  const auto problem = [](const std::string& text, Bytes capacity = Bytes{1ULL << 30U}) {
    const InputError error = test::input_error([&] { Bench bench(params(text), capacity); });
    EXPECT_EQ(error.path(), "config");
    return std::string(error.what());
  };
  EXPECT_TRUE(contains(problem(""), "cannot be read"));
  EXPECT_TRUE(contains(problem("no yaml"), "refuses its configuration: yaml"));
  EXPECT_TRUE(contains(problem("frontend.impl: SimpleO3\n"), "found 'SimpleO3'"));
  EXPECT_TRUE(contains(problem("frontend.impl: External\n"), "not a sequence"));
  EXPECT_TRUE(contains(problem(kWhole, Bytes{16ULL << 30U}), "8GiB"));
  std::string other = kWhole;
  other.replace(other.find("GenericDRAM"), 11, "Unknown");
  EXPECT_TRUE(contains(problem(other), "unknown implementation"));
  Ramulator2Params missing;
  missing.config = "/nowhere/config.yaml";
  EXPECT_TRUE(contains(test::input_error([&] { Bench bench(missing); }).what(), "/nowhere/config.yaml"));
}

}  // namespace
}  // namespace cxloom::integrations
