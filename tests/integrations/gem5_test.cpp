// The module for gem5 against a stand-in of the parts of gem5 that it uses: what packets become, and when
// they are answered.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cxloom_gem5/delay.hpp"
#include "cxloom_gem5/fabric.hpp"
#include "cxloom_gem5/host.hpp"
#include "cxloom_gem5/medium.hpp"
#include "integrations/gem5_bench.hpp"

namespace {

using namespace gem5;
using namespace gem5::test;

// ---- Time

TEST_F(Gem5Test, AReadTakesItsIdleLatency) {
  start_one();
  event_queue.run(7 * kNs);
  caches().send(MemCmd::ReadReq, 0);
  event_queue.run(1'000 * kNs);
  caches().send(MemCmd::ReadSharedReq, 64, 0, 3 * kNs);  // on the bus for 3 ns more
  event_queue.run(2'000 * kNs);
  ASSERT_EQ(caches().answers.size(), 2U);
  EXPECT_EQ(caches().answers[0].at, 7 * kNs + kIdle);
  EXPECT_EQ(caches().answers[1].at, 1'003 * kNs + kIdle);
  EXPECT_LE(event_queue.woken, 6U) << "not for each event of the system";
}

TEST_F(Gem5Test, AWriteIsThereWhenItComesAndAReadTakesWhatIsThereWhenItIsAnswered) {
  start_one();
  caches().send(MemCmd::ReadReq, 128);
  event_queue.run(100 * kNs);
  caches().send(MemCmd::WritebackDirty, 128, 5);
  EXPECT_EQ(byte(128), 5);
  event_queue.run(1'000 * kNs);
  ASSERT_EQ(caches().answers.size(), 1U) << "a write-back has none";
  EXPECT_EQ(caches().last_value(), 5);
  caches().send(MemCmd::WriteReq, 192, 6);
  EXPECT_EQ(byte(192), 6);
  event_queue.run(2'000 * kNs);
  EXPECT_EQ(caches().answers.size(), 2U);
}

TEST_F(Gem5Test, AnswersThatTheBusRefusesComeInOrderWhenItHasRoom) {
  start_one();
  const PacketPtr first = caches().send(MemCmd::ReadReq, 0);
  const PacketPtr second = caches().send(MemCmd::ReadReq, 64);
  caches().accepts = false;
  event_queue.run(1'000 * kNs);
  EXPECT_TRUE(caches().answers.empty());
  caches().accepts = true;
  caches().sendRetryResp();
  ASSERT_EQ(caches().answers.size(), 2U);
  EXPECT_EQ(caches().answers[0].packet, first);
  EXPECT_EQ(caches().answers[1].packet, second);
}

TEST_F(Gem5Test, AnUpgradeOfAHostWithoutCoherenceIsAnswered) {
  start_one();
  caches().send(MemCmd::UpgradeReq, 0);
  event_queue.run(1'000 * kNs);
  EXPECT_EQ(caches().answers.size(), 1U);
}

TEST_F(Gem5Test, WithoutTimeAnAccessTakesWhatItTakesAlone) {
  start_one();
  Packet packet(std::make_shared<Request>(kStart, 64, 0, 0), MemCmd::ReadReq, 64);
  auto& port = dynamic_cast<ResponsePort&>(hosts_[0]->getPort("cpu_side", 0));
  EXPECT_EQ(port.recvAtomic(&packet), kIdle);
  EXPECT_TRUE(packet.isResponse());
}

TEST_F(Gem5Test, ADelayIsAPathToo) {
  CxlDelayParams params;
  params.shortest = params.longest = 50 * kNs;
  cxl::Delay delay(params);
  CxlHostParams host_params;
  host_params.fabric = &delay;
  host_params.memory = memory_.get();
  host_params.system = &system_;
  cxl::Host host(host_params);
  Caches above;
  above.bind(dynamic_cast<ResponsePort&>(host.getPort("cpu_side", 0)));
  host.init();
  above.send(MemCmd::ReadReq, 0);
  event_queue.run(1'000 * kNs);
  ASSERT_EQ(above.answers.size(), 1U);
  EXPECT_EQ(above.answers[0].at, 50 * kNs);
}

TEST_F(Gem5Test, AHostsMemoryBeginsWhereItIsToldInTheMap) {
  // A second memory behind the first one: of 90 ns in the place of 45.
  std::string two = kOneHost;
  two.replace(two.find("\"mem\""), 5,
              R"("far": {"kind": "memory", "capacity": "64KiB", "controller_time": "40ns",
        "media": {"kind": "fixed", "latency": "90ns"}}, "mem")");
  const std::string link = R"({"between": ["host", "mem"])";
  std::string far = link;
  far.replace(far.find("mem"), 3, "far");
  const std::size_t begin = two.find(link);
  const std::string same = two.substr(begin + link.size(), two.find('}', begin) + 1 - begin - link.size());
  two.insert(begin, far + same + ", ");
  two.replace(two.find(R"({"to": ["mem"]})"), 15, R"({"to": ["mem"]}, {"to": ["far"]})");
  open(spec(two));
  CxlHostParams params;
  params.fabric = fabric_.get();
  params.memory = memory_.get();
  params.system = &system_;
  params.offset = 64 << 10;
  cxl::Host host(params);
  Caches above;
  above.bind(dynamic_cast<ResponsePort&>(host.getPort("cpu_side", 0)));
  host.init();
  fabric_->startup();
  above.send(MemCmd::ReadReq, 0);
  event_queue.run(1'000 * kNs);
  ASSERT_EQ(above.answers.size(), 1U);
  EXPECT_EQ(above.answers[0].at, kIdle + 45 * kNs);
}

TEST_F(Gem5Test, ADelayLiesBetweenItsBoundsAndSnoopsAsOftenAndAsFarBackAsItIsTold) {
  struct Seen {
    Tick least = ~Tick{0};
    Tick most = 0;
    std::size_t snoops = 0;
    std::set<Addr> lines;
  };
  const auto played = [&](Tick interval, unsigned lines) {
    event_queue.clear();
    CxlDelayParams params;
    params.shortest = 50 * kNs;
    params.longest = 90 * kNs;
    params.snoop_interval = interval;
    params.snooped_lines = lines;
    cxl::Delay delay(params);
    CxlHostParams host_params;
    host_params.fabric = &delay;
    host_params.memory = memory_.get();
    host_params.system = &system_;
    cxl::Host host(host_params);
    Caches above;
    above.bind(dynamic_cast<ResponsePort&>(host.getPort("cpu_side", 0)));
    host.init();
    Seen seen;
    for (Addr i = 0; i < 100; ++i) {
      above.send(MemCmd::ReadExReq, i * 64);
      const Tick sent = curTick();
      event_queue.run(sent + 1'000 * kNs);
      if (interval == 0) {  // else an answer may wait for a snoop
        seen.least = std::min(seen.least, above.answers.back().at - sent);
        seen.most = std::max(seen.most, above.answers.back().at - sent);
      }
    }
    above.snoops.clear();
    event_queue.run(curTick() + 100'000 * kNs);
    seen.snoops = above.snoops.size();
    seen.lines = {above.snoops.begin(), above.snoops.end()};
    return seen;
  };
  const Seen quiet = played(0, 64);
  EXPECT_EQ(quiet.snoops, 0U);
  EXPECT_GE(quiet.least, 50 * kNs);
  EXPECT_LE(quiet.most, 90 * kNs);
  EXPECT_LT(quiet.least, quiet.most);
  const Seen often = played(100 * kNs, 64);
  EXPECT_NEAR(static_cast<double>(often.snoops), 1000, 150);
  EXPECT_NEAR(static_cast<double>(played(1'000 * kNs, 64).snoops), 100, 40);
  EXPECT_EQ(often.lines.size(), 64U);
  EXPECT_EQ(played(100 * kNs, 4).lines, (std::set<Addr>{96 * 64, 97 * 64, 98 * 64, 99 * 64}));
}

// ---- Coherence

TEST_F(Gem5Test, ALineGoesFromOneHostToTheOtherWithItsBytes) {
  start_two();
  caches(0).send(MemCmd::ReadSharedReq, 0);
  event_queue.run(2'000 * kNs);
  ASSERT_EQ(caches(0).answers.size(), 1U);
  EXPECT_FALSE(caches(0).answers[0].packet->hasSharers()) << "what is read may be written";
  caches(0).copies[0] = {true, 7};
  caches(1).send(MemCmd::ReadSharedReq, 0);
  event_queue.run(4'000 * kNs);
  ASSERT_EQ(caches(0).snoops, std::vector<Addr>{0});
  ASSERT_TRUE(caches(0).brings());
  EXPECT_TRUE(caches(1).answers.empty()) << "the bytes have not come";
  caches(0).bring();
  EXPECT_EQ(byte(0), 7);
  event_queue.run(6'000 * kNs);
  ASSERT_EQ(caches(1).answers.size(), 1U);
  EXPECT_EQ(caches(1).last_value(), 7);
  EXPECT_EQ(*statistics::scalars["dirtySnoops"], 0.0) << "of the other host";
}

TEST_F(Gem5Test, CachesAboveKnowThatARequestWaitsBelow) {
  start_two();
  const PacketPtr packet = caches(0).send(MemCmd::ReadExReq, 64);
  EXPECT_TRUE(packet->pending_below) << "a snoop comes before it";
  event_queue.run(2'000 * kNs);
  EXPECT_FALSE(packet->pending_below);
}

TEST_F(Gem5Test, HostsThatShareUpgradeWhatTheyWrite) {
  start_two(true);
  for (const std::size_t host : {0U, 1U}) {
    caches(host).send(MemCmd::ReadSharedReq, 0);
    event_queue.run(curTick() + 2'000 * kNs);
    ASSERT_EQ(caches(host).answers.size(), 1U);
    caches(host).copies[0] = {false, 0};
  }
  EXPECT_EQ(caches(0).snoops, std::vector<Addr>{0});
  EXPECT_TRUE(caches(1).answers[0].packet->hasSharers());
  caches(0).snoops.clear();
  // Both want to write it: one loses its copy meanwhile, and gets the bytes with the line.
  const PacketPtr left = caches(0).send(MemCmd::UpgradeReq, 0);
  const PacketPtr right = caches(1).send(MemCmd::UpgradeReq, 0);
  event_queue.run(curTick() + 5'000 * kNs);
  EXPECT_EQ(caches(0).answers.size() + caches(1).answers.size(), 4U);
  EXPECT_EQ(caches(0).snoops.size() + caches(1).snoops.size(), 2U);
  EXPECT_FALSE(left->hasSharers());
  EXPECT_FALSE(right->hasSharers());
}

TEST_F(Gem5Test, AStoreOfAWholeLineUpgradesASharedCopyWithoutItsBytes) {
  CxlFabricParams params = spec(kTwoHosts);
  params.measures = {"per_memory.pool.reads"};
  open(params);
  add("left", true);
  add("right", true);
  fabric_->startup();
  const auto reads = [this](std::size_t host, MemCmd command) {
    caches(host).send(command, 0);
    event_queue.run(curTick() + 2'000 * kNs);
    fabric_->preDumpStats();
    return *statistics::scalars["per_memory_pool_reads"];
  };
  EXPECT_EQ(reads(0, MemCmd::InvalidateReq), 1.0) << "no copy was granted";
  EXPECT_EQ(reads(1, MemCmd::ReadSharedReq), 1.0);
  EXPECT_EQ(reads(1, MemCmd::InvalidateReq), 0.0);
}

TEST_F(Gem5Test, OfTwoStoreConditionalsOneGetsTheLineAndFails) {
  start_two(true);
  for (const std::size_t host : {0U, 1U}) {
    caches(host).send(MemCmd::ReadSharedReq, 0);
    event_queue.run(curTick() + 2'000 * kNs);
  }
  caches(1).copies[0] = {false, 0};
  const PacketPtr left = caches(0).send(MemCmd::SCUpgradeReq, 0);
  const PacketPtr right = caches(1).send(MemCmd::SCUpgradeReq, 0);
  event_queue.run(curTick() + 300 * kNs);
  *memory_->at(kStart) = 6;  // as the one that succeeds writes it
  event_queue.run(curTick() + 5'000 * kNs);
  ASSERT_EQ(caches(0).answers.size() + caches(1).answers.size(), 4U);
  const auto value = [](const PacketPtr packet) { return *packet->getPtr<std::uint8_t>(); };
  EXPECT_EQ(value(left) + value(right), 6) << "one has been upgraded without bytes";
}

TEST_F(Gem5Test, ALineLeavesWithItsLastCopy) {
  start_two();
  caches(0).send(MemCmd::ReadExReq, 0);
  event_queue.run(2'000 * kNs);
  caches(0).copies[0] = {false, 0};
  // A second-level cache gives its bytes up, and a first-level cache keeps a copy.
  auto* const packet = new Packet(std::make_shared<Request>(kStart, 64, 0, 0), MemCmd::WritebackDirty, 64);
  packet->setBlockCached();
  *packet->getPtr<std::uint8_t>() = 8;
  caches(0).sendTimingReq(packet);
  EXPECT_EQ(byte(0), 8);
  event_queue.run(4'000 * kNs);
  caches(1).send(MemCmd::ReadExReq, 0);
  event_queue.run(6'000 * kNs);
  EXPECT_TRUE(caches(0).copies.empty()) << "it is snooped";
  ASSERT_EQ(caches(1).answers.size(), 1U);
  EXPECT_EQ(caches(1).last_value(), 8);
}

TEST_F(Gem5Test, AWriteWithoutACopyTakesThoseOfOthers) {
  start_two();
  caches(0).send(MemCmd::ReadExReq, 0);
  event_queue.run(2'000 * kNs);
  caches(0).copies[0] = {false, 0};
  caches(1).send(MemCmd::WriteReq, 0, 9);
  event_queue.run(4'000 * kNs);
  EXPECT_TRUE(caches(0).copies.empty());
  EXPECT_EQ(caches(1).answers.size(), 1U);
}

TEST_F(Gem5Test, WithoutTimeACopyOfAnotherHostIsTakenOrRead) {
  start_two();
  caches(0).copies[0] = {true, 3};
  auto& right = dynamic_cast<ResponsePort&>(hosts_[1]->getPort("cpu_side", 0));
  Packet look(std::make_shared<Request>(kStart, 64, 0, 0), MemCmd::ReadReq, 64);
  right.recvFunctional(&look);
  EXPECT_EQ(*look.getPtr<std::uint8_t>(), 3);
  EXPECT_EQ(caches(0).copies.size(), 1U) << "it only looks";
  Packet read(std::make_shared<Request>(kStart, 64, 0, 0), MemCmd::ReadExReq, 64);
  right.recvAtomic(&read);
  EXPECT_EQ(*read.getPtr<std::uint8_t>(), 3);
  EXPECT_TRUE(caches(0).copies.empty());
}

TEST_F(Gem5Test, WithoutTimeHostsThatShareKeepTheirCopiesUntilOneWrites) {
  start_two(true);
  const auto send = [this](std::size_t host, MemCmd command, bool responding = false) {
    Packet packet(std::make_shared<Request>(kStart, 64, 0, 0), command, 64);
    if (responding) packet.setCacheResponding();
    dynamic_cast<ResponsePort&>(hosts_[host]->getPort("cpu_side", 0)).recvAtomic(&packet);
    return packet;
  };
  EXPECT_FALSE(send(0, MemCmd::ReadSharedReq).hasSharers());
  caches(0).copies[0] = {true, 3};
  Packet read = send(1, MemCmd::ReadSharedReq);
  EXPECT_TRUE(read.hasSharers());
  EXPECT_EQ(*read.getPtr<std::uint8_t>(), 3);
  EXPECT_EQ(caches(0).copies.size(), 1U);
  caches(1).copies[0] = {false, 3};
  // Another cache of the left host gets it from the one that wrote it.
  send(0, MemCmd::ReadExReq, true);
  EXPECT_TRUE(caches(1).copies.empty());
  send(1, MemCmd::UpgradeReq);
  EXPECT_TRUE(caches(0).copies.empty());
}

TEST_F(Gem5Test, ProbesSeeEachRequestAndEachAnswerOnce) {
  start_one();
  const ProbeManager& seen = *hosts_[0]->getProbeManager();
  caches().send(MemCmd::ReadReq, 0);
  caches().send(MemCmd::WritebackDirty, 64, 5);
  caches().accepts = false;
  event_queue.run(1'000 * kNs);
  EXPECT_EQ(seen.at("PktRequest"), 2);
  EXPECT_EQ(seen.at("PktResponse"), 0) << "the bus has no room";
  caches().accepts = true;
  caches().sendRetryResp();
  EXPECT_EQ(seen.at("PktResponse"), 1) << "a write-back has none";
  Packet packet(std::make_shared<Request>(kStart, 64, 0, 0), MemCmd::ReadReq, 64);
  dynamic_cast<ResponsePort&>(hosts_[0]->getPort("cpu_side", 0)).recvAtomic(&packet);
  EXPECT_EQ(seen.at("PktRequest"), 3);
  EXPECT_EQ(seen.at("PktResponse"), 2);
}

// ---- Media

class Controller : public ResponsePort {
 public:
  Controller() : ResponsePort("controller"), end_([this] { end(); }, "end") {}
  AddrRangeList getAddrRanges() const override { return {}; }
  bool recvTimingReq(PacketPtr packet) override {
    if (packet_) {
      ++refused;
      return false;
    }
    packet_ = packet;
    event_queue.schedule(end_, curTick() + 30 * kNs);
    return true;
  }
  void recvRespRetry() override {}
  Tick recvAtomic(PacketPtr /*packet*/) override { return 0; }
  void recvFunctional(PacketPtr /*packet*/) override {}
  int refused = 0;

 private:
  void end() {
    PacketPtr packet = std::exchange(packet_, nullptr);
    packet->makeResponse();
    sendTimingResp(packet);
    if (refused > 0) sendRetryReq();
  }
  PacketPtr packet_ = nullptr;
  EventFunctionWrapper end_;
};

TEST_F(Gem5Test, AMediumIsAControllerOfGem5) {
  open(spec(kOneHost));
  CxlMediumParams params;
  params.fabric = fabric_.get();
  params.system = &system_;
  cxl::Medium medium(params);
  Controller controller;
  dynamic_cast<RequestPort&>(medium.getPort("mem_side", 0)).bind(controller);
  add("host");
  medium.init();
  fabric_->startup();
  caches().send(MemCmd::ReadReq, 0);
  event_queue.run(1'000 * kNs);
  ASSERT_EQ(caches().answers.size(), 1U);
  EXPECT_EQ(caches().answers[0].at, kIdle - 45 * kNs + 30 * kNs);
  // One at a time: of three that come together each waits for the one before.
  for (const Addr line : {64U, 128U, 192U}) caches().send(MemCmd::ReadReq, line);
  event_queue.run(2'000 * kNs);
  ASSERT_EQ(caches().answers.size(), 4U);
  EXPECT_GT(controller.refused, 0);
  EXPECT_EQ(caches().answers[2].at - caches().answers[1].at, 30 * kNs);
  EXPECT_EQ(caches().answers[3].at - caches().answers[2].at, 30 * kNs);
}

}  // namespace
