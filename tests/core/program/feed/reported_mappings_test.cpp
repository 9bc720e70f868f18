#include "program/feed/reported_mappings.hpp"

#include <gtest/gtest.h>

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

namespace cxloom {
namespace {

constexpr ProgramThread kMapper{1, 0};
constexpr std::uint64_t kMappedPage = 4096;

struct Mappings : ProgramSink {
  void block(const ProgramThread&, const ProgramBlock&, std::span<const ProgramAccess>, bool) override {}
  void memory_mapped(const ProgramThread&, const ProgramMapping& mapping) override { all.push_back(mapping); }
  std::vector<ProgramMapping> all;
};

// The process is this one, and its addresses are its own.
class ReportedMappingsTest : public testing::Test {
 protected:
  ReportedMappingsTest() { head_.pid = static_cast<std::uint32_t>(getpid()); }
  void map(std::int32_t file, std::int64_t result, std::uint32_t number = system_call::kMmap) {
    SystemCall call;
    call.number = number;
    call.arguments[1] = kMappedPage;
    call.arguments[4] = static_cast<std::uint64_t>(file);
    SystemCallEnd end;
    end.number = number;
    end.result = result;
    told_.call_ends(kMapper, head_, call, end, sink_);
  }

  FeedRingHead head_;
  ReportedMappings told_;
  Mappings sink_;
};

TEST_F(ReportedMappingsTest, WhatAProcessBeginsWithIsToldOnce) {
  told_.thread_begins(kMapper, head_, sink_);
  const auto here = reinterpret_cast<std::uint64_t>(&kMapper);
  EXPECT_TRUE(std::ranges::any_of(
      sink_.all, [&](const ProgramMapping& each) { return each.begin <= here && here < each.end; }));
  sink_.all.clear();
  told_.thread_begins({2, 0}, head_, sink_);
  EXPECT_TRUE(sink_.all.empty());
}

TEST_F(ReportedMappingsTest, AFileThatIsMappedIsToldAlone) {
  void* const memory = mmap(nullptr, kMappedPage, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const auto begin = reinterpret_cast<std::int64_t>(memory);
  map(3, begin);
  ASSERT_EQ(sink_.all.size(), 1U);
  EXPECT_LE(sink_.all[0].begin, static_cast<std::uint64_t>(begin));
  EXPECT_GE(sink_.all[0].end, static_cast<std::uint64_t>(begin) + kMappedPage);
  sink_.all.clear();
  map(-1, begin);                       // of no file
  map(3, -12);                          // an error
  map(3, begin, system_call::kMunmap);  // another call
  EXPECT_TRUE(sink_.all.empty());
  munmap(memory, kMappedPage);
}

TEST_F(ReportedMappingsTest, LooksAreLimited) {
  head_.pid = 0;  // there is none: looks cost little, and count
  for (std::uint32_t i = 0; i < ReportedMappings::kMostLooks; ++i) map(3, kMappedPage);
  head_.pid = static_cast<std::uint32_t>(getpid());
  told_.thread_begins(kMapper, head_, sink_);
  EXPECT_TRUE(sink_.all.empty());
}

}  // namespace
}  // namespace cxloom
