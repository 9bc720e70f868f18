#include "protocol/segment_sums.hpp"

#include <gtest/gtest.h>

namespace cxloom {
namespace {

Account account_of(Segment segment, std::int64_t ps) {
  Account account;
  account.charge(segment, Time{ps});
  return account;
}

std::uint64_t sum_of(const SegmentSums& sums, Segment segment) {
  return static_cast<std::uint64_t>(sums.in_ps()[static_cast<std::size_t>(segment)]);
}

TEST(SegmentSums, AddEachSegmentOfEveryAccount) {
  SegmentSums sums;
  Account account = account_of(Segment::kMedia, 5);
  account.charge(Segment::kController, Time{12});
  for (int i = 0; i < 1000; ++i) sums.add(account, Time{12});
  EXPECT_EQ(sum_of(sums, Segment::kMedia), 5000U);
  EXPECT_EQ(sum_of(sums, Segment::kController), 7000U);
  EXPECT_EQ(sum_of(sums, Segment::kBus), 0U);
}

// Rare segments lie apart, and are looked at where there are some.
TEST(SegmentSums, AddEverySegmentHoweverRare) {
  SegmentSums sums;
  for (std::size_t i = 0; i < kSegmentCount; ++i) {
    Account account = account_of(static_cast<Segment>(i), 100 + static_cast<std::int64_t>(i));
    const Time media = account.mark() + Time{1000};
    account.charge(Segment::kMedia, media);
    sums.add(account, media);
    sums.add(account_of(Segment::kBusQueue, std::int64_t{1} << 41),
             Time{std::int64_t{1} << 41});  // a long one
  }
  for (std::size_t i = 0; i < kSegmentCount; ++i) {
    const auto segment = static_cast<Segment>(i);
    std::uint64_t expected = 100 + i;
    if (segment == Segment::kMedia) expected += 1000 * kSegmentCount;
    if (segment == Segment::kBusQueue) expected += kSegmentCount << 41U;
    EXPECT_EQ(sum_of(sums, segment), expected) << kSegments[i].name;
  }
}

TEST(SegmentSums, HoldMoreThan64Bits) {
  // Nine accounts of 2^61 ps (26 days) pass 2^64; each is put in the middle of short ones.
  constexpr std::int64_t kHuge = std::int64_t{1} << 61;
  SegmentSums sums;
  for (int i = 0; i < 9; ++i) {
    sums.add(account_of(Segment::kMedia, 3), Time{3});
    sums.add(account_of(Segment::kMedia, kHuge), Time{kHuge});
  }
  EXPECT_TRUE(sums.in_ps()[static_cast<std::size_t>(Segment::kMedia)] == Wide{9} * (Wide{1} << 61U) + 27);
}

TEST(SegmentSums, EmptyTheirWordsBeforeTheseOverflow) {
  // Enough of the longest short accounts (just below a second) to pass 2^64 in one word: 2^24 and some.
  constexpr std::int64_t kLongest = (std::int64_t{1} << 40) - 1;
  constexpr std::uint64_t kCount = (1ULL << 24U) + 5;
  SegmentSums sums;
  const Account account = account_of(Segment::kBus, kLongest);
  for (std::uint64_t i = 0; i < kCount; ++i) sums.add(account, Time{kLongest});
  EXPECT_TRUE(sums.in_ps()[static_cast<std::size_t>(Segment::kBus)] ==
              Wide{kCount} * static_cast<std::uint64_t>(kLongest));
}

}  // namespace
}  // namespace cxloom
