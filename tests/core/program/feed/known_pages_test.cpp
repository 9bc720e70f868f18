#include "program/feed/known_pages.hpp"

#include <gtest/gtest.h>

namespace cxloom {
namespace {

TEST(KnownPagesTest, APageIsToldOnceAsLongAsItStays) {
  KnownPages pages;
  std::uint64_t place = 0;
  EXPECT_FALSE(pages.place_of(0x5008, place));
  EXPECT_TRUE(pages.note(5, 0x10000));
  EXPECT_FALSE(pages.note(5, 0x10000));
  ASSERT_TRUE(pages.place_of(0x5008, place));
  EXPECT_EQ(place, 0x10008U);
  EXPECT_TRUE(pages.note(5, 0x20000));  // it has moved
  ASSERT_TRUE(pages.place_of(0x5008, place));
  EXPECT_EQ(place, 0x20008U);
}

TEST(KnownPagesTest, APageThatTakesTheSlotOfAnotherIsTold) {
  KnownPages pages;
  std::uint64_t place = 0;
  pages.note(0, 0x10000);
  EXPECT_TRUE(pages.note(KnownPages::kPages, 0x20000));
  EXPECT_FALSE(pages.place_of(0, place));
  EXPECT_TRUE(pages.note(0, 0x10000));
}

}  // namespace
}  // namespace cxloom
