// Random systems of hosts, caches and coherency agents (HDM-DB) in which links, switches and memories fail,
// and are repaired or not: docs/model/failures.md. Every request is answered once, what an access sees is the
// latest write or poison, and there is one writer or there are readers after every event
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

/// Some links, switches and memories fail up to three times, and most of them are repaired. Now and then a
/// host crashes.
void add_failures(Draw& draw, test::SpecBuilder& system, const std::vector<Ends>& links,
                  const std::vector<std::string>& devices, const std::string& host) {
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
  if (draw.chance(3)) {
    const std::uint64_t at = draw.between(1, 20'000);
    all.push_back({at, test::fail_device(std::to_string(at) + "ns", host.c_str(), "300ns")});
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

// Two switches, between which a message has two ways, or one.
RandomCase made_to_fail(std::uint64_t seed) {
  Draw draw(seed, "failures");
  RandomCase made;
  made.fails = true;
  const std::uint64_t lines = draw.between(1, 8);
  const bool flits = draw.chance(3);
  const bool credits = draw.chance(3);
  std::vector<Ends> links;
  const auto link = [&](const std::string& a, const std::string& b) {
    made.system.link(a, b, failing_link(draw, flits, credits));
    links.emplace_back(a, b);
  };
  std::vector<std::string> switches{"sw0", "sw1"};
  if (draw.chance(2)) switches.emplace_back("sw2");
  for (const std::string& name : switches)
    made.system.device(name, "switch", {{"switching_time", draw.ns(10)}});
  link("sw0", "sw1");
  if (switches.size() > 2) {
    link("sw0", "sw2");
    link("sw2", "sw1");
  }
  const auto somewhere = [&] { return switches[draw.below(2)]; };
  const bool apart = draw.chance(3);
  Value::Map agent = test::drawn_home(draw, "hdm-db", lines);
  agent.emplace_back("answer_timeout", std::to_string(draw.between(1, 9)) + "us");
  Value::Map region{{"coherence", "hdm-db"}, {"interleave", "64B"}, {"policy", "weighted"}};
  std::vector<std::string> memories;
  for (std::uint64_t m = draw.between(1, 2); m > 0; --m) {
    const std::string name = "mem" + std::to_string(m);
    Value::Map memory = test::drawn_memory(draw, "1MiB");
    if (!apart) memory.emplace_back("dcoh", agent);
    made.system.device(name, "memory", memory);
    link("sw1", name);
    memories.push_back(name);
  }
  if (apart) {
    made.system.device("home", "dcoh", agent);
    link(somewhere(), "home");
    region.emplace_back("home", "home");
  }
  for (std::uint64_t h = draw.between(1, 4); h > 0; --h) {
    test::RandomRequester host{"h" + std::to_string(h), {}, {}};
    Value::Map params{{"process_time", draw.ns(10)},
                      {"queue", static_cast<std::int64_t>(draw.between(1, 6))},
                      {"completion_timeout", std::to_string(draw.between(1, 9)) + "us"}};
    if (!draw.chance(6)) test::add_drawn_cache(draw, params, host.cache.emplace());
    made.system.device(host.name, draw.chance(4) ? "accelerator" : "host", params);
    link(host.name, somewhere());
    host.program = failing_program(draw, lines);
    made.requesters.push_back(std::move(host));
  }
  std::vector<std::string> devices = switches;
  devices.insert(devices.end(), memories.begin(), memories.end());
  add_failures(draw, made.system, links, devices, made.requesters.front().name);
  made.system.region(memories, region);
  made.system.run_with({{"seed", static_cast<std::int64_t>(seed % 1000)},
                        {"routing", draw.one_of({"deterministic", "deterministic", "adaptive"})}});
  return made;
}

TEST(CoherenceFailuresRandom, EveryRequestEndsAndNobodySeesWhatIsOld) {
  test::play_random(made_to_fail, 20'000, 2 * kOfFailingHost);
}

}  // namespace
}  // namespace cxloom
