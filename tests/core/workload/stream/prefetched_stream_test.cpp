#include "workload/stream/prefetched_stream.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/support/victims.hpp"

namespace cxloom {
namespace {

/// Accesses that are given.
class Given final : public AccessStream {
 public:
  explicit Given(std::vector<Access> accesses, std::optional<AddressRange> range = std::nullopt)
      : accesses_(std::move(accesses)), range_(range) {}
  bool next(Access& access) override {
    if (at_ == accesses_.size()) return false;
    access = accesses_[at_++];
    return true;
  }
  std::optional<AddressRange> range() const override { return range_; }

 private:
  std::vector<Access> accesses_;
  std::optional<AddressRange> range_;
  std::size_t at_ = 0;
};

Access read(std::uint64_t line, std::uint32_t dependence = 0) {
  Access access;
  access.address = Address{line * kLineBytes};
  access.dependence = dependence;
  return access;
}

CorePrefetch next_line() {
  return {.levels = {{.kind = {"next-line", Value(Value::Map{})}}},
          .kinds = &test::cache_kinds().prefetchers};
}

std::vector<Access> seen(std::vector<Access> accesses, std::optional<AddressRange> range = std::nullopt) {
  PrefetchedStream stream(std::make_unique<Given>(std::move(accesses), range), next_line());
  std::vector<Access> records;
  Access access;
  while (stream.next(access)) records.push_back(access);
  return records;
}

TEST(PrefetchedStream, LinesThatWereAskedForAreUsed) {
  const std::vector<Access> records = seen({read(8), read(9), read(10)});
  ASSERT_EQ(records.size(), 6U);
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_EQ(records[2 * k].role, k == 0 ? AccessRole::kDemand : AccessRole::kUse);
    EXPECT_EQ(records[2 * k].dependence, k == 0 ? 0U : 1U);
    EXPECT_EQ(records[2 * k + 1].role, AccessRole::kPrefetch);
    EXPECT_EQ(records[2 * k + 1].address, Address{(9 + k) * kLineBytes});
  }
}

// A chase: the second read needs the first, and is a use of the prefetch; the third needs the second.
TEST(PrefetchedStream, WhatNeedsAUseNeedsItsLineAndItsAddress) {
  const std::vector<Access> records = seen({read(8), read(20, 1), read(21, 1), read(40, 1)});
  // 0 demand 8, 1 prefetch 9, 2 demand 20 (needs 0), 3 prefetch 21, 4 use 21, 5 prefetch 22, 6 demand 40, ...
  ASSERT_EQ(records.size(), 8U);
  EXPECT_EQ(records[2].dependence, 2U);
  EXPECT_EQ(records[3].dependence, 3U) << "its address is made of what that of 20 is";
  EXPECT_EQ(records[4].role, AccessRole::kUse);
  EXPECT_EQ(records[4].dependence, 1U);
  EXPECT_EQ(records[5].dependence, 3U);
  EXPECT_EQ(records[6].dependence, 3U) << "record 3, which came after record 2";
}

// Two threads that chase, in turns: an access needs the one two places before it, of its own thread.
TEST(PrefetchedStream, AThreadNeedsItsOwnAccesses) {
  std::vector<Access> chases;
  for (const std::uint64_t line : {8U, 100U, 20U, 130U, 40U, 170U})
    chases.push_back(read(line, chases.size() < 2 ? 0 : 2));
  for (std::size_t k = 0; k < chases.size(); ++k) chases[k].thread = k % 2;
  const std::vector<Access> records = seen(chases);
  ASSERT_EQ(records.size(), 12U) << "each with a prefetch behind it";
  EXPECT_EQ(records[2].dependence, 0U);
  for (std::size_t k = 4; k < 12; k += 2) {
    EXPECT_EQ(records[k].dependence, 4U);
    EXPECT_EQ(records[k].thread, records[k - 4].thread);
    EXPECT_EQ(records[k + 1].dependence, 5U) << "of the prefetch, whose address is made of the same";
  }
}

TEST(PrefetchedStream, WritesAndFencesAndWhatIsOutsideAreLeftAlone) {
  Access write = read(9);
  write.kind = AccessKind::kWrite;
  EXPECT_EQ(seen({read(8), write}).back().role, AccessRole::kDemand);
  Access fence = read(9);
  fence.dependence = kAllBefore;
  EXPECT_EQ(seen({read(8), fence})[2].role, AccessRole::kDemand);
  EXPECT_EQ(seen({read(8)}, AddressRange{Address{0}, 9 * kLineBytes}).size(), 1U);
  EXPECT_EQ(seen({read(8)}, AddressRange{Address{0}, 10 * kLineBytes}).size(), 2U);
  EXPECT_EQ(seen({read(63)}).size(), 1U) << "the next line is in another page";
}

TEST(PrefetchedStream, APatternWithoutPrefetchersIsAsItWas) {
  auto pattern = std::make_unique<Given>(std::vector<Access>{read(1)});
  const AccessStream* const before = pattern.get();
  CorePrefetch none{.levels = {{}}, .kinds = &test::cache_kinds().prefetchers};
  EXPECT_EQ(prefetched(std::move(pattern), std::move(none)).get(), before);
}

}  // namespace
}  // namespace cxloom
