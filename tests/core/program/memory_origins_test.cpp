#include "program/memory_origins.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

namespace cxloom {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kPrivate = 0x22;          // of no file
constexpr std::uint64_t kHere = kPrivate | 0x10;  // at the given place
constexpr std::uint64_t kStack = kPrivate | 0x20000;

class MemoryOriginsTest : public testing::Test {
 protected:
  MemoryOriginsTest() { memory_.begins(0, 0); }

  void call(std::uint32_t number, std::array<std::uint64_t, 6> arguments, std::uint64_t result,
            std::vector<std::uint64_t> callers = {}, ProgramThread thread = {1, 0}) {
    memory_.calls(thread, {number, 1, arguments}, callers);
    memory_.ends(thread, {.number = number, .result = static_cast<std::int64_t>(result)});
  }
  void map(std::uint64_t at, std::uint64_t bytes, std::vector<std::uint64_t> callers = {},
           std::uint64_t flags = kPrivate) {
    call(system_call::kMmap, {at, bytes, 3, flags, ~std::uint64_t{0}, 0}, at, std::move(callers));
  }
  const MemoryOrigin& at(std::uint64_t address, std::uint32_t process = 0) {
    return memory_.origins()[memory_.origin_of(process, address)];
  }
  static MemoryOrigin mapped(std::vector<std::uint64_t> callers) {
    return {MemoryOrigin::kMapped, 0, {}, std::move(callers)};
  }

  MemoryOrigins memory_;
};

TEST_F(MemoryOriginsTest, WhatIsMappedFromOnePlaceIsOne) {
  at(1);  // the stack is looked for at the first access
  map(16 * kPage, 3 * kPage - 5, {7, 8});
  map(32 * kPage, kPage, {7, 8});
  map(48 * kPage, kPage, {7, 9});
  EXPECT_EQ(at(16 * kPage - 1).kind, MemoryOrigin::kUnknown);
  EXPECT_EQ(at(16 * kPage), mapped({7, 8}));
  EXPECT_EQ(at(19 * kPage - 1), mapped({7, 8}));  // whole pages
  EXPECT_EQ(at(19 * kPage).kind, MemoryOrigin::kUnknown);
  EXPECT_EQ(memory_.origin_of(0, 16 * kPage), memory_.origin_of(0, 32 * kPage));
  EXPECT_EQ(at(48 * kPage), mapped({7, 9}));
  map(64 * kPage, kPage, {}, kStack);
  EXPECT_EQ(at(64 * kPage).kind, MemoryOrigin::kThreadStacks);
  EXPECT_EQ(at(16 * kPage, 1).kind, MemoryOrigin::kUnknown);  // another process
}

TEST_F(MemoryOriginsTest, WhatIsUnmappedOrMappedAnewIsNoLongerWhatItWas) {
  at(1);
  map(16 * kPage, 16 * kPage, {1});
  call(system_call::kMunmap, {20 * kPage, 2 * kPage}, 0);
  EXPECT_EQ(at(19 * kPage), mapped({1}));
  EXPECT_EQ(at(20 * kPage).kind, MemoryOrigin::kUnknown);
  EXPECT_EQ(at(21 * kPage).kind, MemoryOrigin::kUnknown);
  EXPECT_EQ(at(22 * kPage), mapped({1}));
  map(30 * kPage, 8 * kPage, {2}, kHere);
  EXPECT_EQ(at(29 * kPage), mapped({1}));
  EXPECT_EQ(at(30 * kPage), mapped({2}));
  call(system_call::kMremap, {16 * kPage, 4 * kPage, 6 * kPage}, 100 * kPage, {3});
  EXPECT_EQ(at(16 * kPage).kind, MemoryOrigin::kUnknown);
  EXPECT_EQ(at(105 * kPage), mapped({1}));  // where it was first wanted
  // What fails changes nothing.
  memory_.calls({1, 0}, {system_call::kMunmap, 1, {100 * kPage, kPage}}, {});
  memory_.ends({1, 0}, {.number = system_call::kMunmap, .result = -22});
  EXPECT_EQ(at(100 * kPage), mapped({1}));
}

TEST_F(MemoryOriginsTest, TheHeapIsOfWhomeverItGrewFor) {
  at(1);
  call(system_call::kBrk, {}, 10 * kPage);
  EXPECT_EQ(at(9 * kPage).kind, MemoryOrigin::kUnknown);
  call(system_call::kBrk, {14 * kPage}, 14 * kPage, {5});
  call(system_call::kBrk, {18 * kPage}, 18 * kPage, {6});
  EXPECT_EQ(at(10 * kPage), (MemoryOrigin{MemoryOrigin::kHeap, 0, {}, {5}}));
  EXPECT_EQ(at(17 * kPage), (MemoryOrigin{MemoryOrigin::kHeap, 0, {}, {6}}));
  call(system_call::kBrk, {12 * kPage}, 12 * kPage, {7});
  EXPECT_EQ(at(12 * kPage).kind, MemoryOrigin::kUnknown);
  EXPECT_EQ(at(11 * kPage).callers, std::vector<std::uint64_t>{5});
}

// A program as it begins: its file, what of it has no bytes there, the emulator's own, and the stack, which
// it accesses first.
TEST_F(MemoryOriginsTest, FilesAndTheStackAreThereFromTheStart) {
  memory_.is_mapped(0, {16 * kPage, 18 * kPage, 0, "/bin/program"});
  memory_.is_mapped(0, {18 * kPage, 20 * kPage, 0, ""});
  memory_.is_mapped(0, {20 * kPage, 30 * kPage, 0, ""});
  memory_.is_mapped(0, {40 * kPage, 50 * kPage, 0, ""});
  EXPECT_EQ(at(29 * kPage).kind, MemoryOrigin::kStack);
  EXPECT_EQ(at(20 * kPage).kind, MemoryOrigin::kStack);
  EXPECT_EQ(at(45 * kPage).kind, MemoryOrigin::kUnknown);
  EXPECT_EQ(at(16 * kPage), (MemoryOrigin{MemoryOrigin::kFile, 0, "/bin/program", {}}));
  EXPECT_EQ(at(19 * kPage).file, "/bin/program");
  ASSERT_EQ(memory_.files().size(), 1U);
  // A library: its file, and zeros behind it, mapped at that place.
  memory_.is_mapped(0, {60 * kPage, 64 * kPage, 0, "/lib/library"});
  map(64 * kPage, 2 * kPage, {1}, kHere);
  EXPECT_EQ(at(65 * kPage).file, "/lib/library");
}

TEST_F(MemoryOriginsTest, AForkHasWhatItsParentHad) {
  at(1);
  map(16 * kPage, kPage, {1});
  memory_.begins(1, 0);
  memory_.begins(2, 2);
  map(32 * kPage, kPage, {1});
  EXPECT_EQ(at(16 * kPage, 1), mapped({1}));
  EXPECT_EQ(at(32 * kPage, 1).kind, MemoryOrigin::kUnknown);
  EXPECT_EQ(at(16 * kPage, 2).kind, MemoryOrigin::kUnknown);
}

}  // namespace
}  // namespace cxloom
