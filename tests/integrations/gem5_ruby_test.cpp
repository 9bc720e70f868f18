// The module for gem5 below caches of Ruby, against a stand-in: how lines are taken back from them.
#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cxloom_gem5/fabric.hpp"
#include "cxloom_gem5/host.hpp"
#include "integrations/gem5_bench.hpp"

namespace {

using namespace gem5;
using namespace gem5::test;

/// What Ruby takes recalls by: it holds them until a test answers.
class RecallSide : public ResponsePort {
 public:
  RecallSide() : ResponsePort("ruby.recalls") {}

  std::deque<PacketPtr> recalls;
  std::vector<Addr> seen;
  std::vector<Addr> functional;
  bool accepts = true;

  void gone() { answer(false); }
  /// As the protocol answers where it waits for the line itself.
  void fetching() { answer(true); }

  AddrRangeList getAddrRanges() const override { return {}; }
  bool recvTimingReq(PacketPtr packet) override {
    if (!accepts) return false;
    recalls.push_back(packet);
    seen.push_back(packet->getAddr() - kStart);
    return true;
  }
  void recvRespRetry() override {}
  Tick recvAtomic(PacketPtr /*packet*/) override { return 0; }
  void recvFunctional(PacketPtr packet) override {
    functional.push_back(packet->getAddr() - kStart);
    packet->makeResponse();
  }

 private:
  void answer(bool cleared) {
    PacketPtr packet = recalls.front();
    recalls.pop_front();
    if (cleared) *packet->getPtr<std::uint8_t>() = 0;
    packet->makeResponse();
    sendTimingResp(packet);
  }
};

class Gem5RubyTest : public Gem5Test {
 protected:
  /// The left host has caches of Ruby, the right one classic caches.
  void start() {
    open(spec(kTwoHosts));
    ruby();
    add("right");
    fabric_->startup();
  }
  void ruby(bool shares = false) {
    CxlHostParams params;
    params.name = "system.left";
    params.fabric = fabric_.get();
    params.memory = memory_.get();
    params.system = &system_;
    params.device = "left";
    params.shares = shares;
    hosts_.push_back(std::make_unique<cxl::Host>(params));
    caches_.push_back(std::make_unique<Caches>(false));
    caches_.back()->bind(dynamic_cast<ResponsePort&>(hosts_.back()->getPort("cpu_side", 0)));
    dynamic_cast<RequestPort&>(hosts_.back()->getPort("recalls", 0)).bind(recalls_);
    hosts_.back()->init();
  }
  Caches& directory() { return caches(0); }
  Caches& other() { return caches(1); }
  void run(Tick ns) { event_queue.run(curTick() + ns * kNs); }
  /// The directory has a line, and the other host wants it: the home recalls it.
  void contend(Addr line) {
    directory().send(MemCmd::ReadReq, line);
    run(2'000);
    other().send(MemCmd::ReadExReq, line);
    run(2'000);
  }

  RecallSide recalls_;
};

TEST_F(Gem5RubyTest, ALineThatWasWrittenComesBeforeTheRecallEnds) {
  start();
  contend(0);
  ASSERT_EQ(recalls_.seen, std::vector<Addr>{0});
  EXPECT_TRUE(other().answers.empty()) << "the line is still with Ruby";
  const std::size_t before = directory().answers.size();
  directory().send(MemCmd::WriteReq, 0, 7);
  EXPECT_EQ(directory().answers.size(), before) << "not from within the request";
  event_queue.run(curTick());
  EXPECT_EQ(directory().answers.size(), before + 1) << "in no time: the recall waits for it";
  EXPECT_TRUE(other().answers.empty());
  recalls_.gone();
  run(2'000);
  ASSERT_EQ(other().answers.size(), 1U);
  EXPECT_EQ(other().last_value(), 7);
  EXPECT_EQ(byte(0), 7);
}

TEST_F(Gem5RubyTest, ALineThatWasNotWrittenGoesWithoutItsBytes) {
  CxlFabricParams params = spec(kTwoHosts);
  params.measures = {"per_memory.pool.writes"};
  open(params);
  ruby();
  add("right");
  fabric_->startup();
  contend(64);
  recalls_.gone();
  run(2'000);
  EXPECT_EQ(other().answers.size(), 1U);
  fabric_->preDumpStats();
  EXPECT_EQ(*statistics::scalars["per_memory_pool_writes"], 0.0);
}

TEST_F(Gem5RubyTest, AWrittenLineThatLeavesIsAnsweredAtOnceAndWrittenInItsTime) {
  CxlFabricParams params = spec(kTwoHosts);
  params.measures = {"per_memory.pool.writes"};
  open(params);
  ruby();
  fabric_->startup();
  directory().send(MemCmd::ReadReq, 0);
  run(2'000);
  ASSERT_EQ(directory().answers.size(), 1U);
  directory().send(MemCmd::WriteReq, 0, 9);
  EXPECT_EQ(byte(0), 9);
  event_queue.run(curTick());
  EXPECT_EQ(directory().answers.size(), 2U);
  EXPECT_FALSE(hosts_[0]->begin_drain()) << "the system has not written it";
  run(2'000);
  EXPECT_EQ(hosts_[0]->drainState(), DrainState::Drained);
  fabric_->preDumpStats();
  EXPECT_EQ(*statistics::scalars["per_memory_pool_writes"], 1.0);
  EXPECT_TRUE(recalls_.seen.empty());
}

TEST_F(Gem5RubyTest, ARecallThatOvertookTheAnswerIsSentAgain) {
  start();
  contend(0);
  ASSERT_EQ(recalls_.seen.size(), 1U);
  recalls_.fetching();  // the host has answered: the answer is on its way to the directory
  ASSERT_EQ(recalls_.seen.size(), 2U);
  run(1'000);
  EXPECT_TRUE(other().answers.empty());
  recalls_.gone();
  run(2'000);
  EXPECT_EQ(other().answers.size(), 1U);
}

TEST_F(Gem5RubyTest, ARecallEndsWhereRubyWaitsForTheLineItself) {
  start();
  contend(0);
  directory().send(MemCmd::ReadReq, 0);  // its copy has left unseen, and it wants another
  recalls_.fetching();
  EXPECT_EQ(recalls_.seen.size(), 1U);
  run(4'000);
  EXPECT_EQ(other().answers.size(), 1U);
  // Then the home gives it to the one that asked next.
  EXPECT_EQ(directory().answers.size(), 2U);
}

TEST_F(Gem5RubyTest, ARecallThatRubyHasNoRoomForComesWhenItHas) {
  start();
  recalls_.accepts = false;
  contend(0);
  EXPECT_TRUE(recalls_.seen.empty());
  recalls_.accepts = true;
  recalls_.sendRetryReq();
  ASSERT_EQ(recalls_.seen.size(), 1U);
  recalls_.gone();
  run(2'000);
  EXPECT_EQ(other().answers.size(), 1U);
}

TEST_F(Gem5RubyTest, WithoutTimeTheOtherHostLooksIntoRuby) {
  start();
  Packet look(std::make_shared<Request>(kStart + 128, 64, 0, 0), MemCmd::ReadReq, 64);
  dynamic_cast<ResponsePort&>(hosts_[1]->getPort("cpu_side", 0)).recvFunctional(&look);
  EXPECT_EQ(recalls_.functional, std::vector<Addr>{128});
}

TEST_F(Gem5RubyTest, SharedCopiesAreRefused) {
  open(spec(kTwoHosts));
  EXPECT_NE(refused([this] { ruby(true); }).find("shares is set"), std::string::npos);
}

}  // namespace
