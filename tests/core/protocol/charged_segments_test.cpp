#include "protocol/charged_segments.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "base/random.hpp"

namespace cxloom {
namespace {

std::vector<std::pair<Segment, Time>> charged_of(const ChargedSegments& segments) {
  std::vector<std::pair<Segment, Time>> all;
  segments.each([&](Segment segment, Time time) { all.emplace_back(segment, time); });
  return all;
}

TEST(ChargedSegments, AreThoseOfAnAccountThatAreNotZeroInTheirOrder) {
  RandomStream random(1, "charged", "test");
  ChargedSegments segments;  // used again, as in a pool
  for (int round = 0; round < 200; ++round) {
    Account account;
    account.open(Time{0});
    for (unsigned i = 0; i < kSegmentCount; ++i) {
      if (random.below(3) == 0)
        account.charge_next(static_cast<Segment>(i), Time{static_cast<std::int64_t>(random.below(1000))});
    }
    if (round == 7)
      for (unsigned i = 0; i < kSegmentCount; ++i) account.charge_next(static_cast<Segment>(i), Time{1});
    std::vector<std::pair<Segment, Time>> expected;
    const auto all = account.segments();
    for (unsigned i = 0; i < kSegmentCount; ++i)
      if (all[i] != Time{}) expected.emplace_back(static_cast<Segment>(i), all[i]);
    segments = account;
    EXPECT_EQ(charged_of(segments), expected);
    const ChargedSegments copy = segments;
    EXPECT_EQ(charged_of(copy), expected);
    ChargedSegments assigned{Account{}};
    assigned = copy;
    EXPECT_EQ(charged_of(assigned), expected);
  }
}

TEST(ChargedSegments, AreNoneOnceTheyAreCleared) {
  Account account;
  account.open(Time{5});
  account.charge(Segment::kMedia, Time{50});
  ChargedSegments segments(account);
  EXPECT_EQ(charged_of(segments), (std::vector<std::pair<Segment, Time>>{{Segment::kMedia, Time{45}}}));
  segments.clear();
  EXPECT_TRUE(charged_of(segments).empty());
}

}  // namespace
}  // namespace cxloom
