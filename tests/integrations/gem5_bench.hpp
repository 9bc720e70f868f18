// Hosts of the module for gem5 with caches above them that do what a test says.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cxloom_gem5/fabric.hpp"
#include "cxloom_gem5/host.hpp"

namespace gem5::test {

constexpr Tick kNs = 1000;
constexpr Addr kStart = 1 << 20;  // of the memory in gem5

// A read takes 10 + (25 + 0.5 + 5 + 25) + 40 + 45 + (25 + 2.5 + 5 + 25) ns: a request has 16 bytes, an
// answer 80.
constexpr const char* kOneHost = R"({
  "devices": {
    "host": {"kind": "host", "process_time": "10ns"},
    "mem": {"kind": "memory", "capacity": "64KiB", "controller_time": "40ns",
      "media": {"kind": "fixed", "latency": "45ns"}}},
  "links": [{"between": ["host", "mem"], "bandwidth": "32GB/s", "header": "16B", "data_header": "16B",
    "port_delay": "25ns", "delay": "5ns"}],
  "address_map": [{"to": ["mem"]}]})";
constexpr Tick kIdle = 208 * kNs;

constexpr const char* kTwoHosts = R"({
  "devices": {
    "left": {"kind": "host", "external_cache": true},
    "right": {"kind": "host", "external_cache": true},
    "switch": {"kind": "switch"},
    "pool": {"kind": "memory", "capacity": "64KiB", "dcoh": {"filter": {"entries": 1024}}}},
  "links": [{"between": ["left", "switch"]}, {"between": ["right", "switch"]},
    {"between": ["switch", "pool"]}],
  "address_map": [{"to": ["pool"], "coherence": "hdm-db"}]})";

/// The caches of a host and the bus below them.
class Caches : public RequestPort {
 public:
  explicit Caches(bool snooping = true) : RequestPort("caches"), snooping_(snooping) {}

  bool isSnooping() const override { return snooping_; }

  struct Copy {
    bool dirty = false;
    std::uint8_t value = 0;
  };
  struct Answered {
    PacketPtr packet;
    Tick at;
  };

  std::map<Addr, Copy> copies;
  std::vector<Answered> answers;
  std::vector<Addr> snoops;
  bool accepts = true;

  /// A packet is the sender's to delete once it is a response, and the receiver's if it has none.
  PacketPtr send(MemCmd command, Addr address, std::uint8_t value = 0, Tick header_delay = 0) {
    auto* const packet = new Packet(std::make_shared<Request>(kStart + address, 64, 0, 0), command, 64);
    packet->allocate();
    *packet->getPtr<std::uint8_t>() = value;
    packet->headerDelay = header_delay;
    EXPECT_TRUE(sendTimingReq(packet));
    return packet;
  }
  std::uint8_t last_value() const { return *answers.back().packet->getPtr<std::uint8_t>(); }
  /// The bytes of a dirty copy that was snooped come now.
  void bring() {
    auto* const packet = new Packet(late_->req, MemCmd::Response);
    packet->allocate();
    *packet->getPtr<std::uint8_t>() = late_value_;
    packet->senderState = late_->senderState;
    late_.reset();
    peer_->recvTimingSnoopResp(packet);
  }
  bool brings() const { return late_ != nullptr; }

  ~Caches() override {
    for (const Answered& answer : answers) delete answer.packet;
  }

 protected:
  bool recvTimingResp(PacketPtr packet) override {
    if (!accepts) return false;
    answers.push_back({packet, curTick()});
    return true;
  }
  void recvReqRetry() override {}
  void recvTimingSnoopReq(PacketPtr packet) override {
    snoops.push_back(packet->getAddr() - kStart);
    const Copy copy = take(packet);
    if (!copy.dirty) return;
    packet->setCacheResponding();
    late_ = std::make_unique<Packet>(*packet);
    late_value_ = copy.value;
  }
  Tick recvAtomicSnoop(PacketPtr packet) override {
    const bool shares = !packet->needsWritable();
    const auto found = copies.find(packet->getAddr() - kStart);
    if (shares && found != copies.end()) packet->setHasSharers();
    const Copy copy = !shares ? take(packet) : found == copies.end() ? Copy{} : found->second;
    if (copy.dirty) {
      packet->setCacheResponding();
      *packet->getPtr<std::uint8_t>() = copy.value;
    }
    return 0;
  }
  void recvFunctionalSnoop(PacketPtr packet) override {
    const auto found = copies.find(packet->getAddr() - kStart);
    if (found == copies.end() || !found->second.dirty) return;
    *packet->getPtr<std::uint8_t>() = found->second.value;
    packet->makeResponse();
  }

 private:
  Copy take(PacketPtr packet) {
    const auto found = copies.find(packet->getAddr() - kStart);
    if (found == copies.end()) return {};
    const Copy copy = found->second;
    copies.erase(found);
    return copy;
  }

  const bool snooping_;
  std::unique_ptr<Packet> late_;
  std::uint8_t late_value_ = 0;
};

class Gem5Test : public testing::Test {
 protected:
  Gem5Test() {
    event_queue.clear();
    exit_callbacks.clear();
    simout.files.clear();
    sim_clock::Frequency = 1'000'000'000'000;
    CxlMemoryParams params;
    params.range = {kStart, 64 << 10};
    memory_ = std::make_unique<cxl::BackingMemory>(params);
  }

  CxlFabricParams spec(const std::string& text) {
    CxlFabricParams params;
    params.name = "system.fabric";
    // The processes among which the tests are divided have a file each.
    params.spec = testing::TempDir() + "gem5_test." + std::to_string(getpid()) + ".json";
    std::ofstream(params.spec) << text;
    return params;
  }
  void open(const CxlFabricParams& params) { fabric_ = std::make_unique<cxl::Fabric>(params); }
  cxl::Host& add(const std::string& device, bool shares = false) {
    CxlHostParams params;
    params.name = "system." + device;
    params.fabric = fabric_.get();
    params.memory = memory_.get();
    params.system = &system_;
    params.device = device;
    params.shares = shares;
    hosts_.push_back(std::make_unique<cxl::Host>(params));
    caches_.push_back(std::make_unique<Caches>(snooping_));
    caches_.back()->bind(dynamic_cast<ResponsePort&>(hosts_.back()->getPort("cpu_side", 0)));
    hosts_.back()->init();
    return *hosts_.back();
  }
  void start_one() {
    open(spec(kOneHost));
    add("host");
    fabric_->startup();
  }
  void start_two(bool shares = false) {
    open(spec(kTwoHosts));
    add("left", shares);
    add("right", shares);
    fabric_->startup();
  }
  /// What the module says when it refuses this.
  template <typename Act>
  static std::string refused(Act act) {
    try {
      act();
    } catch (const Fatal& error) {
      return error.what();
    }
    return "nothing is refused";
  }
  Caches& caches(std::size_t host = 0) { return *caches_[host]; }
  std::uint8_t byte(Addr address) { return *memory_->at(kStart + address); }

  System system_;
  bool snooping_ = true;  // whether what is added next passes snoops to its caches
  std::unique_ptr<cxl::BackingMemory> memory_;
  std::unique_ptr<cxl::Fabric> fabric_;
  std::vector<std::unique_ptr<cxl::Host>> hosts_;
  std::vector<std::unique_ptr<Caches>> caches_;
};

}  // namespace gem5::test
