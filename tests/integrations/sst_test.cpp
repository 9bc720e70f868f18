// The back end for SST's memHierarchy against a stand-in of the parts of SST that it uses.
#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "integrations/sst/host_backend.hpp"

namespace {

using cxloom::integrations::HostBackend;
using SST::standin::Ended;
using SST::standin::sst_clock;

// A read takes 10 + (25 + 0.5 + 5 + 25) + 40 + 45 + (25 + 2.5 + 5 + 25) ns: a request has 16 bytes, an
// answer 80.
constexpr const char* kSystem = R"({
  "devices": {
    "host": {"kind": "host", "process_time": "10ns"},
    "cxl": {"kind": "memory", "capacity": "1MiB", "controller_time": "40ns",
      "media": {"kind": "fixed", "latency": "45ns"}}},
  "links": [{"between": ["host", "cxl"], "bandwidth": "32GB/s", "header": "16B", "data_header": "16B",
    "port_delay": "25ns", "delay": "5ns"}],
  "address_map": [{"to": ["cxl"]}]})";
constexpr std::uint64_t kIdle = 208'000;

class SstTest : public testing::Test {
 protected:
  SstTest() {
    sst_clock = {};
    std::ofstream(folder_ + "sst_test.json") << kSystem;
    params_.insert("system", folder_ + "sst_test.json");
    params_.insert("mem_size", "512KiB");
  }

  HostBackend& open() {
    backend_ = std::make_unique<HostBackend>(1, params_);
    backend_->setResponseHandler([this](std::uint64_t id) { answers_.emplace_back(id, sst_clock.now); });
    return *backend_;
  }
  std::string refused() {
    try {
      open();
    } catch (const Ended& ended) {
      EXPECT_EQ(ended.code, 2);
      return ended.what();
    }
    return "nothing";
  }

  using Answer = std::pair<std::uint64_t, std::uint64_t>;  // its access, and when

  const std::string folder_ = testing::TempDir();
  SST::Params params_;
  std::unique_ptr<HostBackend> backend_;
  std::vector<Answer> answers_;
};

TEST_F(SstTest, AReadTakesTheLatencyOfTheSystemToThePicosecond) {
  HostBackend& backend = open();
  EXPECT_FALSE(backend.isClocked());
  sst_clock.run_until(12'345);
  ASSERT_TRUE(backend.issueRequest(7, 4096, false, 64));
  sst_clock.run_until(1'000'000);
  EXPECT_EQ(answers_, (std::vector{Answer{7, 12'345 + kIdle}}));
  EXPECT_LE(sst_clock.delivered, 3U) << "not for each event of the system";
}

TEST_F(SstTest, AccessesTakeTheLinkOneAfterTheOther) {
  HostBackend& backend = open();
  for (std::uint64_t id = 0; id < 4; ++id) ASSERT_TRUE(backend.issueRequest(id, id * 64, false, 64));
  sst_clock.run_until(10'000'000);
  ASSERT_EQ(answers_.size(), 4U);
  // 80 bytes of an answer take 2.5 ns of the link.
  for (std::uint64_t id = 0; id < 4; ++id) EXPECT_EQ(answers_[id], (Answer{id, kIdle + id * 2'500}));
}

TEST_F(SstTest, MoreThanItTakesAtOnceWaitsInTheController) {
  params_.insert("most", "2");
  HostBackend& backend = open();
  EXPECT_TRUE(backend.issueRequest(0, 0, true, 64));
  EXPECT_TRUE(backend.issueRequest(1, 64, false, 64));
  EXPECT_FALSE(backend.issueRequest(2, 128, false, 64));
  sst_clock.run_until(1'000'000);
  EXPECT_EQ(answers_.size(), 2U);
  EXPECT_TRUE(backend.issueRequest(2, 128, false, 64));
  sst_clock.run_until(2'000'000);
  EXPECT_EQ(answers_.back(), (Answer{2, 1'000'000 + kIdle}));
}

TEST_F(SstTest, ItsMemoryBeginsWhereItIsToldInTheMap) {
  std::string two = kSystem;
  two.replace(two.find(R"("cxl": {"kind")"), 0,
              R"("near": {"kind": "memory", "capacity": "1MiB", "controller_time": "0ns",
        "media": {"kind": "fixed", "latency": "9ns"}}, )");
  two.replace(two.find(R"("links": [)") + 10, 0, R"({"between": ["host", "near"]}, )");
  two.replace(two.find(R"([{"to": ["cxl"]}])"), 17, R"([{"to": ["near"]}, {"to": ["cxl"]}])");
  std::ofstream(folder_ + "sst_test.json") << two;
  ASSERT_TRUE(open().issueRequest(0, 0, false, 64));
  sst_clock.run_until(1'000'000);
  EXPECT_LT(answers_.back().second, kIdle);
  params_.insert("offset", "1MiB");
  ASSERT_TRUE(open().issueRequest(1, 0, false, 64));
  sst_clock.run_until(2'000'000);
  EXPECT_EQ(answers_.back(), (Answer{1, 1'000'000 + kIdle}));
}

TEST_F(SstTest, ASummaryGoesWhereItIsTold) {
  params_.insert("summary", folder_ + "sst_summary.json");
  HostBackend& backend = open();
  backend.issueRequest(0, 0, false, 64);
  backend.issueRequest(1, 64, true, 64);
  sst_clock.run_until(1'000'000);
  backend.finish();
  std::ifstream file(folder_ + "sst_summary.json");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_NE(text.find(R"("requests": 2)"), std::string::npos) << text;
}

TEST_F(SstTest, WhatIsWrongIsSaidBeforeTheFirstAccess) {
  params_.insert("host", "hots");
  EXPECT_NE(refused().find("there is no device \"hots\""), std::string::npos);
  params_.insert("host", "host");
  params_.insert("mem_size", "2MiB");
  EXPECT_NE(refused().find("no region"), std::string::npos);
  params_.insert("mem_size", "512KiB");
  params_.insert("most", "0");
  EXPECT_NE(refused().find("most is 0"), std::string::npos);
  params_.insert("most", "1");
  params_.insert("system", "/nowhere.json");
  EXPECT_NE(refused().find("\"/nowhere.json\" cannot be read"), std::string::npos);
  params_.insert("system", "");
  EXPECT_NE(refused().find("cxloom resolve"), std::string::npos);
}

}  // namespace
