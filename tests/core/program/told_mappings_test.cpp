#include "program/told_mappings.hpp"

#include <gtest/gtest.h>

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

namespace cxloom {
namespace {

constexpr ProgramThread kThread{1, 0};
constexpr std::uint64_t kPage = 4096;

struct Mappings : ProgramSink {
  void block(const ProgramThread&, const ProgramBlock&, std::span<const ProgramAccess>, bool) override {}
  void memory_mapped(const ProgramThread&, const ProgramMapping& mapping) override { all.push_back(mapping); }
  std::vector<ProgramMapping> all;
};

// The process is this one, and its addresses are its own.
class ToldMappingsTest : public testing::Test {
 protected:
  ToldMappingsTest() { head_.pid = static_cast<std::uint32_t>(getpid()); }
  void map(std::int32_t file, std::int64_t result, std::uint32_t number = system_call::kMmap) {
    SystemCall call;
    call.number = number;
    call.arguments[1] = kPage;
    call.arguments[4] = static_cast<std::uint64_t>(file);
    SystemCallEnd end;
    end.number = number;
    end.result = result;
    told_.call_ends(kThread, head_, call, end, sink_);
  }

  FeedRingHead head_;
  ToldMappings told_;
  Mappings sink_;
};

TEST_F(ToldMappingsTest, WhatAProcessBeginsWithIsToldOnce) {
  told_.thread_begins(kThread, head_, sink_);
  const auto here = reinterpret_cast<std::uint64_t>(&kThread);
  EXPECT_TRUE(std::ranges::any_of(
      sink_.all, [&](const ProgramMapping& each) { return each.begin <= here && here < each.end; }));
  sink_.all.clear();
  told_.thread_begins({2, 0}, head_, sink_);
  EXPECT_TRUE(sink_.all.empty());
}

TEST_F(ToldMappingsTest, AFileThatIsMappedIsToldAlone) {
  void* const memory = mmap(nullptr, kPage, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const auto begin = reinterpret_cast<std::int64_t>(memory);
  map(3, begin);
  ASSERT_EQ(sink_.all.size(), 1U);
  EXPECT_LE(sink_.all[0].begin, static_cast<std::uint64_t>(begin));
  EXPECT_GE(sink_.all[0].end, static_cast<std::uint64_t>(begin) + kPage);
  sink_.all.clear();
  map(-1, begin);                       // of no file
  map(3, -12);                          // an error
  map(3, begin, system_call::kMunmap);  // another call
  EXPECT_TRUE(sink_.all.empty());
  munmap(memory, kPage);
}

TEST_F(ToldMappingsTest, LooksAreLimited) {
  head_.pid = 0;  // there is none: looks cost little, and count
  for (std::uint32_t i = 0; i < ToldMappings::kMostLooks; ++i) map(3, kPage);
  head_.pid = static_cast<std::uint32_t>(getpid());
  told_.thread_begins(kThread, head_, sink_);
  EXPECT_TRUE(sink_.all.empty());
}

}  // namespace
}  // namespace cxloom
