#include "system/run/livelock_watch.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/schema.hpp"
#include "core/support/errors.hpp"
#include "core/support/system.hpp"
#include "device/requester/requester.hpp"
#include "kernel/kernel.hpp"
#include "memory/media/context.hpp"
#include "memory/media/media.hpp"
#include "system/kinds/registry.hpp"
#include "workload/pattern/share.hpp"

namespace cxloom::test {
namespace {

using namespace literals;

/// What a run ends with, played in slices of so many events.
std::string failure_of(const SpecBuilder& system, std::uint64_t slice = ~std::uint64_t{0},
                       const Registry& kinds = Running::registry()) {
  Running run(system, kinds);
  try {
    while (!run.simulation().advance(Time::max(), slice)) {
    }
  } catch (const SimulationError& error) {
    return error.what();
  }
  return "";
}

/// Reads, one at a time, over two links of 12 us in each direction.
SpecBuilder slow(std::uint64_t reads, int limit) {
  SpecBuilder system;
  system.device("host", "host", {{"queue", 1}}).device("sw", "switch").device("mem", "memory");
  for (const auto& [a, b] : {std::pair{"host", "sw"}, std::pair{"sw", "mem"}})
    system.link(a, b, {{"delay", "12us"}, {"bandwidth", "64GB/s"}});
  system.region({"mem"});
  system.replay("host", std::vector<Access>(reads, access_to(0)));
  return system.run_with({{"livelock_deliveries", limit}});
}

// The first read's messages leave a link shortly after 0, 12, 24 and 36 us, and its answer is there after 48:
// no epoch ends with an answer before the fifth. Counting begins with the end of the first epoch, at 10 us;
// the third message after that has passed when the fourth ends. Nothing happens in the epoch from 50 to 60
// us, where counting would begin for the second read: it begins behind that of the second message, and two
// come before the answer.
TEST(LivelockWatch, CountsWhatLinksDeliverWhileNoAnswerComes) {
  const std::string why = failure_of(slow(3, 3));
  EXPECT_TRUE(contains(why, "livelock: no request has completed while links delivered 3 messages (at 40us, "))
      << why;
  EXPECT_TRUE(contains(why, "1 request under way")) << why;
  EXPECT_EQ(failure_of(slow(3, 4)), "");
  EXPECT_TRUE(contains(failure_of(slow(3, 2)), "(at 30us, "));
  EXPECT_TRUE(contains(failure_of(slow(3, 1)), "(at 20us, "));
}

TEST(LivelockWatch, DoesNotDependOnSlices) {
  for (const int limit : {1, 2, 3, 4}) {
    const std::string whole = failure_of(slow(3, limit));
    for (const std::uint64_t slice : {1, 2, 3, 7, 1000})
      EXPECT_EQ(failure_of(slow(3, limit), slice), whole) << limit;
    Running by_time(slow(3, limit));
    std::string text;
    try {
      for (Time end = 7_us; !by_time.simulation().run_until(end); end += 7_us) {
      }
    } catch (const SimulationError& error) {
      text = error.what();
    }
    EXPECT_EQ(text, whole) << limit;
  }
}

TEST(LivelockWatch, LetsTimePassInWhichNothingHappens) {
  // Far more than what a run is given up after, were it counted. Of the four messages, two go when counting
  // has begun.
  SpecBuilder system;
  system.device("host", "host").device("mem", "memory").link("host", "mem", {{"delay", "10s"}});
  system.region({"mem"}).replay("host", {access_to(0), access_to(64)});
  EXPECT_EQ(failure_of(system.run_with({{"livelock_deliveries", 3}})), "");
}

// A warm-up of one request is rounded up to a descriptor, which takes 32,768 requests and many epochs.
TEST(LivelockWatch, KnowsAWarmUpThatIsRoundedUpToAWholeAccess) {
  for (const int warmup : {1, 32'768}) {
    SpecBuilder system;
    system.device("host", "host").device("mem", "memory", {{"capacity", "4MiB"}}).link("host", "mem");
    system.region({"mem"}).work("host", {{"pattern", "copy"},
                                         {"footprint", "1MiB"},
                                         {"size", "1MiB"},
                                         {"lines_in_flight", 4},
                                         {"requests", 1}});
    EXPECT_EQ(failure_of(system.run_with({{"warmup", warmup}, {"livelock_deliveries", 100}})), "") << warmup;
  }
}

TEST(LivelockWatch, TheTimeOfARunIsThatOfItsLastEvent) {
  Running run(slow(1, 4));
  run.to_end();
  EXPECT_EQ(run.simulation().now(), run.completed(0));
}

/// Takes accesses and answers none: it goes on with itself for ever.
class Spinning final : public Media {
 public:
  struct Params {
    Time step;
    static void describe(Schema<Params>& schema) {
      schema.doc("Answers nothing.");
      schema.field("step", &Params::step).doc("Between its events.");
    }
  };
  Spinning(const Params& params, const MediaContext& context)
      : kernel_(context.kernel), source_(context.kernel.new_source()), step_(params.step) {}
  std::string name() const override { return "spinning"; }
  void access(Message& /*message*/, Address /*address*/, Time ready) override {
    kernel_.schedule(ready, source_, *this, 0);
  }
  void wake(std::uint8_t /*kind*/, std::uint64_t /*payload*/) override {
    kernel_.schedule(kernel_.now() + step_, source_, *this, 0);
  }

 private:
  Kernel& kernel_;
  EventSource source_;
  Time step_;
};

std::string failure_of_spinning(const char* step, std::uint64_t slice = ~std::uint64_t{0}) {
  Registry kinds = builtin_registry();
  kinds.media.add<Spinning>("spinning");
  SpecBuilder system;
  system.device("host", "host")
      .device("mem", "memory",
              {{"capacity", "1MiB"}, {"media", Value::Map{{"kind", "spinning"}, {"step", step}}}})
      .link("host", "mem")
      .region({"mem"})
      .replay("host", {access_to(0)});
  return failure_of(system, slice, kinds);
}

// Counting begins at 10 us, and 10,000 epochs of 10 us more are given.
TEST(LivelockWatch, SeesEventsThatBringNothing) {
  const std::string why = failure_of_spinning("3us");
  EXPECT_TRUE(contains(why,
                       "livelock: no request has completed and no message was delivered in 10000 spans "
                       "of 10us in which something happened (at 100010us, "))
      << why;
  EXPECT_EQ(failure_of_spinning("3us", 777), why);
}

TEST(LivelockWatch, SeesEventsWithWhichNoTimePasses) {
  const std::string why = failure_of_spinning("0ns");
  EXPECT_TRUE(contains(why, "livelock: no request has completed in 67108864 events at one instant (at 50ns"))
      << why;
}

// Requests that take no time complete for ever, and what is waited for is a time.
TEST(LivelockWatch, SeesRequestsWithWhichNoTimeOfAWarmUpPasses) {
  Running running(slow(1, 3));
  const Kernel kernel;
  for (const bool warms_up : {false, true}) {
    RunParams run;
    if (warms_up) run.warmup_time = 20_us;
    LivelockWatch watch(running.simulation().system(), run);
    std::string why;
    for (int look = 0; look < 3 && why.empty(); ++look) {
      watch.heard(1000);
      why = watch.look_at_instant(kernel, LivelockWatch::kMostAtOnce / 2);
    }
    EXPECT_EQ(why, warms_up
                       ? "requests take no time, so that run.warmup_time does not end: 67108864 events at "
                         "one instant"
                       : "");
  }
}

/// Hosts that read a memory, each so often a trace of so many accesses. Nothing takes any time.
struct Timeless {
  SpecBuilder system;
  std::map<std::string, std::uint64_t> lengths = {};

  TraceOpener traces() const {
    return [lengths = lengths](const std::string& host) {
      const auto again = [length = lengths.at(host)] {
        return [length, given = false](std::vector<Access>& batch) mutable {
          if (std::exchange(given, true)) return false;
          batch.assign(length, access_to(0));
          return true;
        };
      };
      return TraceFeed{again(), {}, again};
    };
  }
};

Timeless timeless(const std::vector<std::pair<std::uint64_t, Value>>& lengths_and_rounds) {
  Timeless made;
  SpecBuilder& system = made.system;
  const Value::Map media{{"kind", "fixed"}, {"latency", "0ns"}, {"bandwidth", "unlimited"}};
  system.device("sw", "switch", {{"switching_time", "0ns"}});
  system.device("mem", "memory", {{"controller_time", "0ns"}, {"media", media}});
  const Value::Map link{{"port_delay", "0ns"}, {"bandwidth", "unlimited"}};
  system.link("sw", "mem", link).region({"mem"});
  for (const auto& [length, rounds] : lengths_and_rounds) {
    const std::string host = "host" + std::to_string(made.lengths.size());
    system.device(host, "host", {{"process_time", "0ns"}, {"queue", 4}}).link(host, "sw", link);
    system.work(host, {{"trace", "in memory"}, {"repeat", rounds}});
    made.lengths[host] = length;
  }
  return made;
}

struct Verdict {
  std::string why;
  std::vector<std::uint64_t> issued;  // by then
};

/// What a watch says that looks after each thousand events, and takes them for as many as there can be.
Verdict verdict_at_an_instant(const Timeless& timeless, int looks) {
  Collector collector(true);
  const Registry& kinds = Running::registry();
  Simulation simulation(kinds, Spec::read(timeless.system.value(), kinds), timeless.traces(), collector);
  const Kernel at_zero;
  const RunParams run;
  LivelockWatch watch(simulation.system(), run);
  Verdict verdict;
  for (int look = 0; look < looks && verdict.why.empty(); ++look) {
    simulation.advance(Time::max(), 1000);
    EXPECT_EQ(simulation.now(), Time{});
    watch.heard(1);
    verdict.why = watch.look_at_instant(at_zero, LivelockWatch::kMostAtOnce);
  }
  for (const auto& [component, requester] : simulation.system().roles().all<Requester>()) {
    if (requester->has_work()) verdict.issued.push_back(requester->progress().issued);
  }
  return verdict;
}

TEST(LivelockWatch, SeesWorkWithoutAnEndWithWhichNoTimePasses) {
  const Verdict alone = verdict_at_an_instant(timeless({{3, "forever"}}), 10);
  EXPECT_EQ(
      alone.why,
      "the requests of 'host0', the same again and again, take no time: 67108864 events at one instant");
  // Within an instant events go by their senders: the first keeps the other from its turn.
  const Verdict beside = verdict_at_an_instant(timeless({{3, "forever"}, {500, 10}}), 10);
  EXPECT_EQ(beside.why, alone.why);
  EXPECT_LT(beside.issued.at(1), 5000);
}

TEST(LivelockWatch, LetsWorkWithAnEndComeToIt) {
  EXPECT_EQ(verdict_at_an_instant(timeless({{3, 1'000'000}}), 50).why, "");
  // Beside work without an end: as long as there is some.
  const Verdict beside = verdict_at_an_instant(timeless({{500, 10}, {3, "forever"}}), 200);
  EXPECT_TRUE(contains(beside.why, "the requests of 'host1', the same")) << beside.why;
  EXPECT_EQ(beside.issued.at(0), 5000);
}

// Behind a part of a round that takes no time may be one that does.
TEST(LivelockWatch, WaitsForAWholeRoundAtOneInstant) {
  const Verdict verdict = verdict_at_an_instant(timeless({{20'000, "forever"}}), 1000);
  EXPECT_TRUE(contains(verdict.why, "take no time")) << verdict.why;
  EXPECT_GE(verdict.issued.at(0), 40'000);
  EXPECT_LT(verdict.issued.at(0), 45'000);
}

/// Two hosts that share an object under a lock. What their caches have takes no time, or some.
SpecBuilder shared(const char* access_time) {
  SpecBuilder system;
  const Value::Map cache{{"size", "4KiB"}, {"ways", 8}, {"access_time", access_time}};
  system.device("sw", "switch").device("pool", "memory", {{"dcoh", Value::Map{}}}).link("sw", "pool");
  system.region({"pool"}, {{"coherence", "hdm-db"}});
  for (const char* const host : {"host0", "host1"}) {
    system.device(host, "host", {{"process_time", "0ns"}, {"cache", cache}}).link(host, "sw");
    system.work(host, {{"pattern", "share"}, {"protocol", "lock"}, {"size", "64B"}, {"requests", 10}});
  }
  return system;
}

// The first host that waits for the lock has the line of who is served in its cache, and polls that before
// the other's store can come.
TEST(LivelockWatch, SeesPollsWithWhichNoTimePasses) {
  EXPECT_EQ(failure_of(shared("1ns")), "");
  Running running(shared("0ns"));
  Simulation& simulation = running.simulation();
  RunParams run;
  LivelockWatch watch(simulation.system(), run);
  std::string why;
  for (int look = 0; look < 20 && why.empty(); ++look) {
    simulation.advance(Time::max(), Share::kManyPolls);
    watch.heard(1);
    why = watch.look_at_instant(simulation.kernel(), LivelockWatch::kMostAtOnce);
  }
  EXPECT_EQ(
      why, "the requests of 'host0', the same again and again, take no time: 67108864 events at one instant");
}

}  // namespace
}  // namespace cxloom::test
