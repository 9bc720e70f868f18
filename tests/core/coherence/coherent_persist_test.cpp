// Persistent memory that is kept coherent (HDM-DB): what a flush takes, when it ends beside snoops, and what
// is left when the power fails: docs/model/persist.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "component/line_versions.hpp"
#include "core/support/coherence_flows.hpp"
#include "core/support/crash_systems.hpp"
#include "core/support/errors.hpp"
#include "core/support/failing_system.hpp"
#include "core/support/random_coherence.hpp"
#include "core/support/system.hpp"
#include "protocol/protocol_observer.hpp"
#include "system/crash/power_loss.hpp"

namespace cxloom::test {
namespace {

using namespace literals;

constexpr Time kLocal = kProcess + kCache;
/// A request that the home answers from memory, and the write of a modified line.
constexpr Time kCleanMiss = kThere + kMemoryRead + kWay;
constexpr Time kFlushTime = kThere + kMemoryWrite + kWay;
constexpr AccessKind kFlush = AccessKind::kFlush;

struct PersistStep {
  int host = 0;
  AccessKind kind = AccessKind::kRead;
  bool keeps = false;
  Time at = Time::max();  ///< by default 10 us behind the one before
};

Access access_of(const PersistStep& step, Time at) {
  Access access = access_to(0, step.kind);
  access.keeps = step.keeps;
  access.timed = true;
  access.timestamp = at;
  return access;
}

Value::Map persistent_home() {
  return {{"capacity", "1MiB"},
          {"controller_time", "40ns"},
          {"media", Value::Map{{"kind", "fixed"}, {"latency", "45ns"}, {"write_latency", "60ns"}}},
          {"dcoh", Value::Map{{"lookup_time", "7ns"}}}};
}

SpecBuilder persistent_hosts(int hosts, bool cached = true) {
  SpecBuilder system;
  system.device("mem", "memory", persistent_home()).device("bus", "bus", {{"bus_time", "0ns"}});
  system.link("bus", "mem", {{"port_delay", "0ns"}});
  for (int h = 0; h < hosts; ++h) {
    const std::string name = "h" + std::to_string(h);
    Value::Map host{{"process_time", "10ns"}};
    if (cached)
      host.emplace_back("cache", Value::Map{{"access_time", "12ns"}, {"size", "1KiB"}, {"ways", 0}});
    system.device(name, "host", host).link(name, "bus", {{"port_delay", "25ns"}});
  }
  return system.region({"mem"}, {{"coherence", "hdm-db"}, {"persistence", "media"}})
      .outputs({{"versions", true}, {"requests", true}});
}

/// Plays the steps, and gives the latency of each.
struct PersistSteps {
  PersistSteps(int hosts, std::vector<PersistStep> steps, bool cached = true) {
    SpecBuilder system = persistent_hosts(hosts, cached);
    std::vector<Time> at;
    for (std::size_t i = 0; i < steps.size(); ++i)
      at.push_back(steps[i].at == Time::max() ? 10_us * static_cast<std::int64_t>(i) : steps[i].at);
    for (int h = 0; h < hosts; ++h) {
      std::vector<Access> accesses;
      for (std::size_t i = 0; i < steps.size(); ++i) {
        if (steps[i].host == h) accesses.push_back(access_of(steps[i], at[i]));
      }
      // A last one of each, so that the window stays open.
      PersistStep last;
      Access end = access_of(last, 10_us * static_cast<std::int64_t>(steps.size() + 1));
      end.address = Address{0x10000 + 64 * static_cast<std::uint64_t>(h)};
      accesses.push_back(end);
      system.replay("h" + std::to_string(h), accesses, {{"replay", "timestamps"}});
    }
    run = std::make_unique<Running>(system);
    run->to_end();
    latency.resize(steps.size());
    for (std::size_t row = 0; row < run->table().rows(); ++row) {
      for (std::size_t i = 0; i < steps.size(); ++i) {
        if (run->created(row) == at[i] &&
            run->table().requester[row] == run->node("h" + std::to_string(steps[i].host)).index())
          latency[i] = run->latency(row);
      }
    }
  }

  std::uint32_t in_memory() const { return run->simulation().system().versions()->in_memory(LineAddress{0}); }

