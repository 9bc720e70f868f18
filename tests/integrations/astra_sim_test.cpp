// The adapter to ASTRA-sim against a stand-in of the parts of it that it uses.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>

#include "core/support/errors.hpp"
#include "integrations/astra-sim/remote_memory.hpp"

namespace cxloom::integrations {
namespace {

using AstraSim::Sys;
using AstraSim::Tick;
using AstraSim::WorkloadLayerHandlerData;
using test::contains;

// Two GPUs with links of their own to a host, and a memory behind it. A packet of 256 B takes 10 ns of a
// GPU's link.
constexpr const char* kSystem = R"({
  "devices": {
    "host": {"kind": "host"}, "cxl": {"kind": "memory", "capacity": "64GiB"},
    "gpu0": {"kind": "gpu", "posted": 1024}, "gpu1": {"kind": "gpu", "posted": 1024}},
  "links": [
    {"between": ["host", "gpu0"], "bandwidth": "28GB/s", "header": "24B", "data_header": "24B",
      "port_delay": "100ns"},
    {"between": ["host", "gpu1"], "bandwidth": "28GB/s", "header": "24B", "data_header": "24B",
      "port_delay": "100ns"},
    {"between": ["host", "cxl"], "bandwidth": "WIDTH", "port_delay": "25ns"}],
  "address_map": [{"to": ["cxl"]}]})";

std::string system_with(const std::string& width) {
  std::string text = kSystem;
  return text.replace(text.find("WIDTH"), 5, width);
}

class AstraSimTest : public testing::Test {
 protected:
  AstraSimTest() { Sys::reset(); }

  RemoteMemory& open(RemoteMemoryOptions options = {}, const std::string& width = "200GB/s") {
    options.system = system_with(width);
    options.devices = {"gpu0", "gpu1"};
    memory_ = std::make_unique<RemoteMemory>(std::move(options));
    for (int npu = 0; npu < 2; ++npu) memory_->set_sys(npu, &systems_[npu]);
    return *memory_;
  }
  void issue(int npu, std::uint64_t id, std::uint64_t bytes) {
    auto* const node = new WorkloadLayerHandlerData();
    node->sys_id = npu;
    node->workload = &workload_;
    node->node_id = id;
    memory_->issue(bytes, node);
  }
  /// When a tensor that is alone has arrived.
  Tick alone(std::uint64_t bytes, const RemoteMemoryOptions& options = {},
             const std::string& width = "200GB/s") {
    Sys::reset();
    open(options, width);
    issue(0, 1, bytes);
    Sys::run();
    const Tick end = workload_.ends.at(1);
    Sys::reset();
    workload_.ends.clear();
    return end;
  }

  std::unique_ptr<RemoteMemory> memory_;
  Sys systems_[2];
  AstraSim::Workload workload_;
};

constexpr std::uint64_t kMiB = 1 << 20;

TEST_F(AstraSimTest, EndsANodeWhenItsLastPacketHasArrived) {
  const Tick packet = alone(256);
  EXPECT_GT(packet, 5800U);  // launch_time
  EXPECT_EQ(alone(kMiB), packet + (kMiB / 256 - 1) * 10);
}

TEST_F(AstraSimTest, BeginsATransferWhenItIsIssued) {
  const Tick whole = alone(kMiB);
  open();
  workload_.ended = [this](std::uint64_t id) {  // one as soon as the one before has ended, as an NPU does
    if (id < 3) issue(0, id + 1, kMiB);
  };
  issue(0, 1, kMiB);
  Sys::run();
  for (std::uint64_t id = 1; id <= 3; ++id) {
    EXPECT_GE(workload_.ends.at(id), id * whole - id);  // each is rounded up to a tick
    EXPECT_LE(workload_.ends.at(id), id * whole);
  }
}

