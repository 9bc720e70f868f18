#include "system/deadlock/message_flows.hpp"

#include <gtest/gtest.h>

#include <ctime>
#include <string>
#include <vector>

#include "core/support/system.hpp"

namespace cxloom {
namespace {

using test::Running;

constexpr ClassSet kRequests = set_of(Channel::kM2SReq) | set_of(Channel::kM2SRwD);
constexpr ClassSet kAnswers = set_of(Channel::kS2MNDR) | set_of(Channel::kS2MDRS);

TEST(MessageFlows, WhoSendsForSeveralReasonsIsOneSender) {
  // The two memories are targets of both hosts; what is coherent adds snoops and their answers to the same
  // pairs.
  test::SpecBuilder system;
  system.device("sw", "switch")
      .device("mem0", "memory", {{"dcoh", Value::Map{{"filter", Value::Map{{"entries", 64}}}}}})
      .device("mem1", "memory");
  system.link("mem0", "sw").link("mem1", "sw");
  for (const char* host : {"host0", "host1"}) {
    system.device(host, "host", {{"cache", Value::Map{{"size", "4KiB"}}}}).link(host, "sw");
    system.work(host, {{"pattern", "random"}, {"requests", 10}, {"footprint", "4KiB"}});
  }
  system.region({"mem0"}, {{"coherence", "hdm-db"}, {"size", "1MiB"}}).region({"mem1"}, {{"size", "1MiB"}});
  Running running(system);
  const MessageFlows flows = message_flows(running.simulation().system());
  const auto senders_to = [&](const std::string& name) {
    std::vector<std::pair<std::uint32_t, ClassSet>> found;
    for (const RouteWalk::Sender& each : flows.to.at(running.node(name).index()))
      found.emplace_back(each.node, each.classes);
    return found;
  };
  using Senders = std::vector<std::pair<std::uint32_t, ClassSet>>;
  const std::uint32_t host0 = running.node("host0").index();
  const std::uint32_t host1 = running.node("host1").index();
  const ClassSet with_snoop_answers = kRequests | set_of(Channel::kM2SBIRsp);
  EXPECT_EQ(senders_to("mem0"), (Senders{{host0, with_snoop_answers}, {host1, with_snoop_answers}}));
  EXPECT_EQ(senders_to("mem1"), (Senders{{host0, kRequests}, {host1, kRequests}}));
  EXPECT_EQ(senders_to("host1"),
            (Senders{{running.node("mem0").index(), kAnswers | set_of(Channel::kS2MBISnp)},
                     {running.node("mem1").index(), kAnswers}}));
}

// 4096 edge ports, which is what 12-bit identities allow: four million pairs that talk to each other.
TEST(MessageFlows, LargeSystemsAreBuiltInSeconds) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "of the time that it takes without sanitizers";
#endif
  test::SpecBuilder system;
  std::vector<std::string> memories;
  constexpr int kLeaves = 64;
  for (int spine = 0; spine < 32; ++spine) system.device("spine" + std::to_string(spine), "switch");
  for (int leaf = 0; leaf < kLeaves; ++leaf) {
    const std::string name = "leaf" + std::to_string(leaf);
    system.device(name, "switch");
    for (int spine = 0; spine < 32; ++spine) system.link(name, "spine" + std::to_string(spine));
    for (int i = 0; i < 32; ++i) {
      const std::string number = std::to_string(leaf) + "-" + std::to_string(i);
      system.device("host" + number, "host").link("host" + number, name);
      system.device("mem" + number, "memory").link("mem" + number, name);
      memories.push_back("mem" + number);
    }
  }
  system.region(memories, {{"policy", "weighted"}});
  system.work("host0-0", {{"pattern", "random"}, {"requests", 1}, {"footprint", "4KiB"}});
  const std::clock_t before = std::clock();
  Running running(system);
  // With room for sanitizers and neighbours: what is looked for takes minutes.
  EXPECT_LT(static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC, 10.0);
  // All pairs, as `cxloom check` looks at them where virtual channels are wanted.
  EXPECT_EQ(message_flows(running.simulation().system(), true).to.size(), 4096U);
  EXPECT_LT(static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC, 20.0);
}

}  // namespace
}  // namespace cxloom
