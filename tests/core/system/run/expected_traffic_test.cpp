#include "system/run/expected_traffic.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "component/component.hpp"
#include "core/support/system.hpp"
#include "kernel/kernel.hpp"
#include "system/build/system_builder.hpp"
#include "system/kinds/registry.hpp"
#include "system/model/system.hpp"
#include "system/run/thread_division.hpp"
#include "system/spec/spec.hpp"

namespace cxloom::test {
namespace {

// Four leaves with two hosts or two memories each, below two spines.
Spec spine_leaf(const std::string& routing) {
  SpecBuilder system;
  for (int leaf = 0; leaf < 4; ++leaf) {
    const std::string on = "leaf" + std::to_string(leaf);
    system.device(on, "switch");
    for (int i = 0; i < 2; ++i) {
      const std::string number = std::to_string(2 * (leaf % 2) + i);
      const std::string name = (leaf < 2 ? "host" : "mem") + number;
      if (leaf < 2)
        system.device(name, "host")
            .work(name, {{"pattern", "random"}, {"footprint", "1MiB"}, {"requests", 10}});
      else system.device(name, "memory", {{"capacity", "1GiB"}});
      system.link(name, on, {{"port_delay", "25ns"}});
    }
  }
  for (const std::string spine : {"spine0", "spine1"}) {
    system.device(spine, "switch");
    for (int leaf = 0; leaf < 4; ++leaf)
      system.link("leaf" + std::to_string(leaf), spine, {{"port_delay", "25ns"}});
  }
  system.region({"mem0", "mem1", "mem2", "mem3"}).run_with({{"routing", routing}});
  return Spec::read(system.value(), builtin_registry());
}

TEST(ExpectedTraffic, IsThatOfARequestOfEachHostToEachMemoryAndItsAnswer) {
  const Registry registry = builtin_registry();
  const Spec spec = spine_leaf("deterministic");
  Kernel kernel;
  const System system = build_system(kernel, registry, spec);
  const ExpectedTraffic traffic = expected_traffic(system, spec);
  // 32 messages go by a host, a leaf, a spine, a leaf and a memory; half of them by each spine.
  const std::map<char, std::pair<NodeLoad::Kind, double>> each{{'h', {NodeLoad::Kind::kRequester, 8.0}},
                                                               {'m', {NodeLoad::Kind::kMemory, 8.0}},
                                                               {'l', {NodeLoad::Kind::kBetween, 16.0}},
                                                               {'s', {NodeLoad::Kind::kBetween, 16.0}}};
  for (const auto& component : system.components()) {
    const NodeLoad& load = traffic.of_node[component->id().index()];
    const auto& [kind, messages] = each.at(component->name().front());
    EXPECT_EQ(load.kind, kind) << component->name();
    EXPECT_EQ(load.messages, messages) << component->name();
  }
  ASSERT_EQ(traffic.of_link.size(), system.links().size());
  for (const double messages : traffic.of_link) EXPECT_EQ(messages, 8.0);
}

TEST(ExpectedTraffic, CopiesAndKernelsMakeRequestsAsWorkloadsDo) {
  const Registry registry = builtin_registry();
  Spec spec = spine_leaf("deterministic");
  Kernel kernel;
  const System system = build_system(kernel, registry, spec);
  const ExpectedTraffic of_work = expected_traffic(system, spec);
  spec.workloads.clear();
  spec.tasks.graph = {{.name = "read", .kind = TaskKind::kKernel, .on = "host0"},
                      {.name = "fetch", .kind = TaskKind::kCopy, .from = "object", .to = "host1"},
                      {.name = "again", .kind = TaskKind::kCopy, .on = "host1"},
                      {.name = "think", .kind = TaskKind::kCompute, .on = "host2"}};
  const ExpectedTraffic of_tasks = expected_traffic(system, spec);
  for (const auto& component : system.components()) {
    const std::size_t node = component->id().index();
    const std::string& name = component->name();
    const double all = of_work.of_node[node].messages;
    const bool idle = name == "host2" || name == "host3";
    // The second leaf has the hosts without requests, the third and fourth the memories.
    const double share = idle || name == "leaf1" ? 0.0 : name == "leaf0" || name[0] == 'h' ? 1.0 : 0.5;
    EXPECT_EQ(of_tasks.of_node[node].messages, share * all) << name;
    EXPECT_EQ(of_tasks.of_node[node].kind, idle ? NodeLoad::Kind::kBetween : of_work.of_node[node].kind);
  }
}

TEST(ExpectedTraffic, OfMessagesThatChooseAnewIsAboutTheSame) {
  const Registry registry = builtin_registry();
  const Spec spec = spine_leaf("random");
  Kernel kernel;
  const System system = build_system(kernel, registry, spec);
  const ExpectedTraffic traffic = expected_traffic(system, spec);
  for (const auto& component : system.components()) {
    if (!component->name().starts_with("spine")) continue;
    EXPECT_NEAR(traffic.of_node[component->id().index()].messages, 16.0, 6.0);
  }
}

TEST(ThreadDivision, ASpineLeafIsHalvedInEachOfItsKinds) {
  for (const char* const routing : {"deterministic", "random", "flow-hash"}) {
    const Spec spec = spine_leaf(routing);
    const ThreadDivision division = divide_system(builtin_registry(), spec, 2);
    ASSERT_EQ(division.parts, 2U);
    std::map<std::string, int> of_first;
    for (std::size_t node = 0; node < spec.devices.size(); ++node) {
      const std::string& name = spec.devices[node].name;
      if (division.part_of[node] == 0) ++of_first[name.substr(0, name.size() - 1)];
    }
    EXPECT_EQ(of_first, (std::map<std::string, int>{{"host", 2}, {"leaf", 2}, {"mem", 2}, {"spine", 1}}))
        << routing;
  }
}

}  // namespace
}  // namespace cxloom::test
