// Random systems of hosts, caches and homes of lines (HDM-DB, HDM-H, HDM-D) in which links, switches and
// memories fail, and are repaired or not: docs/model/failures.md. Every request is answered once, what an
// access sees is the latest write or poison, and there is one writer or there are readers after every event
// (support/coherence_oracle.hpp).
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/support/failing_system.hpp"
#include "core/support/random_coherence.hpp"

namespace cxloom {
namespace {

using test::Draw;
using test::RandomCase;

constexpr std::uint64_t kOfFailingHost = 120;

std::vector<Access> failing_program(Draw& draw, std::uint64_t lines) {
  const std::uint64_t reads = draw.between(0, 10);
  const std::uint64_t atomics = draw.chance(3) ? draw.between(1, 5) : 0;
  std::vector<Access> program;
  for (std::uint64_t i = 0; i < kOfFailingHost; ++i) {
    Access& access = program.emplace_back(test::access_to(draw.below(lines) * kLineBytes));
    access.kind = draw.below(10) < atomics ? AccessKind::kAtomic
                  : draw.below(10) < reads ? AccessKind::kRead
                                           : AccessKind::kWrite;
    if (access.kind == AccessKind::kAtomic) access.size = kAtomicBytes;
  }
  return program;
}

using Ends = std::pair<std::string, std::string>;

/// Some links, switches and memories fail up to three times, and most of them are repaired. Now and then one
/// of the requesters that may crash does.
void add_failures(Draw& draw, test::SpecBuilder& system, const std::vector<Ends>& links,
                  const std::vector<std::string>& devices, const std::vector<std::string>& memories,
                  const std::vector<std::string>& crashing) {
  struct Happening {
    std::uint64_t at;
    Value::Map event;
  };
  std::vector<Happening> all;
  std::vector<Value::Map> parts;
  for (std::uint64_t i = draw.between(1, 3); i > 0; --i) {
    const Ends& ends = links[draw.below(links.size())];
    Value::Map part{{"link", Value::List{ends.first, ends.second}}};
    if (draw.chance(3)) part = {{"device", devices[draw.below(devices.size())]}};
    if (std::ranges::find(parts, part) == parts.end()) parts.push_back(part);
  }
  for (const Value::Map& part : parts) {
    std::uint64_t at = draw.between(1, 20'000);
    for (std::uint64_t times = draw.between(1, 3); times > 0; --times) {
      const auto when = [&] { return std::to_string(at) + "ns"; };
      Value::Map fail = part;
      fail.emplace_back("reroute_time", draw.one_of({"0ns", "1ns", "100ns", "700ns", "4us"}));
      all.push_back({at, {{"at", when()}, {"fail", fail}}});
      at += draw.below(8'000);
      if (draw.chance(4)) break;
      all.push_back({at, {{"at", when()}, {"repair", part}}});
      at += draw.below(3'000);
    }
  }
  if (!memories.empty() && draw.chance(4)) {
    std::uint64_t at = draw.between(1, 20'000);
    const Value::Map memory{{"device", memories[draw.below(memories.size())]}};
    all.push_back({at, {{"at", std::to_string(at) + "ns"}, {"viral", memory}}});
    at += draw.below(8'000);
    if (!draw.chance(4)) all.push_back({at, {{"at", std::to_string(at) + "ns"}, {"reset", memory}}});
  }
  if (draw.chance(3)) {
    const std::uint64_t at = draw.between(1, 20'000);
    const std::string& crashes = crashing[draw.below(crashing.size())];
    all.push_back({at, test::fail_device(std::to_string(at) + "ns", crashes.c_str(), "300ns")});
    if (!draw.chance(3)) {
      const std::uint64_t boots = at + draw.below(6'000);
      Value::Map repair{{"device", crashes}};
      if (draw.chance(2)) repair.emplace_back("restart", true);
      all.push_back({boots, {{"at", std::to_string(boots) + "ns"}, {"repair", repair}}});
    }
  }
  std::ranges::stable_sort(all, {}, &Happening::at);
  for (const Happening& each : all) system.event(each.event);
}

Value::Map failing_link(Draw& draw, bool flits, bool credits) {
  Value::Map link{{"port_delay", draw.ns(30)}};
  if (flits) link.emplace_back("phy", "pcie6-x16");
  if (!flits && draw.chance(2)) link.emplace_back("bandwidth", "16GB/s");
  if (credits) link.emplace_back("credits", static_cast<std::int64_t>(draw.between(2, 4)));
  return link;
}

/// Makes the system of a seed: two switches, between which a message has two ways, or one.
class Failing {
 public:
  Failing(std::uint64_t seed, const char* coherence)
      : draw_(seed, "failures"), seed_(seed), coherence_(coherence), lines_(draw_.between(1, 8)) {
    made_.fails = true;
    flits_ = draw_.chance(3);
    credits_ = draw_.chance(3);
  }

  RandomCase made() {
    write_switches();
    write_home();
    write_requesters();
    std::vector<std::string> devices = switches_;
    devices.insert(devices.end(), memories_.begin(), memories_.end());
    crashing_.push_back(made_.requesters.back().name);
    add_failures(draw_, made_.system, links_, devices, memories_, crashing_);
    made_.system.region(targets_, region_);
    made_.system.run_with({{"seed", static_cast<std::int64_t>(seed_ % 1000)},
                           {"routing", draw_.one_of({"deterministic", "deterministic", "adaptive"})}});
    return std::move(made_);
  }

 private:
  void write_switches() {
    if (draw_.chance(2)) switches_.emplace_back("sw2");
    for (const std::string& name : switches_)
      made_.system.device(name, "switch", {{"switching_time", draw_.ns(10)}});
    link("sw0", "sw1");
    if (switches_.size() < 3) return;
    link("sw0", "sw2");
    link("sw2", "sw1");
  }

  // In the memories, in a device of its own, or in a host.
  void write_home() {
    Value::Map agent = test::drawn_home(draw_, coherence_, lines_);
    agent.emplace_back("answer_timeout", std::to_string(draw_.between(1, 9)) + "us");
    region_ = {{"coherence", coherence_}, {"interleave", "64B"}, {"policy", "weighted"}};
    if (coherence_ == "hdm-h") return write_host_of_lines(std::move(agent));
    if (coherence_ == "hdm-d" || draw_.chance(4)) return write_device_of_lines(std::move(agent));
    const bool apart = draw_.chance(3);
    write_memories(apart ? Value::Map{} : Value::Map{{"dcoh", agent}});
    if (!apart) return;
    made_.system.device("home", "dcoh", agent);
    link(somewhere(), "home");
    region_.emplace_back("home", "home");
  }

  void write_host_of_lines(Value::Map agent) {
    test::RandomRequester host{"home", {}, {}};
    Value::Map params = drawn_requester(host);
    params.emplace_back("home_agent", std::move(agent));
    const bool own = draw_.chance(2);
    if (own) {
      params.emplace_back("memory", test::drawn_memory(draw_, "1MiB"));
      targets_.emplace_back("home");
    }
    made_.system.device("home", "host", params);
    link(somewhere(), "home");
    made_.requesters.push_back(std::move(host));
    crashing_.emplace_back("home");
    if (!own || draw_.chance(3)) write_memories({});
    region_.emplace_back("home", "home");
  }

  // By bias one host alone may cache its lines.
  void write_device_of_lines(Value::Map agent) {
    test::RandomRequester device{"home", {}, {}};
    Value::Map params = drawn_requester(device);
    Value::Map memory = test::drawn_memory(draw_, "1MiB");
    one_caches_ = coherence_ == "hdm-d";
    memory.emplace_back(one_caches_ ? "bias" : "dcoh", std::move(agent));
    params.emplace_back("memory", std::move(memory));
    made_.system.device("home", "accelerator", params);
    link(somewhere(), "home");
    made_.requesters.push_back(std::move(device));
    targets_.emplace_back("home");
    crashing_.emplace_back("home");
  }

  void write_memories(const Value::Map& with) {
    for (std::uint64_t m = draw_.between(1, 2); m > 0; --m) {
      const std::string name = "mem" + std::to_string(m);
      Value::Map memory = test::drawn_memory(draw_, "1MiB");
      memory.insert(memory.end(), with.begin(), with.end());
      made_.system.device(name, "memory", memory);
      link("sw1", name);
      memories_.push_back(name);
      targets_.push_back(name);
    }
  }

  void write_requesters() {
    for (std::uint64_t h = draw_.between(1, 4); h > 0; --h) {
      test::RandomRequester host{"h" + std::to_string(h), {}, {}};
      const bool cached = !one_caches_ || made_.requesters.size() == 1;
      const Value::Map params = drawn_requester(host, cached);
      made_.system.device(host.name, draw_.chance(4) ? "accelerator" : "host", params);
      link(host.name, somewhere());
      made_.requesters.push_back(std::move(host));
    }
  }

  Value::Map drawn_requester(test::RandomRequester& requester, bool cached = true) {
    Value::Map params{{"process_time", draw_.ns(10)},
                      {"queue", static_cast<std::int64_t>(draw_.between(1, 6))},
                      {"completion_timeout", std::to_string(draw_.between(1, 9)) + "us"}};
    if (cached && !draw_.chance(6)) test::add_drawn_cache(draw_, params, requester.cache.emplace());
    requester.program = failing_program(draw_, lines_);
    return params;
  }

  const char* somewhere() { return draw_.one_of({"sw0", "sw1"}); }

  void link(const std::string& a, const std::string& b) {
    made_.system.link(a, b, failing_link(draw_, flits_, credits_));
    links_.emplace_back(a, b);
  }

  Draw draw_;
  std::uint64_t seed_;
  std::string coherence_;
  std::uint64_t lines_;
  bool flits_ = false;
  bool credits_ = false;
  bool one_caches_ = false;  // besides the device of the lines
  std::vector<Ends> links_;
  std::vector<std::string> switches_{"sw0", "sw1"};
  std::vector<std::string> memories_;
  std::vector<std::string> targets_;
  std::vector<std::string> crashing_;
  Value::Map region_;
  RandomCase made_;
};

TEST(CoherenceFailuresRandom, EveryRequestEndsAndNobodySeesWhatIsOld) {
  test::play_random([](std::uint64_t seed) { return Failing(seed, "hdm-db").made(); }, 20'000,
                    2 * kOfFailingHost);
}

TEST(CoherenceFailuresRandom, SoTheyDoWhereAHostIsTheHome) {
  test::play_random([](std::uint64_t seed) { return Failing(seed, "hdm-h").made(); }, 20'000,
                    3 * kOfFailingHost);
}

TEST(CoherenceFailuresRandom, AndWhereADeviceIsByBias) {
  test::play_random([](std::uint64_t seed) { return Failing(seed, "hdm-d").made(); }, 20'000,
                    3 * kOfFailingHost);
}

}  // namespace
}  // namespace cxloom
