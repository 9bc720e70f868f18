// Random systems with persist buffers in which links, switches and memories fail, are viral, and are repaired
// or not, and hosts crash. Nothing that was acknowledged as durable is lost at any event; every request ends
// once; reads get what is no older than what was answered; and what came back drains all that it has.
//
// CXLOOM_PERSIST_SYSTEMS says how many systems (default: a slice that takes seconds), CXLOOM_PERSIST_SEED
// where to begin. A failure names its seed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "core/support/crash_systems.hpp"
#include "core/support/errors.hpp"
#include "core/support/failing_system.hpp"
#include "core/support/random_coherence.hpp"
#include "device/switch/persist_domain.hpp"
#include "system/crash/power_loss.hpp"

namespace cxloom::test {
namespace {

std::uint64_t setting(const char* name, std::uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

/// What a seed stands for.
struct PersistCase {
  SpecBuilder system;
  std::size_t requests = 0;
  std::vector<std::string> buffered;  ///< switches with a buffer
  std::vector<std::string> emptied;   ///< those that drain all that they take
  bool comes_back = true;             ///< all that failed is repaired in the end
  bool crashes = false;               ///< a host does
};

/// A line of switches, some of them with a buffer, that are joined by a link, by two, or by way of one more
/// switch as well; hosts at the first of them, and memories at the last.
class FailingPersistence {
 public:
  FailingPersistence(std::uint64_t seed, std::string kind)
      : draw_(seed, "persist failures"), seed_(seed), kind_(std::move(kind)) {
    credits_ = draw_.chance(3);
    flits_ = draw_.chance(4);
  }

  PersistCase made() {
    write_switches();
    write_memories();
    write_hosts();
    write_events();
    write_clock();
    made_.system.outputs({{"versions", true}, {"requests", true}});
    made_.system.run_with({{"seed", static_cast<std::int64_t>(seed_ % 1000)}});
    return std::move(made_);
  }

 private:
  void write_switches() {
    const std::uint64_t count = draw_.between(1, 3);
    for (std::uint64_t i = 1; i <= count; ++i) {
      const std::string name = "sw" + std::to_string(i);
      Value::Map params{{"switching_time", draw_.ns(20)},
                        {"queueing", draw_.one_of({"output", "output", "fifo", "voq"})}};
      if (draw_.chance(2) || (i == count && made_.buffered.empty())) {
        const bool forwards = draw_.chance(2);
        params.emplace_back("persist_buffer", drawn_buffer(forwards));
        made_.buffered.push_back(name);
        if (!forwards) made_.emptied.push_back(name);
      }
      made_.system.device(name, kind_, params);
      switches_.push_back(name);
      if (i == 1) continue;
      const std::string& before = switches_[switches_.size() - 2];
      link(before, name);
      if (draw_.chance(3)) continue;
      const std::string beside = "by" + std::to_string(i);  // another way, of more links
      made_.system.device(beside, "switch", {{"switching_time", draw_.ns(20)}});
      link(before, beside);
      link(beside, name);
      plain_.push_back(beside);
    }
  }

  Value::Map drawn_buffer(bool forwards) {
    Value::Map buffer{{"entries", static_cast<std::int64_t>(draw_.between(1, 4))}};
    if (forwards) {
      buffer.emplace_back("policy", "forward");
      buffer.emplace_back("drain_from", 0.7);
      buffer.emplace_back("drain_to", 0.3);
    }
    if (draw_.chance(3)) buffer.emplace_back("queue", static_cast<std::int64_t>(draw_.between(1, 3)));
    return buffer;
  }

  void write_memories() {
    for (std::uint64_t m = draw_.between(1, 2); m > 0; --m) {
      const std::string name = "mem" + std::to_string(m);
      Value::Map media{{"kind", "fixed"}, {"latency", draw_.ns(100)}, {"write_latency", draw_.ns(800)}};
      made_.system.device(name, "memory", {{"media", media}, {"capacity", "1MiB"}});
      link(switches_.back(), name);
      memories_.push_back(name);
    }
    made_.system.region(memories_, {{"persistence", "media"}, {"interleave", "64B"}, {"policy", "weighted"}});
  }

  void write_hosts() {
    for (std::uint64_t h = draw_.between(1, 3); h > 0; --h) {
      const std::string name = "host" + std::to_string(h);
      Value::Map params{{"queue", static_cast<std::int64_t>(draw_.between(1, 8))},
                        {"completion_timeout", std::to_string(draw_.between(1, 9)) + "us"}};
      made_.system.device(name, "host", params);
      link(name, switches_.front());
      std::vector<Access> program;
      for (std::uint64_t i = 0; i < 60; ++i) program.push_back(drawn_access());
      made_.requests += program.size();
      made_.system.replay(name, std::move(program));
      hosts_.push_back(name);
    }
  }

  // The run goes on until all that is repaired has been, and the last timeout is over.
  void write_clock() {
    made_.system.device("clock", "host").device("dram", "memory").device("yard", "switch");
    made_.system.link("clock", "yard").link("yard", "dram").link("yard", switches_.front()).region({"dram"});
    Access last = access_to(memories_.size() << 20U);
    last.timed = true;
    last.timestamp = Time{60'000'000};
    made_.system.replay("clock", {last}, {{"replay", "timestamps"}});
    ++made_.requests;
  }

  // Few lines, of which parts are written as well.
  Access drawn_access() {
    Access access = flush_of(64 * draw_.below(6));
    if (draw_.chance(3)) access = access_to(access.address.value());
    if (draw_.chance(6))
      access = part_of(access_to(access.address.value() + 8 * draw_.below(4), AccessKind::kWrite), 8);
    if (draw_.chance(12)) access = part_of(access_to(access.address.value(), AccessKind::kAtomic), 8);
    if (draw_.chance(3)) access = behind_fence(access);
    return access;
  }

  struct Happening {
    std::uint64_t at;
    Value::Map event;
  };

  static Value::Map at_ns(std::uint64_t at, const char* what, Value::Map part) {
    return {{"at", std::to_string(at) + "ns"}, {what, std::move(part)}};
  }

  void write_events() {
    std::vector<Happening> all;
    std::vector<Value::Map> parts;
    for (std::uint64_t i = draw_.between(1, 3); i > 0; --i) {
      const auto& [a, b] = links_[draw_.below(links_.size())];
      Value::Map part{{"link", Value::List{a, b}}};
      if (!parts.empty() && draw_.chance(2)) part = {{"device", drawn_device()}};
      if (std::ranges::find(parts, part) == parts.end()) parts.push_back(part);
    }
    for (const Value::Map& part : parts) add(all, part);
    if (draw_.chance(4)) {
      const std::uint64_t at = draw_.between(1, 12'000);
      Value::Map part{{"device", hosts_[draw_.below(hosts_.size())]}, {"reroute_time", "300ns"}};
      all.push_back({at, at_ns(at, "fail", part)});
      made_.crashes = true;
    }
    std::ranges::stable_sort(all, {}, &Happening::at);
    for (const Happening& each : all) made_.system.event(each.event);
  }

  // A memory that fails is viral now and then.
  void add(std::vector<Happening>& all, const Value::Map& part) {
    const bool memory = std::ranges::any_of(
        memories_, [&](const std::string& name) { return part == Value::Map{{"device", name}}; });
    const bool viral = memory && draw_.chance(2);
    std::uint64_t at = draw_.between(1, 12'000);
    for (std::uint64_t times = draw_.between(1, 3); times > 0; --times) {
      Value::Map fail = part;
      if (!viral) fail.emplace_back("reroute_time", draw_.one_of({"0ns", "1ns", "100ns", "700ns", "4us"}));
      all.push_back({at, at_ns(at, viral ? "viral" : "fail", fail)});
      at += draw_.below(6'000);
      if (draw_.chance(5)) {
        made_.comes_back = false;
        break;
      }
      all.push_back({at, at_ns(at, viral ? "reset" : "repair", part)});
      at += draw_.below(3'000);
    }
  }

  std::string drawn_device() {
    std::vector<std::string> devices = switches_;
    devices.insert(devices.end(), plain_.begin(), plain_.end());
    devices.insert(devices.end(), memories_.begin(), memories_.end());
    return devices[draw_.below(devices.size())];
  }

  void link(const std::string& a, const std::string& b) {
    Value::Map params{{"port_delay", draw_.ns(30)}};
    if (flits_) params.emplace_back("phy", "pcie6-x16");
    if (!flits_ && draw_.chance(2)) params.emplace_back("bandwidth", "16GB/s");
    if (credits_) params.emplace_back("credits", static_cast<std::int64_t>(draw_.between(2, 4)));
    made_.system.link(a, b, params);
    links_.emplace_back(a, b);
  }

  Draw draw_;
  std::uint64_t seed_;
  std::string kind_;
  bool credits_ = false;
  bool flits_ = false;
  std::vector<std::pair<std::string, std::string>> links_;
  std::vector<std::string> switches_;
  std::vector<std::string> plain_;
  std::vector<std::string> memories_;
  std::vector<std::string> hosts_;
  PersistCase made_;
};

double count(const Running& run, const std::string& which, std::string_view what) {
  return run.number({"per_switch", which, "persist_buffer", what});
}

/// What is wrong with a run; empty: nothing.
std::string wrong_with(const PersistCase& made, Running& run) {
  const System& system = run.simulation().system();
  std::string wrong;
  at_every_event(run.simulation(), [&] {
    if (wrong.empty() && !lost_at_power_loss(system).empty())
      wrong = "lost at " + to_text(run.simulation().now());
  });
  run.to_end();
  if (!wrong.empty()) return wrong;
  const std::uint64_t ended = run.simulation().progress().completed;
  if (made.crashes ? ended > made.requests : ended != made.requests)
    return std::to_string(ended) + " requests ended of " + std::to_string(made.requests);
  if (run.number({"versions", "stale_reads"}) > 0) return "stale reads";
  if (run.number({"versions", "lost_updates"}) > 0) return "lost updates";
  for (const std::string& name : made.buffered) {
    if (count(run, name, "resident_before") + count(run, name, "persists") !=
        count(run, name, "coalesced") + count(run, name, "drained") + count(run, name, "resident"))
      return "what " + name + " took is not what it gave";
  }
  for (const std::string& name : made.emptied) {
    const PersistEntries& entries = system.roles().of<PersistDomain>(run.node(name))->entries();
    if (made.comes_back && entries.dirty() + entries.draining() > 0) return name + " has not drained all";
  }
  return {};
}

struct PersistFailure {
  std::uint64_t seed;
  std::string wrong;
};

/// The first system of `systems` with which something is wrong.
std::vector<PersistFailure> first_failure(std::uint64_t systems, const std::string& kind,
                                          const Registry& kinds) {
  const std::uint64_t first = setting("CXLOOM_PERSIST_SEED", 1);
  for (std::uint64_t seed = first; seed < first + systems; ++seed) {
    std::string wrong;
    try {
      const PersistCase made = FailingPersistence(seed, kind).made();
      Running run(made.system, kinds);
      wrong = wrong_with(made, run);
    } catch (const std::exception& error) {
      wrong = error.what();
    }
    if (!wrong.empty()) return {{seed, wrong}};
  }
  return {};
}

TEST(PersistFailuresRandom, NothingAcknowledgedIsLost) {
  const auto failed = first_failure(setting("CXLOOM_PERSIST_SYSTEMS", 150), "switch", Running::registry());
  for (const PersistFailure& each : failed) ADD_FAILURE() << "seed " << each.seed << ": " << each.wrong;
}

// Each rule is needed, and its breach is found.
TEST(PersistFailuresRandom, ABrokenRuleIsFound) {
  const auto found = [](bool PersistRules::* rule) {
    PersistRules broken;
    broken.*rule = false;
    const auto failed = first_failure(60, "naive-switch", with_rules(broken));
    return failed.empty() ? std::string() : failed.front().wrong;
  };
  EXPECT_EQ(found(&PersistRules::keeps_failed).substr(0, 7), "lost at");
  EXPECT_TRUE(contains(found(&PersistRules::drains_again), "has not drained all"));
  EXPECT_EQ(found(&PersistRules::survives).substr(0, 7), "lost at");
}

}  // namespace
}  // namespace cxloom::test
