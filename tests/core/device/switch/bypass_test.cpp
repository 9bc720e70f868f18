// Messages that go past the queues of switches: a system whose switches let them and one whose switches never
// do agree in everything. What keeps them from it is an arbiter that chooses alike and wants to be asked
// about every message.
#include <gtest/gtest.h>

#include <string>

#include "base/json.hpp"
#include "base/random.hpp"
#include "base/schema.hpp"
#include "core/support/system.hpp"
#include "interconnect/arbitration/age.hpp"
#include "system/kinds/registry.hpp"

namespace cxloom {
namespace {

using test::Running;
using test::SpecBuilder;

class AskedAlways final : public Arbiter {
 public:
  struct Params {
    static void describe(Schema<Params>& schema) { schema.doc("As age, and asked about every message."); }
  };
  AskedAlways(const Params& /*params*/, const ArbitrationContext& context) : age_({}, context) {}
  std::size_t choose(const Contenders& waiting, Time now) override { return age_.choose(waiting, now); }

 private:
  AgeArbiter age_;
};

Registry kinds() {
  Registry registry = builtin_registry();
  registry.arbitration.add<AskedAlways>("asked-always");
  return registry;
}

/// Three hosts and three memories on two switches, with what a seed draws.
SpecBuilder drawn(std::uint64_t seed, const std::string& arbitration) {
  RandomStream random(seed, "switches", "drawn");
  const auto number = [&](std::uint64_t below) { return static_cast<std::int64_t>(random.below(below)); };
  SpecBuilder system;
  for (const char* name : {"left", "right"}) {
    system.device(name, "switch",
                  {{"queueing", "voq"},
                   {"arbitration", arbitration},
                   {"forwarding", random.below(2) == 0 ? "cut-through" : "store-and-forward"},
                   {"port_bandwidth", "32GB/s"}});
  }
  const auto link = [&] {
    Value::Map params;
    if (random.below(3) > 0) params.emplace_back("credits", 1 + number(4));
    if (random.below(3) == 0) params.emplace_back("duplex", "half");
    return params;
  };
  system.link("left", "right", link());
  for (int i = 0; i < 3; ++i) {
    const std::string host = "h" + std::to_string(i);
    const std::string memory = "m" + std::to_string(i);
    system.device(host, "host", {{"queue", 1 + number(8)}});
    system.device(memory, "memory",
                  {{"capacity", "16MiB"}, {"media", Value::Map{{"kind", "fixed"}, {"latency", "20ns"}}}});
    system.link(host, "left", link()).link(random.below(2) == 0 ? "left" : "right", memory, link());
    system.work(host, {{"pattern", "random"}, {"reads", "50%"}, {"footprint", "32MiB"}, {"requests", 300}});
  }
  system.region({"m0", "m1", "m2"});
  return system;
}

class DrawnSwitches : public testing::TestWithParam<int> {};

TEST_P(DrawnSwitches, NobodyCanTellWhetherMessagesWentPastTheirQueues) {
  const Registry registry = kinds();
  const auto seed = static_cast<std::uint64_t>(GetParam());
  Running past(drawn(seed, "age"), registry);
  Running never(drawn(seed, "asked-always"), registry);
  past.to_end();
  never.to_end();
  ASSERT_GT(past.table().rows(), 300U);
  EXPECT_EQ(past.table().completed_ps, never.table().completed_ps);
  EXPECT_EQ(past.table().segments_ps, never.table().segments_ps);
  const Value one = past.summary();
  const Value other = never.summary();
  for (const char* part : {"per_link", "per_switch", "per_memory", "per_requester"}) {
    ASSERT_NE(one.find(part), nullptr) << part;
    EXPECT_EQ(to_json(*one.find(part)), to_json(*other.find(part))) << part;
  }
}
INSTANTIATE_TEST_SUITE_P(Switch, DrawnSwitches, testing::Range(0, 30));

}  // namespace
}  // namespace cxloom
