#include "integrations/common/clocked_media.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "core/support/errors.hpp"
#include "core/support/media_bench.hpp"

namespace cxloom::integrations {
namespace {

using namespace literals;
using test::Messages;

/// What a library does, and what it was asked: for all instances, as tests have one at a time.
struct Script {
  Period period{416, 1};
  std::uint64_t read_cycles = 10;
  std::uint64_t queue = 8;
  std::uint64_t bytes = 64;
  std::uint64_t idle_period = 0;
  bool hangs = false;
  std::string fails;

  std::uint64_t ticks = 0;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> sent;  // cycle and address
};
Script script;

struct ScriptedParams : ClockedParams {
  static void describe(Schema<ScriptedParams>& schema) { describe_in(schema); }
};

/// Reads take some cycles, refreshes every `idle_period` double that for the requests that meet them.
class Scripted {
 public:
  static constexpr const char* kName = "the library";
  static constexpr int kDoneCycle = 0;
  explicit Scripted(const ScriptedParams& params) {
    if (params.config == "bad") throw std::runtime_error("no such bank");
  }
  Period period() const { return script.period; }
  std::uint64_t bytes() const { return script.bytes; }
  std::uint64_t capacity() const { return 1ULL << 30U; }
  std::uint64_t idle_period() const { return script.idle_period; }
  bool send(std::uint64_t address, bool /*write*/, std::uint64_t tag) {
    if (pending_.size() == script.queue) return false;
    const bool refresh = script.idle_period > 0 && cycle_ % script.idle_period < 5;
    pending_.emplace_back(cycle_ + (refresh ? 2 : 1) * script.read_cycles, tag);
    script.sent.emplace_back(cycle_, address);
    return true;
  }
  void tick() {
    if (!script.fails.empty()) throw std::runtime_error(script.fails);
    for (std::size_t i = 0; i < pending_.size();) {
      if (script.hangs || pending_[i].first > cycle_) {
        ++i;
        continue;
      }
      const std::uint64_t tag = pending_[i].second;
      pending_.erase(pending_.begin() + static_cast<std::ptrdiff_t>(i));
      done(tag);
    }
    ++cycle_;
    ++script.ticks;
  }
  std::function<void(std::uint64_t tag)> done;

