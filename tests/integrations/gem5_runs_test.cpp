// The module for gem5 against a stand-in: how runs of gem5 begin, drain, measure, and are refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>

#include "cxloom_gem5/fabric.hpp"
#include "cxloom_gem5/host.hpp"
#include "integrations/gem5_bench.hpp"

namespace {

using namespace gem5;
using namespace gem5::test;

// ---- Drains and checkpoints

TEST_F(Gem5Test, ADrainWaitsForWhatIsUnderWay) {
  start_one();
  EXPECT_TRUE(hosts_[0]->begin_drain() && fabric_->begin_drain()) << "nothing is";
  hosts_[0]->drainResume();
  fabric_->drainResume();
  caches().send(MemCmd::WritebackDirty, 0);
  EXPECT_FALSE(hosts_[0]->begin_drain());
  EXPECT_FALSE(fabric_->begin_drain());
  event_queue.run(1'000 * kNs);
  EXPECT_EQ(hosts_[0]->drainState(), DrainState::Drained);
  EXPECT_EQ(fabric_->drainState(), DrainState::Drained);
}

TEST_F(Gem5Test, ARunThatGoesOnBehindACheckpointIsTheOneThatIsRestored) {
  start_one();
  caches().send(MemCmd::ReadReq, 0);
  event_queue.run(5'000 * kNs);
  CheckpointOut checkpoint;
  fabric_->begin_drain();
  fabric_->serialize(checkpoint);
  fabric_->drainResume();
  caches().send(MemCmd::ReadReq, 64);
  event_queue.run(6'000 * kNs);
  ASSERT_EQ(caches().answers.size(), 2U);
  EXPECT_EQ(caches().answers[1].at, 5'000 * kNs + kIdle);
}

// ---- Modes

TEST_F(Gem5Test, LinesThatCachesGotWithoutTimeAreTakenBackByTheDrainBeforeTimeBegins) {
  start_two();
  system_.timing = false;
  auto& left = dynamic_cast<ResponsePort&>(hosts_[0]->getPort("cpu_side", 0));
  const auto send = [&left](MemCmd command, Addr line) {
    Packet packet(std::make_shared<Request>(kStart + line, 64, 0, 0), command, 64);
    left.recvAtomic(&packet);
  };
  send(MemCmd::ReadExReq, 0);
  send(MemCmd::ReadExReq, 64);
  send(MemCmd::WritebackDirty, 64);
  caches(0).copies = {{0, {true, 3}}, {64, {true, 4}}};
  EXPECT_TRUE(hosts_[0]->begin_drain());
  EXPECT_EQ(caches(0).copies.count(0), 0U);
  EXPECT_EQ(byte(0), 3) << "it had been written";
  EXPECT_EQ(caches(0).copies.count(64), 1U) << "it has left, and nobody asks for it";
  system_.timing = true;
  hosts_[0]->drainResume();
  caches(0).copies = {{0, {true, 5}}};
  EXPECT_TRUE(hosts_[0]->begin_drain());
  EXPECT_EQ(caches(0).copies.size(), 1U) << "no snoop without time in timing mode";
  caches(0).copies.clear();
  hosts_[0]->drainResume();
  caches(1).send(MemCmd::ReadExReq, 0);
  event_queue.run(2'000 * kNs);
  EXPECT_EQ(caches(1).last_value(), 3);
  EXPECT_TRUE(caches(0).snoops.empty());
}

// ---- Measures

TEST_F(Gem5Test, StatisticsAreOfTheTimeSinceTheirReset) {
  CxlFabricParams params = spec(kOneHost);
  params.measures = {"per_memory.mem.reads", "latency_ns.p99"};
  open(params);
  add("host");
  fabric_->resetStats();  // as gem5 does before anything has begun
  fabric_->startup();
  for (const Addr line : {0U, 64U}) {
    caches().send(MemCmd::ReadReq, line);
    event_queue.run(curTick() + 1'000 * kNs);
  }
  fabric_->preDumpStats();
  EXPECT_EQ(*statistics::scalars["per_memory_mem_reads"], 2.0);
  EXPECT_EQ(*statistics::scalars["reads"], 2.0);
  EXPECT_EQ(*statistics::scalars["readLatency"], 2.0 * kIdle);
  hosts_[0]->resetStats();
  fabric_->resetStats();
  caches().send(MemCmd::ReadReq, 128);
  event_queue.run(curTick() + 1'000 * kNs);
  fabric_->preDumpStats();
  EXPECT_EQ(*statistics::scalars["per_memory_mem_reads"], 1.0);
  EXPECT_EQ(*statistics::scalars["reads"], 1.0);
  EXPECT_GT(*statistics::scalars["latency_ns_p99"], 0.0);
  event_queue.run(curTick() + 1'000 * kNs);
  fabric_->preDumpStats();
  EXPECT_TRUE(std::isnan(*statistics::scalars["latency_ns_p99"])) << "of no access";
  ASSERT_EQ(exit_callbacks.size(), 1U);
  exit_callbacks[0]();
  EXPECT_NE(simout.files["cxl.json"].text().find("per_memory"), std::string::npos);
}

TEST_F(Gem5Test, ASummaryGoesWhereItIsToldOnceSomethingHasBegun) {
  CxlFabricParams params = spec(kOneHost);
  params.summary = "";
  open(params);
  EXPECT_TRUE(exit_callbacks.empty());
  params.summary = "other.json";
  open(params);
  add("host");
  ASSERT_EQ(exit_callbacks.size(), 1U);
  exit_callbacks[0]();
  EXPECT_TRUE(simout.files.empty()) << "gem5 has ended before its first tick";
  fabric_->startup();
  exit_callbacks[0]();
  EXPECT_EQ(simout.files.count("other.json"), 1U);
}

// ---- Mistakes

TEST_F(Gem5Test, WhatIsWrongIsSaidBeforeTheFirstTick) {
  CxlFabricParams params;
  params.name = "system.fabric";
  params.spec = "/nowhere.json";
  EXPECT_EQ(refused([&] { open(params); }),
            "system.fabric: spec: \"/nowhere.json\" cannot be read; `cxloom resolve SYSTEM.yaml` prints what "
            "goes there.");
  params = spec(R"({"devices": {"host": {"kind": "hots"}}})");
  EXPECT_NE(refused([&] { open(params); }).find("hots"), std::string::npos);
  params = spec(kOneHost);
  params.plugins = {"/nowhere.so"};
  EXPECT_NE(refused([&] { open(params); }).find("/nowhere.so"), std::string::npos);
  sim_clock::Frequency = 1'000'000'000;
  EXPECT_NE(refused([&] { open(spec(kOneHost)); }).find("a tick must be a picosecond"), std::string::npos);
}

TEST_F(Gem5Test, AMeasureThatNoSummaryHasIsSaidBeforeTheFirstTick) {
  CxlFabricParams params = spec(kOneHost);
  params.measures = {"per_memory.mem.reads", "latency_ns.p99", "per_memory.mme.reads"};
  const std::string said = refused([&] { open(params); });
  EXPECT_NE(said.find("measures: \"per_memory.mme.reads\": no measure of that name"), std::string::npos)
      << said;
  EXPECT_NE(said.find("did you mean 'mem'"), std::string::npos) << said;
}

TEST_F(Gem5Test, AFolderForTheSummaryIsMadeOrRefusedBeforeTheFirstTick) {
  const std::string taken = testing::TempDir() + "gem5_summary_taken";
  std::ofstream(taken) << "a file";
  CxlFabricParams params = spec(kOneHost);
  params.summary = taken + "/cxl.json";
  EXPECT_NE(refused([&] { open(params); }).find("is in no folder"), std::string::npos);
  simout.folder = testing::TempDir() + "gem5_out/";
  params.summary = "here/cxl.json";
  open(params);
  EXPECT_TRUE(std::filesystem::is_directory(simout.folder + "here"));
  std::filesystem::remove_all(simout.folder);
  std::filesystem::remove(taken);
  simout.folder.clear();
}

TEST_F(Gem5Test, AHostThatCannotBeServedIsRefused) {
  open(spec(kOneHost));
  EXPECT_NE(refused([&] { add("hots"); }).find("hots"), std::string::npos);
  add("host");
  EXPECT_NE(refused([&] { add("host"); }).find("two hosts are \"host\""), std::string::npos);
}

TEST_F(Gem5Test, LinesOfAnotherSizeAreRefused) {
  open(spec(kOneHost));
  system_.line_bytes = 128;
  EXPECT_NE(refused([&] { add("host"); }).find("have 64 bytes, those of this system 128"), std::string::npos);
}

TEST_F(Gem5Test, AMemoryThatTheMapDoesNotHaveIsRefused) {
  std::string small = kOneHost;
  small.replace(small.find("64KiB"), 5, "32KiB");
  open(spec(small));
  EXPECT_NE(refused([&] { add("host"); }).find("the memory of \"host\""), std::string::npos);
}

TEST_F(Gem5Test, MemoryThatAnotherHostHasIsRefusedUnlessItMayComeLater) {
  const std::string bound = R"({
    "devices": {
      "host": {"kind": "host"}, "other": {"kind": "host"}, "mem": {"kind": "memory", "capacity": "64KiB"},
      "switch": {"kind": "switch", "vcs": [{"upstream": "other", "vppbs": 1, "bind": ["mem"]},
        {"upstream": "host", "vppbs": 1}]}},
    "links": [{"between": ["switch", "host"]}, {"between": ["switch", "other"]},
      {"between": ["switch", "mem"]}],
    "address_map": [{"to": ["mem"]}])";
  open(spec(bound + "}"));
  EXPECT_NE(refused([&] { add("host"); }).find("the memory of \"host\""), std::string::npos);
  add("other");
  const std::string later = R"(, "events": [
    {"at": "1us", "unbind": {"switch": "switch", "vcs": 0, "vppb": 0}},
    {"at": "2us", "bind": {"switch": "switch", "vcs": 1, "vppb": 0, "to": "mem"}}]})";
  open(spec(bound + later));
  add("host");
  std::string compact = bound + later;  // as others than `cxloom resolve` write it
  compact.erase(std::remove(compact.begin(), compact.end(), ' '), compact.end());
  open(spec(compact));
  add("host");
}

TEST_F(Gem5Test, AHostWithAWorkloadIsRefused) {
  std::string busy = kOneHost;
  busy.replace(busy.rfind('}'), 1,
               R"(, "workload": {"host": {"pattern": "random", "footprint": "4KiB", "requests": 10}}})");
  open(spec(busy));
  EXPECT_NE(refused([&] { add("host"); }).find("workload"), std::string::npos);
}

TEST_F(Gem5Test, SharedCopiesAreForHostsThatAreSnooped) {
  open(spec(kOneHost));
  EXPECT_NE(refused([&] { add("host", true); }).find("nobody snoops"), std::string::npos);
}

TEST_F(Gem5Test, AHostWhoseCachesAreSnoopedIsRefusedBehindWhatPassesNoSnoops) {
  open(spec(kTwoHosts));
  add("left");
  snooping_ = false;
  const std::string said = refused([&] { add("right"); });
  EXPECT_NE(said.find("system.right"), std::string::npos) << said;
  EXPECT_NE(said.find("passes no snoops"), std::string::npos) << said;
  EXPECT_NE(said.find("leave external_cache out"), std::string::npos) << said;
}

TEST_F(Gem5Test, AHostWhoseCachesAreNotMayStandBehindIt) {
  snooping_ = false;
  start_one();
  caches().send(MemCmd::ReadReq, 0);
  event_queue.run(1'000 * kNs);
  EXPECT_EQ(caches().answers.size(), 1U);
}

}  // namespace
