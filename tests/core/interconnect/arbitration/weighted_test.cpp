#include "interconnect/arbitration/weighted.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "core/support/system.hpp"

namespace cxloom {
namespace {

using test::Running;
using test::SpecBuilder;

/// Hosts on a switch, and one memory behind a link that is slower than theirs.
struct Shared {
  struct Host {
    int weight = 1;
    double reads = 0.0;
    int queue = 128;
    Value::Map work = {};  ///< besides
    Value::Map link = {};
    bool works = true;
  };
  std::vector<Host> hosts;
  const char* queueing = "voq";
  const char* arbitration = "weighted";
  const char* by = "requester";
  const char* forwarding = "cut-through";
  Value::Map link = {{"bandwidth", "4GB/s"}};  ///< to the memory
  Value::Map memory = {};
  std::int64_t requests = 6000;
};

std::string name_of(std::size_t host) { return "h" + std::to_string(host); }

/// Bandwidth of each host in GB/s.
std::vector<double> rates(const Shared& shared) {
  SpecBuilder system;
  Value::Map weights;
  for (std::size_t i = 0; i < shared.hosts.size(); ++i)
    weights.emplace_back(name_of(i), shared.hosts[i].weight);
  Value::Map arbitration{{"kind", shared.arbitration}};
  if (arbitration[0].second == Value("weighted"))
    arbitration.insert(arbitration.end(), {{"by", shared.by}, {"weights", weights}});
  system.device(
      "hub", "switch",
      {{"queueing", shared.queueing}, {"forwarding", shared.forwarding}, {"arbitration", arbitration}});
  Value::Map memory = shared.memory;
  memory.emplace_back("capacity", "1GiB");
  system.device("mem", "memory", memory).region({"mem"});
  for (std::size_t i = 0; i < shared.hosts.size(); ++i) {
    const Shared::Host& host = shared.hosts[i];
    system.device(name_of(i), "host", {{"queue", host.queue}}).link(name_of(i), "hub", host.link);
    Value::Map work = host.work;
    work.insert(work.end(), {{"pattern", "sequential"},
                             {"footprint", "64MiB"},
                             {"reads", host.reads},
                             {"requests", shared.requests}});
    if (host.works) system.work(name_of(i), work);
  }
  system.link("hub", "mem", shared.link).run_with({{"warmup", std::int64_t{2000}}});
  Running run(system);
  run.to_end();
  std::vector<double> rates;
  for (std::size_t i = 0; i < shared.hosts.size(); ++i) {
    const bool works = shared.hosts[i].works;
    rates.push_back(works ? run.number({"per_requester", name_of(i), "bandwidth_gb_per_s"}) : 0.0);
  }
  return rates;
}

std::vector<double> shares(const std::vector<double>& rates) {
  const double sum = std::accumulate(rates.begin(), rates.end(), 0.0);
  std::vector<double> shares;
  for (const double rate : rates) shares.push_back(rate / sum);
  return shares;
}

void expect_shares(const Shared& shared, const std::vector<double>& weights) {
  const std::vector<double> had = shares(rates(shared));
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (std::size_t i = 0; i < weights.size(); ++i)
    EXPECT_NEAR(had[i], weights[i] / sum, 0.01 * weights[i] / sum) << "host " << i;
}

std::vector<Shared::Host> weighing(const std::vector<int>& weights) {
  std::vector<Shared::Host> hosts;
  for (const int weight : weights) hosts.push_back({.weight = weight});
  return hosts;
}

const std::vector<std::vector<int>> kWeights{{1, 1}, {3, 1}, {1, 15}, {5, 3, 2}, {1, 2, 4, 9}};

TEST(WeightedArbiter, SharesAreTheWeights) {
  for (const std::vector<int>& weights : kWeights) {
    for (const char* by : {"requester", "input"}) {
      for (const char* queueing : {"voq", "fifo"}) {
        for (const int credits : {0, 2, 16}) {
          SCOPED_TRACE(std::string(by) + " " + queueing + " " + std::to_string(credits));
          Shared shared{.hosts = weighing(weights), .queueing = queueing, .by = by};
          // Answers have all their credits: they would wait at the memory, where nobody arbitrates.
          if (credits > 0) shared.link.emplace_back("credits", Value::Map{{"M2S RwD", credits}});
          expect_shares(shared, {weights.begin(), weights.end()});
        }
      }
    }
  }
}

TEST(WeightedArbiter, SharesAreTheWeightsOnLinksOfFlits) {
  for (const char* flit : {"68B", "256B"}) {
    for (const char* queueing : {"voq", "fifo"}) {
      SCOPED_TRACE(std::string(flit) + " " + queueing);
      Shared shared{.hosts = weighing({5, 3, 2}), .queueing = queueing};
      shared.link = {{"phy", "pcie5-x1"}, {"flit", flit}};
      if (std::string(flit) == "256B") shared.link = {{"phy", "pcie6-x1"}, {"flit", flit}};
      expect_shares(shared, {5, 3, 2});
      shared.link.emplace_back("credits", Value::Map{{"M2S RwD", 16}});
      expect_shares(shared, {5, 3, 2});
    }
  }
}

// A read takes 16 B of the wire to the memory and a write 80 B, so that with equal weights there are five
// reads per write.
TEST(WeightedArbiter, BytesOfTheWireAreShared) {
  for (const int weight : {1, 2, 5}) {
    Shared shared{.hosts = {{.weight = weight, .reads = 1.0, .queue = 512}, {}}};
    shared.link = {{"bandwidth", "1GB/s"}, {"reverse", Value::Map{{"bandwidth", "100GB/s"}}}};
    shared.requests = 20'000;
    expect_shares(shared, {5.0 * weight, 1.0});
  }
}

// Reads and writes are of different classes and share flits. A read takes a slot, and a write five. The other
// direction, where a read takes five and a write half of one, must not be the bottleneck.
TEST(WeightedArbiter, SlotsAreSharedAcrossClassesInFlits) {
  for (const char* flit : {"68B", "256B"}) {
    for (const int weight : {10, 15}) {
      Shared shared{.hosts = {{.weight = 1, .reads = 1.0, .queue = 512}, {.weight = weight, .queue = 512}}};
      shared.link = {{"phy", "pcie5-x1"}, {"flit", flit}};
      const std::vector<double> had = rates(shared);
      EXPECT_NEAR(had[0] / had[1], 5.0 / weight, 0.01 * 5.0 / weight) << flit;
    }
  }
}

// What a link of flits carries does not fall because somebody shares it out.
TEST(WeightedArbiter, PacksFlitsAsFull) {
  for (const char* flit : {"68B", "256B"}) {
    for (const double reads : {0.0, 0.3, 0.5}) {
      Shared shared{.hosts = {{.reads = reads}, {.reads = reads}}};
      shared.link = {{"phy", "pcie5-x1"}, {"flit", flit}};
      const std::vector<double> shared_out = rates(shared);
      shared.arbitration = "round-robin";
      const std::vector<double> in_turns = rates(shared);
      EXPECT_GE(shared_out[0] + shared_out[1], 0.99 * (in_turns[0] + in_turns[1])) << flit << " " << reads;
    }
  }
}

TEST(WeightedArbiter, WhatAnIdleHostLeavesIsSharedInProportion) {
  Shared shared{.hosts = weighing({4, 3, 1})};
  shared.hosts[0].works = false;
  const std::vector<double> had = rates(shared);
  EXPECT_EQ(had[0], 0.0);
  EXPECT_NEAR(had[1] / had[2], 3.0, 0.03);
  EXPECT_NEAR(had[1] + had[2], 4.0 * 64 / 80, 0.01);
}

// 4 GB/s take 50 million writes of 80 B per second. A host with a tenth of the weights asks for 4 million,
// less than the 5 million that are its due, and has them all; what is left the others share by their weights.
TEST(WeightedArbiter, WhoAsksForLessThanItsShareHasItAll) {
  Shared shared{.hosts = weighing({1, 6, 3})};
  shared.hosts[0].work = {{"rate", "4M/s"}};
  const std::vector<double> had = rates(shared);
  EXPECT_NEAR(had[0], 4e6 * 64 / 1e9, 0.002);
  EXPECT_NEAR(had[1] / had[2], 2.0, 0.02);
  EXPECT_NEAR(had[0] + had[1] + had[2], 4.0 * 64 / 80, 0.01);
}

// Whatever it does, a host has no more than its weight where the other wants its share.
TEST(WeightedArbiter, AGreedyHostStarvesNobody) {
  for (const int queue : {128, 1024, 4096}) {
    for (const double reads : {0.0, 0.5}) {
      Shared shared{.hosts = {{.weight = 1, .queue = 64}, {.weight = 1, .reads = reads, .queue = queue}}};
      shared.link.emplace_back("reverse", Value::Map{{"bandwidth", "100GB/s"}});
      const std::vector<double> had = rates(shared);
      EXPECT_NEAR(had[0], 2.0 * 64 / 80, 0.02) << queue;  // half of the wire
    }
  }
}

TEST(WeightedArbiter, MoreWeightNeverGivesLess) {
  for (const int queue : {1, 4, 16, 64}) {
    double before = 0.0;
    for (const int weight : {1, 2, 3, 5, 8, 13}) {
      Shared shared{.hosts = {{.weight = weight, .queue = queue}, {}}};
      const double had = rates(shared)[0];
      EXPECT_GE(had, before * 0.995) << queue << " " << weight;
      before = std::max(before, had);
    }
  }
}

// A host's own link bounds it whatever its weight: 1 GB/s of 4. The other one has the rest, if no message
// holds the wire to the memory for as long as it takes on a slower one before.
TEST(WeightedArbiter, AHostsOwnLinkBoundsIt) {
  Shared shared{.hosts = weighing({3, 1}), .forwarding = "store-and-forward"};
  shared.hosts[0].link = {{"bandwidth", "1GB/s"}};
  const std::vector<double> had = rates(shared);
  EXPECT_NEAR(had[0], 1.0 * 64 / 80, 0.01);
  EXPECT_NEAR(had[1], 3.0 * 64 / 80, 0.01);
}

// Reads whose data are the bottleneck: requests of 16 B do not wait at the port to the memory, and answers
// wait behind each other at the memory, where nobody arbitrates. Each host has of the wire what it has of the
// requests in flight.
TEST(WeightedArbiter, WhereAnswersQueueAtTheMemoryTheDepthsDecide) {
  Shared shared{.hosts = {{.weight = 15, .reads = 1.0, .queue = 128}, {.reads = 1.0, .queue = 384}}};
  shared.link = {{"bandwidth", "100GB/s"}, {"reverse", Value::Map{{"bandwidth", "4GB/s"}}}};
  shared.requests = 40'000;  // many rounds of all requests in flight
  expect_shares(shared, {1, 3});
}

// The memory takes what it can serve: requests wait at the port for its credits, and the weights decide.
TEST(WeightedArbiter, WhereRequestsWaitForCreditsTheWeightsDecide) {
  Shared shared{.hosts = {{.weight = 3, .reads = 1.0, .queue = 192}, {.reads = 1.0, .queue = 192}}};
  shared.link = {{"bandwidth", "100GB/s"}, {"credits", 4}};
  shared.memory = {{"queue", 4}, {"media", Value::Map{{"kind", "fixed"}, {"latency", "100ns"}}}};
  expect_shares(shared, {3, 1});
}

// Time without messages gives no credit and costs none: of hosts with the same weight, one that was idle has
// half from then on.
TEST(WeightedArbiter, NobodyPaysOrSavesForTimeWithoutMessages) {
  Shared shared{.hosts = weighing({1, 1})};
  const double always = rates(shared)[0];
  shared.hosts[1].work = {{"rate", "25M/s"}, {"arrivals", "poisson"}};  // its share, with pauses between
  EXPECT_GE(rates(shared)[0], always * 0.99);
}

void expect_refused(const Value::Map& arbitration, const std::string& path, const std::string& problem) {
  SpecBuilder system;
  system.device("h0", "host").device("mem", "memory").region({"mem"});
  Value::Map kind{{"kind", "weighted"}};
  kind.insert(kind.end(), arbitration.begin(), arbitration.end());
  system.device("hub", "switch", {{"queueing", "voq"}, {"arbitration", kind}}).device("far", "switch");
  system.device("h1", "host").link("h1", "far").link("far", "hub");
  system.link("h0", "hub").link("hub", "mem").work("h0", {{"pattern", "random"}, {"requests", 1}});
  try {
    Running run(system);
    ADD_FAILURE() << "taken: " << path;
  } catch (const InputError& error) {
    EXPECT_EQ(error.path(), path);
    EXPECT_NE(std::string(error.what()).find(problem), std::string::npos) << error.what();
  }
}

TEST(WeightedArbiter, RefusesWhatHasNoMeaning) {
  const std::string at = "devices.hub.arbitration.weights.";
  expect_refused({{"weights", Value::Map{{"h0", 0}}}}, at + "h0", "out of bounds");
  expect_refused({{"weights", Value::Map{{"h0", 65'536}}}}, at + "h0", "out of bounds");
  expect_refused({{"weights", Value::Map{{"h9", 2}}}}, at + "h9", "unknown device");
  expect_refused({{"weights", Value::Map{{"mem", 2}}}}, at + "mem", "makes no requests");
  expect_refused({{"by", "input"}, {"weights", Value::Map{{"h1", 2}}}}, at + "h1", "no link leads");
  expect_refused({{"default", 2}}, "devices.hub.arbitration.default", "no effect");
  expect_refused({{"weights", 3}}, "devices.hub.arbitration.weights", "not weights");
}

}  // namespace
}  // namespace cxloom