  std::unique_ptr<Running> run;
  std::vector<Time> latency;
};

TEST(CoherentPersist, AFlushOfAModifiedLineEndsWhenMemoryHasIt) {
  for (const bool keeps : {true, false}) {
    const PersistSteps steps(1, {{0, W}, {0, kFlush, keeps}, {0, R}, {0, kFlush, keeps}});
    EXPECT_EQ(steps.latency[0], kCleanMiss);
    EXPECT_EQ(steps.latency[1], kFlushTime);
    EXPECT_EQ(steps.latency[2], keeps ? kLocal : kCleanMiss);
    EXPECT_EQ(steps.latency[3], kLocal);  // it is clean
    EXPECT_EQ(steps.in_memory(), 1U);
  }
}

// The line stays exclusive: it is written again without a message.
TEST(CoherentPersist, ALineThatIsKeptIsWrittenAgainAtOnce) {
  const PersistSteps steps(1, {{0, W}, {0, kFlush, true}, {0, W}, {0, kFlush, true}});
  EXPECT_EQ(steps.latency[2], kLocal);
  EXPECT_EQ(steps.latency[3], kFlushTime);
  EXPECT_EQ(steps.in_memory(), 2U);
}

TEST(CoherentPersist, OthersNeedNotWaitForTheDataOfAFlushedLine) {
  const PersistSteps flushed(2, {{0, W}, {0, kFlush, true}, {1, R}});
  EXPECT_EQ(flushed.latency[2], kCleanMiss + kSnoop);
  const PersistSteps modified(2, {{0, W}, {1, R}});
  EXPECT_EQ(modified.latency[1], kCleanMiss + kSnoop + kWriteBack);
}

// A host flushes what its own caches have: there is no message that asks a home for more.
TEST(CoherentPersist, AFlushDoesNotReachTheCacheOfAnotherHost) {
  const PersistSteps steps(2, {{0, W}, {1, kFlush}});
  EXPECT_EQ(steps.latency[1], kLocal);
  EXPECT_EQ(steps.in_memory(), 0U);
}

// What a snoop has taken away is in memory before the flush behind it ends: the line is on its way out, and
// its Cmp is waited for.
TEST(CoherentPersist, AFlushWaitsForALineThatASnoopTakesAway) {
  // The snoop is with h0 at 10 us + p + c + w + l + w, and looked up c later.
  const Time snooped = 10_us + kThere + kWay + kCache;
  const PersistSteps steps(2, {{0, W}, {1, W}, {0, kFlush, false, snooped + 1_ns}});
  EXPECT_EQ(steps.latency[2], kWriteBack - 1_ns);
  EXPECT_EQ(steps.in_memory(), 1U);
}

// A snoop that comes while the flush is under way waits for it.
TEST(CoherentPersist, ASnoopWaitsForAFlush) {
  for (const bool keeps : {true, false}) {
    const Time flushed = 10_us + kFlushTime;
    const PersistSteps steps(2, {{0, W}, {0, kFlush, keeps}, {1, W, false, 10_us + 1_ns}});
    EXPECT_EQ(steps.latency[1], kFlushTime);
    EXPECT_EQ(steps.run->number({"versions", "stale_reads"}), 0);
    EXPECT_GT(steps.latency[2], flushed - 10_us - 1_ns);
    EXPECT_EQ(steps.in_memory(), 1U);
  }
}

TEST(CoherentPersist, AHostWithoutACacheWritesThroughTheHome) {
  const PersistSteps steps(1, {{0, kFlush}, {0, W}}, false);
  const Time write = kProcess + kWay + kLookup + kMemoryWrite + kWay;
  EXPECT_EQ(steps.latency[0], write);
  EXPECT_EQ(steps.latency[1], write);
  EXPECT_EQ(steps.in_memory(), 2U);
}

TEST(CoherentPersist, IsRefusedWhereNobodyCouldSayWhatIsDurable) {
  SpecBuilder buffered;
  buffered.device("h0", "host").device("sw", "switch", {{"persist_buffer", Value::Map{}}});
  buffered.device("mem", "memory", persistent_home()).link("h0", "sw").link("sw", "mem");
  buffered.region({"mem"}, {{"coherence", "hdm-db"}, {"persistence", "media"}}).replay("h0", {flush_of(0)});
  const std::string why = refusal_of(buffered);
  EXPECT_TRUE(contains(why, "devices.sw.persist_buffer")) << why;
  EXPECT_TRUE(contains(why, "kept coherent")) << why;

  SpecBuilder host;
  host.device("h0", "host", {{"memory", Value::Map{{"capacity", "1MiB"}}}, {"home_agent", Value::Map{}}});
  host.region({"h0"}, {{"coherence", "hdm-h"}, {"home", "h0"}, {"persistence", "media"}});
  host.replay("h0", {access_to(0)});
  EXPECT_TRUE(contains(refusal_of(host), "persistence")) << refusal_of(host);

  Access brings = flush_of(0);
  brings.brings = true;
  const std::string data = refusal_of(persistent_hosts(1).replay("h0", {brings}));
  EXPECT_TRUE(contains(data, "brings")) << data;
}

// ---- Random systems

/// Hosts, some of them without a cache, before one or two memories with small filters, in which something may
/// fail.
SpecBuilder random_persistent_hosts(std::uint64_t seed, bool fails) {
  Draw draw(seed, "coherent persistence");
  SpecBuilder system;
  system.device("sw", "switch", {{"switching_time", draw.ns(20)}});
  const std::uint64_t lines = draw.between(1, 6);
  std::vector<std::string> memories;
  for (std::uint64_t m = draw.between(1, 2); m > 0; --m) {
    const std::string name = "mem" + std::to_string(m);
    Value::Map media{{"kind", "fixed"}, {"latency", draw.ns(100)}, {"write_latency", draw.ns(400)}};
    Value::Map agent = drawn_home(draw, "hdm-db", lines);
    if (fails) agent.emplace_back("answer_timeout", std::to_string(draw.between(1, 5)) + "us");
    system.device(name, "memory", {{"capacity", "1MiB"}, {"media", media}, {"dcoh", agent}});
    system.link("sw", name, {{"port_delay", draw.ns(30)}});
    memories.push_back(name);
  }
  system.region(
      memories,
      {{"coherence", "hdm-db"}, {"persistence", "media"}, {"interleave", "64B"}, {"policy", "weighted"}});
  const std::uint64_t hosts = draw.between(1, 3);
  for (std::uint64_t h = 0; h < hosts; ++h) {
    const std::string name = "h" + std::to_string(h);
    Value::Map host{{"process_time", draw.ns(10)}, {"queue", static_cast<std::int64_t>(draw.between(1, 6))}};
    if (fails) host.emplace_back("completion_timeout", std::to_string(draw.between(1, 5)) + "us");
    CleanEvictions notices{};
    if (!draw.chance(6)) add_drawn_cache(draw, host, notices);
    system.device(name, "host", host).link(name, "sw", {{"port_delay", draw.ns(30)}});
    std::vector<Access> program;
    for (int i = 0; i < 50; ++i) {
      Access access = access_to(64 * draw.below(lines), draw.chance(2) ? W : R);
      if (draw.chance(3)) access.kind = kFlush;
      access.keeps = access.kind == kFlush && draw.chance(2);
      if (draw.chance(10)) access = part_of(access_to(access.address.value(), AccessKind::kAtomic), 8);
      if (draw.chance(3)) access = behind_fence(access);
      program.push_back(access);
    }
    system.replay(name, program);
  }
  if (fails) {
    const std::uint64_t at = draw.between(1, 5'000);
    const std::string& memory = memories[draw.below(memories.size())];
    const std::string host = "h" + std::to_string(draw.below(hosts));
    const bool device = draw.chance(2);
    const auto when = [](std::uint64_t ns) { return std::to_string(ns) + "ns"; };
    const char* known = draw.one_of({"0ns", "100ns", "2us"});
    system.event(device ? fail_device(when(at), memory.c_str(), known)
                        : fail_link(when(at), host.c_str(), "sw", known));
    if (!draw.chance(3)) {
      const std::uint64_t back = at + draw.below(4'000);
      system.event(device ? repair_device(when(back), memory.c_str())
                          : repair_link(when(back), host.c_str(), "sw"));
    }
  }
  return system.outputs({{"versions", true}, {"requests", true}});
}

/// Knows of each store of a cache when memory had it for certain.
class StoreWitness final : public ProtocolObserver, public VersionWatcher {
 public:
  explicit StoreWitness(Simulation& simulation) : simulation_(simulation) {
    simulation.watch(static_cast<ProtocolObserver*>(this));
    simulation.watch(static_cast<VersionWatcher*>(this));
  }

  void performed(NodeId node, LineAddress line, AccessKind kind, Time now) override {
    if (kind == R) return;
    std::vector<Store>& stores = lines_[line.number()].stores;
    stores.push_back({node, now, Time::max()});
  }
  // The line is in one cache: what leaves with the data is all that was stored so far.
  void leaves(const Message& message) override {
    if (message.opcode != Opcode::kMemWr || message.size < kLineBytes) return;
    Line& line = lines_[LineAddress::of(message.address).number()];
    line.covers[message.version] = line.stores.size();
  }
  void returns(const Message& /*message*/) override {}
  void stored(const Message& message) override {
    Line& line = lines_[LineAddress::of(message.address).number()];
    for (std::size_t i = 0; i < line.covers[message.version]; ++i)
      line.stores[i].durable = std::min(line.stores[i].durable, simulation_.now());
  }

  /// A flush that ended with an error has told of what the host stored before that.
  void told(NodeId node, LineAddress line, Time ended) {
    for (Store& store : lines_[line.number()].stores) {
      if (store.node == node && store.at < ended) store.durable = Time{};
    }
  }
  /// A flush of the line that began and ended then ended too early: a store of that host is behind.
  bool too_early(NodeId node, LineAddress line, Time began, Time ended) {
    return std::ranges::any_of(lines_[line.number()].stores, [&](const Store& store) {
      return store.node == node && store.at < began && store.durable > ended;
    });
  }

 private:
  struct Store {
    NodeId node;
    Time at;
    Time durable;
  };
  struct Line {
    std::vector<Store> stores;
    std::map<std::uint32_t, std::size_t> covers;  // by version
  };

  Simulation& simulation_;
  std::map<std::uint64_t, Line> lines_;
};

/// What is wrong with a run; empty: nothing.
std::string wrong_beside_coherence(Running& run) {
  StoreWitness witness(run.simulation());
  std::size_t lost = 0;
  at_every_event(run.simulation(), [&] { lost += lost_at_power_loss(run.simulation().system()).size(); });
  run.to_end();
  if (lost > 0) return "lines are lost";
  if (run.number({"versions", "stale_reads"}) > 0) return "stale reads";
  if (run.number({"versions", "lost_updates"}) > 0) return "lost updates";
  const RequestTable& table = run.table();
  for (const bool failed : {true, false}) {
    for (std::size_t row = 0; row < table.rows(); ++row) {
      if (table.kind[row] != static_cast<std::uint8_t>(kFlush) || (table.error[row] != 0) != failed) continue;
      const NodeId node{table.requester[row]};
      const LineAddress line = LineAddress::of(Address{table.address[row]});
      if (failed) {
        witness.told(node, line, run.completed(row));
      } else if (witness.too_early(node, line, run.created(row), run.completed(row))) {
        return "a flush that ended too early";
      }
    }
  }
  return {};
}

void play_coherent_persistence(bool fails, std::uint64_t systems) {
  const char* const given = std::getenv("CXLOOM_PERSIST_SYSTEMS");
  if (given) systems = std::strtoull(given, nullptr, 10);
  for (std::uint64_t seed = 1; seed <= systems; ++seed) {
    try {
      Running run(random_persistent_hosts(seed, fails));
      ASSERT_EQ(wrong_beside_coherence(run), "") << "seed " << seed;
    } catch (const std::exception& error) {
      FAIL() << "seed " << seed << ": " << error.what();
    }
  }
}

TEST(CoherentPersistRandom, NothingThatWasFlushedIsLost) { play_coherent_persistence(false, 60); }

TEST(CoherentPersistRandom, NorBesideFailures) { play_coherent_persistence(true, 60); }

}  // namespace
}  // namespace cxloom::test