 private:
  std::vector<std::pair<std::uint64_t, std::uint64_t>> pending_;
  std::uint64_t cycle_ = 0;
};

using Bench = test::MediaBench<ClockedMedia<Scripted, ScriptedParams>>;

class ClockedMediaTest : public testing::Test {
 protected:
  ClockedMediaTest() { script = {}; }
  static ScriptedParams params(std::string config = "file") {
    ScriptedParams made;
    made.config = std::move(config);
    return made;
  }
};

TEST(Period, StartsAreExactToTheLastCycle) {
  const Period whole{416, 1};
  EXPECT_EQ(whole.start_of(1'000'000'000'000), Time{416'000'000'000'000});
  const Period third{1000, 3};
  EXPECT_EQ(third.start_of(1), Time{334});
  EXPECT_EQ(third.start_of(3'000'000'000'000), Time{1'000'000'000'000'000});
  for (const Period period : {whole, third, Period{3125, 10}, Period{2500, 1}, Period{1, 3}}) {
    std::uint64_t cycle = 0;
    for (std::int64_t ps = 0; ps < 20'000; ++ps) {
      while (period.start_of(cycle) < Time{ps}) ++cycle;
      ASSERT_EQ(period.first_from(Time{ps}), cycle)
          << ps << " of " << period.numerator << '/' << period.denominator;
    }
  }
}

TEST_F(ClockedMediaTest, AnAccessWaitsForTheNextCycleAndTakesWhatTheLibraryTakes) {
  Bench bench(params());
  const Message& message = bench.access(4096, 1_ns);  // cycle 3 begins at 1.248 ns
  bench.run();
  EXPECT_EQ(bench.done.at(&message), Time{13 * 416});
  EXPECT_EQ(Messages::segment(message, Segment::kMediaQueue), Time{248});
  EXPECT_EQ(Messages::segment(message, Segment::kMedia), Time{10 * 416});
  EXPECT_EQ(script.sent, (std::vector<std::pair<std::uint64_t, std::uint64_t>>{{3, 4096}}));
}

TEST_F(ClockedMediaTest, AClockThatIsNoWholePicosecondsDoesNotDrift) {
  script.period = {3125, 10};  // 312.5 ps
  const Time ready = 625_ms;   // the start of cycle 2 x 10^9
  ScriptedParams skipping = params();
  skipping.idle_period = 1000;  // of which nearly all are skipped
  Bench far(skipping);
  const Message& message = far.access(0, ready);
  far.run();
  EXPECT_EQ(far.done.at(&message), ready + Time{3125});
  EXPECT_LT(script.ticks, 4000U);
}

TEST_F(ClockedMediaTest, WhatIsRefusedIsRetriedInOrder) {
  script.queue = 2;
  Bench bench(params());
  bench.open();
  for (std::uint64_t i = 0; i < 6; ++i) bench.access(i * 64, 0_ns);
  bench.run();
  ASSERT_EQ(script.sent.size(), 6U);
  for (std::uint64_t i = 0; i < 6; ++i) {
    EXPECT_EQ(script.sent[i].second, i * 64);
    // Two at a time; the next two are taken in the cycle after the tick that completed the others.
    EXPECT_EQ(script.sent[i].first, i / 2 * 11);
  }
  EXPECT_EQ(bench.measures()["refused"], 22);
  EXPECT_EQ(bench.done.size(), 6U);
}

TEST_F(ClockedMediaTest, AnAccessMayBeSeveralTransactionsAndIsDoneWithTheLast) {
  script.bytes = 32;
  script.queue = 3;
  Bench bench(params());
  const Message& message = bench.access(128, 0_ns, Opcode::kMemRd, 128);
  bench.run();
  std::vector<std::uint64_t> addresses;
  for (const auto& [cycle, address] : script.sent) addresses.push_back(address);
  EXPECT_EQ(addresses, (std::vector<std::uint64_t>{128, 160, 192, 224}));
  EXPECT_EQ(bench.done.at(&message), Time{21 * 416});
}

TEST_F(ClockedMediaTest, ATickHappensOnlyOnceWhenAnAccessComesInTheSameInstant) {
  Bench bench(params());
  const Message& first = bench.access(0, 0_ns);
  bench.run();
  const Time end = bench.kernel().now();
  const Message& second = bench.access(64, end);  // the cycle of this instant is over
  bench.run();
  EXPECT_EQ(bench.done.at(&first), Time{10 * 416});
  EXPECT_EQ(bench.done.at(&second), Time{21 * 416});
}

TEST_F(ClockedMediaTest, IdleTimeIsToldToTheLibraryBeforeTheNextAccess) {
  Bench bench(params());
  bench.access(0, 0_ns);
  bench.run();
  EXPECT_EQ(script.ticks, 11U) << "nothing is simulated while nothing is to be done";
  bench.access(0, Time{416 * 5000});
  bench.run();
  EXPECT_EQ(script.ticks, 5011U);
}

TEST_F(ClockedMediaTest, LongIdleTimesAreSkippedWithoutChangingTheRefreshThatAnAccessMeets) {
  const auto latencies = [this](std::uint64_t skipped_period) {
    script = {};
    script.idle_period = 1000;
    ScriptedParams with = params();
    with.idle_period = skipped_period;
    Bench bench(with);
    RandomStream random(9, "media", "test");
    std::vector<Time> found;
    Time now;
    for (int i = 0; i < 300; ++i) {
      now += Time{416 * static_cast<std::int64_t>(random.below(8000))};
      const Message& message = bench.access(0, now);
      bench.run();
      found.push_back(bench.latency(message));
      now = bench.kernel().now();
    }
    return std::pair{found, script.ticks};
  };
  const auto [every, all_ticks] = latencies(0);
  const auto [skipping, fewer_ticks] = latencies(1000);
  EXPECT_EQ(every, skipping);
  EXPECT_GT(all_ticks, 1'000'000U);
  EXPECT_LT(fewer_ticks, 800'000U);
}

TEST_F(ClockedMediaTest, AHangIsToldByTheLibrarysName) {
  script.hangs = true;
  ScriptedParams impatient = params();
  impatient.watchdog = 1000;
  Bench bench(impatient);
  bench.access(0, 0_ns);
  try {
    bench.run();
    ADD_FAILURE() << "no SimulationError";
  } catch (const SimulationError& error) {
    EXPECT_TRUE(test::contains(error.what(), "the library hangs"));
    EXPECT_TRUE(test::contains(error.what(), "1 transaction in it"));
  }
  EXPECT_LE(script.ticks, 1002U);
}

TEST_F(ClockedMediaTest, WhatTheLibraryThrowsEndsTheRunAndIsNoBug) {
  script.fails = "out of banks";
  Bench bench(params());
  bench.access(0, 0_ns);
  try {
    bench.run();
    ADD_FAILURE() << "no SimulationError";
  } catch (const SimulationError& error) {
    EXPECT_TRUE(test::contains(error.what(), "the library failed in its cycle 0: out of banks"));
  }
  const InputError refused = test::input_error([&] { Bench other(params("bad")); });
  EXPECT_EQ(refused.path(), "config");
  EXPECT_TRUE(test::contains(refused.what(), "no such bank"));
}

TEST_F(ClockedMediaTest, AMemoryLargerThanTheLibrarysIsRefused) {
  const InputError refused = test::input_error([&] { Bench bench(params(), Bytes{2ULL << 30U}); });
  EXPECT_TRUE(test::contains(refused.what(), "1GiB"));
}

TEST_F(ClockedMediaTest, ParametersAreChecked) {
  EXPECT_TRUE(
      test::contains(test::input_error([] { read_params<ScriptedParams>(Value::Map{}); }).what(), "config"));
  const Value::Map tiny{{"config", "x"}, {"watchdog", 0}};
  EXPECT_TRUE(
      test::contains(test::input_error([&] { read_params<ScriptedParams>(tiny); }).what(), "at least 1000"));
}

}  // namespace
}  // namespace cxloom::integrations
