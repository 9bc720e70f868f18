#include "program/guest_uses.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "core/support/program_capture_test.hpp"

namespace cxloom {
namespace {

using test::kThread;

constexpr std::uint64_t kOne = 4096;  // page

class GuestUsesTest : public testing::Test {
 protected:
  void goes_on(std::uint64_t space, std::uint32_t pid, std::string name, std::uint64_t parent = 0) {
    uses_.goes_on(kThread, {.space = space, .parent = parent, .pid = pid, .name = std::move(name)});
  }
  void maps(std::uint64_t space, std::uint64_t begin, std::uint64_t end, std::string name) {
    uses_.maps({.space = space, .begin = begin, .end = end, .name = std::move(name)});
  }
  // An access to a page that is in its place, and the records that it causes.
  void accesses(std::uint64_t address, std::uint64_t place, const std::vector<std::uint64_t>& records,
                AccessRole role = AccessRole::kDemand) {
    std::vector<Access> all(records.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i].address = Address{records[i]};
    ProgramAccess access{.address = address, .size = 8, .reads = true};
    access.place = place;
    uses_.accessed(kThread, access, role, all);
  }
  // "PROCESS MAPPING" and its records.
  std::map<std::string, std::uint64_t> found() const {
    std::map<std::string, std::uint64_t> all;
    for (const GuestUses::Mapping& each : uses_.mappings()) {
      std::uint64_t& sum = all[uses_.processes()[each.process].name + " " + each.name];
      for (const auto& [page, count] : each.pages) sum += count;
    }
    return all;
  }

  GuestUses uses_;
};

using Found = std::map<std::string, std::uint64_t>;

TEST_F(GuestUsesTest, AnAccessIsOfTheMappingThatTheRunningProcessHasThere) {
  goes_on(1, 10, "one");
  goes_on(2, 11, "two");  // runs now
  maps(1, kOne, 2 * kOne, "[heap]");
  maps(2, kOne, 3 * kOne, "libc.so.6");
  accesses(kOne, 5 * kOne, {5 * kOne});
  goes_on(1, 10, "one");
  accesses(kOne + 8, 6 * kOne, {6 * kOne});
  accesses(9 * kOne, 7 * kOne, {7 * kOne});
  accesses(kOne, 8 * kOne, {8 * kOne}, AccessRole::kPageWalk);
  EXPECT_EQ(found(),
            (Found{{"two libc.so.6", 1}, {"one [heap]", 1}, {"one [unknown]", 1}, {"one [page tables]", 1}}));
}

TEST_F(GuestUsesTest, AWriteBackIsOfWhatHadThePage) {
  goes_on(1, 10, "one");
  maps(1, 0, kOne, "a");
  maps(1, kOne, 2 * kOne, "b");
  accesses(0, 5 * kOne, {5 * kOne});
  accesses(kOne, 6 * kOne, {5 * kOne + 64, 6 * kOne});
  accesses(kOne, 6 * kOne, {7 * kOne});  // of a page that nobody had: of who caused it
  EXPECT_EQ(found(), (Found{{"one a", 2}, {"one b", 2}}));
}

TEST_F(GuestUsesTest, AWriteBackOfAPageThatOnlyTheKernelHadIsOfNoMapping) {
  goes_on(1, 10, "one");
  maps(1, 0, kOne, "a");
  Access written{.address = Address{7 * kOne}, .kind = AccessKind::kWrite};
  ProgramAccess access{.address = 0, .size = 8, .reads = true};
  access.place = 5 * kOne;
  uses_.accessed(kThread, access, AccessRole::kDemand, {&written, 1});
  EXPECT_EQ(found(), (Found{{"one [written by others]", 1}}));
}

TEST_F(GuestUsesTest, MemoryWithoutBytesInAFileIsOfTheFileThatItFollows) {
  goes_on(1, 10, "one");
  maps(1, 0, kOne, "one");
  maps(1, kOne, 2 * kOne, "");
  maps(1, 2 * kOne, 3 * kOne, "[heap]");
  maps(1, 3 * kOne, 4 * kOne, "");
  accesses(kOne, 5 * kOne, {5 * kOne});
  accesses(3 * kOne, 6 * kOne, {6 * kOne});
  EXPECT_EQ(found(), (Found{{"one one", 1}, {"one [anonymous]", 1}}));
}

TEST_F(GuestUsesTest, AForkBeginsWithWhatItsParentHas) {
  goes_on(1, 10, "sh");
  maps(1, 0, kOne, "[heap]");
  goes_on(2, 11, "child", 1);
  accesses(0, 5 * kOne, {5 * kOne});
  EXPECT_EQ(found(), (Found{{"child [heap]", 1}}));
}

TEST_F(GuestUsesTest, AnAddressSpaceThatIsGoneLeavesNothingToTheNextOfItsNumber) {
  maps(1, 0, kOne, "[heap]");
  goes_on(1, 10, "one");
  uses_.ran(kThread, 5, 2);
  maps(1, 0, 0, "");
  goes_on(1, 11, "next");
  uses_.ran(kThread, 7, 3);
  accesses(0, 5 * kOne, {5 * kOne});
  EXPECT_EQ(found(), (Found{{"next [unknown]", 1}}));
  ASSERT_EQ(uses_.processes().size(), 2U);
  EXPECT_EQ(uses_.processes()[0].instructions, 5U);
  EXPECT_EQ(uses_.processes()[1].pid, 11U);
  EXPECT_EQ(uses_.processes()[1].records, 3U);
}

TEST_F(GuestUsesTest, WhatRunsBeforeAnyProcessIsKnownIsOfNone) {
  uses_.ran(kThread, 5, 2);
  accesses(0, 5 * kOne, {5 * kOne});
  EXPECT_TRUE(uses_.processes().empty());
  EXPECT_TRUE(found().empty());
}

}  // namespace
}  // namespace cxloom