TEST_F(AstraSimTest, TensorsOfTwoNpusShareTheLinkOfTheMemory) {
  const Tick wide = alone(kMiB);
  open();
  issue(0, 1, kMiB);
  issue(1, 2, kMiB);
  Sys::run();
  EXPECT_LT(workload_.ends.at(2), wide + wide / 50);  // where it is wide, each is as if alone
  workload_.ends.clear();

  const std::string narrow = "10GB/s";
  const Tick whole = alone(kMiB, {}, narrow) - 6500;
  open({}, narrow);
  issue(0, 1, kMiB);
  issue(1, 2, kMiB);
  Sys::run();
  const Tick both = std::max(workload_.ends.at(1), workload_.ends.at(2)) - 6500;
  EXPECT_NEAR(static_cast<double>(both), 2.0 * static_cast<double>(whole), 0.02 * static_cast<double>(whole));
}

TEST_F(AstraSimTest, AWiderStepHasFewerEventsAndLaterEnds) {
  const Tick exact = alone(kMiB);
  open();
  issue(0, 1, kMiB);
  Sys::run();
  const std::uint64_t calls = Sys::calls;
  Sys::reset();
  open({.step = 1000});
  issue(0, 1, kMiB);
  Sys::run();
  EXPECT_GE(workload_.ends.at(1), exact);
  EXPECT_LE(workload_.ends.at(1), exact + 1000);
  EXPECT_LT(Sys::calls * 20, calls);
}

TEST_F(AstraSimTest, StoresAreWritesWhereTheUserSaysWhichTheyAre) {
  RemoteMemory& memory =
      open({.stores = [](const WorkloadLayerHandlerData& node) { return node.node_id == 2; }});
  issue(0, 1, kMiB);
  issue(1, 2, 2 * kMiB);
  Sys::run();
  const std::string summary = memory.finish();
  EXPECT_TRUE(contains(summary, "\"reads\": 2048,")) << summary;   // of 512 B
  EXPECT_TRUE(contains(summary, "\"writes\": 8192,")) << summary;  // of 256 B
}

TEST_F(AstraSimTest, ATensorWithoutBytesEndsAtOnce) {
  open();
  issue(0, 7, 0);
  EXPECT_TRUE(workload_.ends.empty());  // not within issue()
  Sys::run();
  EXPECT_EQ(workload_.ends.at(7), 0U);
}

TEST_F(AstraSimTest, TensorsAreBehindEachOtherAndGoRoundTheWindow) {
  // The second half of NPU 0's window belongs to nobody: tensors go there unless they are where they should
  // be.
  open({.base = (std::uint64_t{64} << 30) - 3 * 4096, .window = 4096});
  for (std::uint64_t id = 0; id < 5; ++id) issue(0, id, 3000);
  issue(1, 5, 4096);
  Sys::run();
  EXPECT_EQ(workload_.ends.size(), 6U);
  EXPECT_THROW(issue(0, 6, 4097), std::runtime_error);  // sys_panic of the stand-in
}

TEST_F(AstraSimTest, SaysWhatIsWrong) {
  const auto text_of = [](RemoteMemoryOptions options) -> std::string {
    try {
      RemoteMemory memory(std::move(options));
    } catch (const std::exception& error) {
      return error.what();
    }
    return {};
  };
  const std::string system = system_with("1GB/s");
  EXPECT_TRUE(contains(text_of({.system = system}), "without devices"));
  EXPECT_TRUE(contains(text_of({.system = "{", .devices = {"gpu0"}}), "no JSON"));
  EXPECT_TRUE(contains(text_of({.system = system, .devices = {"gpu7"}}), "gpu7"));
  EXPECT_TRUE(contains(text_of({.system = system, .devices = {"cxl"}}), "makes no requests"));
  EXPECT_TRUE(contains(text_of({.system = system, .devices = {"gpu0"}, .step = 0}), "step"));
  EXPECT_EQ(text_of({.system = system, .devices = {"gpu0", "gpu0"}}), "");  // two NPUs of one device
  open({.base = std::uint64_t{1} << 50});
  EXPECT_THROW(issue(0, 1, 64), std::runtime_error);
  EXPECT_THROW(memory_->set_sys(2, &systems_[0]), std::runtime_error);
}

}  // namespace
}  // namespace cxloom::integrations
