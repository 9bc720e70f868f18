#include "system/spec/spec.hpp"

#include <gtest/gtest.h>

#include <string>

#include "core/support/errors.hpp"
#include "core/support/system.hpp"
#include "interconnect/link/end.hpp"

namespace cxloom::test {
namespace {

using namespace literals;

InputError read_error(const Value& value) {
  return input_error([&] { Spec::read(value, Running::registry()); });
}
InputError build_error(const SpecBuilder& system) {
  return input_error([&] { Running running(system); });
}

SpecBuilder good() {
  return SpecBuilder()
      .device("host", "host")
      .device("mem", "memory", {{"capacity", "1MiB"}})
      .link("host", "mem")
      .region({"mem"})
      .work("host", {{"pattern", "random"}, {"requests", 10}, {"footprint", "64KiB"}});
}

TEST(Spec, ReadsAGoodOne) {
  const Spec spec = Spec::read(good().value(), Running::registry());
  EXPECT_EQ(spec.devices.size(), 2U);
  EXPECT_EQ(spec.links.size(), 1U);
  EXPECT_EQ(spec.regions.size(), 1U);
  EXPECT_EQ(*spec.workloads.at(0).params.requests, 10U);
  EXPECT_EQ(*spec.workloads.at(0).pattern.find("footprint")->as_text(), "64KiB");
  EXPECT_EQ(spec.run.seed, 1U);
}

TEST(Spec, AMistakeIsToldWithItsPath) {
  EXPECT_EQ(read_error(Value(5)).detail().problem, "not a spec");
  EXPECT_EQ(read_error(Value(Value::Map{})).path(), "devices");
  EXPECT_EQ(read_error(SpecBuilder().device("sw", "swich").value()).path(), "devices.sw.kind");
  EXPECT_EQ(read_error(SpecBuilder().device("sw", "swich").value()).detail().suggestion, "switch");
  EXPECT_EQ(read_error(Value::Map{{"devices", Value::Map{{"host", Value::Map{}}}}}).path(), "devices.host");
  EXPECT_EQ(read_error(good().link("host", "mem", {{"credits", 0}}).value()).path(), "links[1].credits");
  EXPECT_EQ(read_error(good().link("host", "mem", {{"bandwith", "1GB/s"}}).value()).detail().suggestion,
            "bandwidth");
  EXPECT_EQ(read_error(good().link("host", "mem", {{"reverse", Value::Map{{"delay", 5}}}}).value()).path(),
            "links[1].reverse.delay");
  EXPECT_EQ(read_error(good().link("host", "mem", {{"turnaround", "1ns"}}).value()).path(),
            "links[1].turnaround");
  EXPECT_EQ(read_error(good().region({"mem"}, {{"interleave", "100B"}}).value()).path(),
            "address_map[1].interleave");
  EXPECT_EQ(read_error(good().region({}).value()).path(), "address_map[1].to");
  EXPECT_EQ(read_error(good().run_with({{"routing", "randm"}}).value()).path(), "run.routing.kind");
  EXPECT_EQ(read_error(good().outputs({{"series", "1ps"}}).value()).path(), "outputs.series");
}

TEST(Spec, AWorkloadSaysWhichKeysItsPatternHas) {
  const auto error = [](Value::Map work) { return read_error(good().work("host", std::move(work)).value()); };
  EXPECT_EQ(error({{"pattern", "random"}, {"requests", 5}, {"stride", "64B"}}).path(),
            "workload.host.stride");
  EXPECT_EQ(error({{"pattern", "zipf"}, {"requests", 5}, {"exponnt", 1.0}}).detail().suggestion, "exponent");
  EXPECT_EQ(error({{"pattern", "rand"}, {"requests", 5}}).path(), "workload.host.pattern");
  EXPECT_EQ(error({{"pattern", "random"}}).detail().problem, "a pattern needs `requests`");
  EXPECT_EQ(error({{"requests", 5}}).detail().problem, "exactly one of pattern, trace and phases is needed");
  EXPECT_EQ(error({{"pattern", "random"}, {"trace", "x"}, {"requests", 5}}).path(), "workload.host");
  for (const char* const arrivals : {"poisson", "fixed"}) {
    EXPECT_EQ(error({{"pattern", "random"}, {"requests", 5}, {"arrivals", arrivals}}).path(),
              "workload.host.arrivals");
  }
  EXPECT_EQ(error({{"trace", "x"}, {"footprint", "1KiB"}}).path(), "workload.host.footprint");
  EXPECT_EQ(error({{"trace", "x"}, {"tick", "1ns"}}).detail().problem,
            "tick has no effect without replay: timestamps");
  EXPECT_EQ(error({{"trace", "x"}, {"replay", "timestamps"}, {"tick", "0ps"}}).path(), "workload.host.tick");
  EXPECT_EQ(error({{"pattern", "random"}, {"requests", 5}, {"levels", Value::List{2, 4}}}).detail().problem,
            "levels has no effect without a trace");
}

TEST(Builder, RefusesWhatCannotBeBuilt) {
  EXPECT_EQ(build_error(good().link("host", "mm")).path(), "links[1].between[1]");
  EXPECT_EQ(build_error(good().link("host", "mm")).detail().suggestion, "mem");
  EXPECT_EQ(build_error(good().link("host", "host")).path(), "links[1].between");
  EXPECT_EQ(build_error(good().device("mem2", "memory").link("mem", "mem2")).path(),
            "links[1].between");  // one port each
  EXPECT_EQ(build_error(good().device("isolated", "memory")).path(), "devices.isolated");
  EXPECT_EQ(build_error(good().device("mem2", "memory", {{"media", Value::Map{{"kind", "fixd"}}}})).path(),
            "devices.mem2.media.kind");
  EXPECT_EQ(
      build_error(good().device("mem2", "memory", {{"media", Value::Map{{"kind", "fixed"}, {"banks", 0}}}}))
          .path(),
      "devices.mem2.media.banks");
  EXPECT_EQ(build_error(good().region({"host"})).path(), "address_map[1].to[0]");
  EXPECT_EQ(build_error(good().region({"mem"})).path(), "address_map[1].to");  // nothing left of it
  EXPECT_EQ(build_error(good().work("mem", {{"pattern", "random"}, {"requests", 5}})).path(), "workload.mem");
  EXPECT_EQ(build_error(good().work("hst", {{"pattern", "random"}, {"requests", 5}})).path(), "workload.hst");
}

TEST(Builder, TheFootprintMustLieInMappedMemory) {
  const auto with = [](Value::Map more) {
    more.emplace_back("pattern", "random");
    more.emplace_back("requests", 5);
    return SpecBuilder()
        .device("host", "host")
        .device("mem", "memory", {{"capacity", "1MiB"}})
        .link("host", "mem")
        .region({"mem"})
        .work("host", std::move(more));
  };
  Running fits(with({{"footprint", "512KiB"}, {"base", "0x80000"}}));
  EXPECT_EQ(build_error(with({{"footprint", "1025KiB"}})).path(), "workload.host.footprint");
  EXPECT_EQ(build_error(with({{"footprint", "512KiB"}, {"base", "0x80040"}})).path(), "workload.host.base");
  EXPECT_EQ(build_error(with({{"footprint", "64KiB"}, {"base", "0xffffffffffffffc0"}})).path(),
            "workload.host.base");
  SpecBuilder none =
      SpecBuilder().device("host", "host").work("host", {{"pattern", "random"}, {"requests", 5}});
  EXPECT_EQ(build_error(none).detail().problem, "there is no memory to access");
}

TEST(Builder, OnlyBusesAndSwitchesPassMessagesOn) {
  SpecBuilder system;
  system.device("host", "host").device("acc", "accelerator").device("mem", "memory");
  system.link("host", "acc").link("acc", "mem").region({"mem"});
  system.work("host", {{"pattern", "random"}, {"requests", 5}});
  EXPECT_TRUE(contains(build_error(system).detail().problem, "cannot reach 'mem'"));
}

TEST(Builder, NoMoreThan4096EdgePorts) {
  const auto star = [](int hosts) {
    SpecBuilder system;
    system.device("sw", "switch").device("mem", "memory").link("sw", "mem").region({"mem"});
    for (int i = 0; i < hosts; ++i) {
      const std::string name = "h" + std::to_string(i);
      system.device(name, "host").link(name, "sw");
    }
    return system;
  };
  Running full(star(4095));
  EXPECT_EQ(full.simulation().system().edge_ports().size(), 4096U);
  EXPECT_EQ(build_error(star(4096)).path(), "links");
}

TEST(Builder, ALinkRunsAtTheSlowestOfItselfAndItsPorts) {
  SpecBuilder system;
  system.device("host", "host")
      .device("sw", "switch", {{"port_bandwidth", "32GB/s"}, {"port_delay", "7ns"}})
      .device("mem", "memory");
  system.link("host", "sw",
              {{"bandwidth", "64GB/s"},
               {"reverse", Value::Map{{"bandwidth", "16GB/s"}, {"delay", "9ns"}}},
               {"delay", "2ns"}});
  system.link("sw", "mem", {{"port_delay", "5ns"}}).region({"mem"});
  Running run(system);
  const auto& links = run.simulation().system().links();
  EXPECT_EQ(links[0].forward->rate(), parse_bandwidth("32GB/s").rate);
  EXPECT_EQ(links[0].backward->rate(), parse_bandwidth("16GB/s").rate);
  EXPECT_EQ(links[0].forward->flight(), 9_ns);    // the switch's port and 2 ns
  EXPECT_EQ(links[0].backward->flight(), 16_ns);  // the switch's port and 9 ns
  EXPECT_EQ(links[1].forward->flight(), 10_ns);   // the link's word counts at both ends
  EXPECT_EQ(links[0].name, "host-sw");
}

}  // namespace
}  // namespace cxloom::test
