#include "program/store_places.hpp"

#include <gtest/gtest.h>

namespace cxloom {
namespace {

TEST(StorePlaces, AStoreWaitsForTheLastRecordOfAStoreThatManyPlacesBeforeIt) {
  StorePlaces places(3);
  EXPECT_EQ(places.enter(), 0U);
  places.waits_for(7);
  EXPECT_EQ(places.enter(), 0U);
  EXPECT_EQ(places.enter(), 0U);
  places.waits_for(9);
  EXPECT_EQ(places.enter(), 7U);
  EXPECT_EQ(places.enter(), 0U);  // the one that many before it hit, behind the first
  EXPECT_EQ(places.enter(), 9U);
  EXPECT_EQ(places.enter(), 0U);
}

TEST(StorePlaces, OneAtATimeWaitsForEach) {
  StorePlaces places(1);
  for (Producer record = 1; record < 100; ++record) {
    EXPECT_EQ(places.enter(), record - 1);
    places.waits_for(record);
  }
}

}  // namespace
}  // namespace cxloom
