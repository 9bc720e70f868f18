#include "program/dependence.hpp"

#include <gtest/gtest.h>

namespace cxloom {
namespace {

TEST(Dependence, AValueWaitsForTheLatestOfItsRegisters) {
  DependenceTracker values;
  values.set(0b001, Dependence{5});
  values.set(0b110, Dependence{9});
  EXPECT_EQ(values.of(0).producer(), 0U);
  EXPECT_EQ(values.of(0b001).producer(), 5U);
  EXPECT_EQ(values.of(0b101).producer(), 9U);
  values.set(0b100, Dependence{0});
  EXPECT_EQ(values.of(0b101).producer(), 5U);
  values.set(RegisterSet{1} << 63U, Dependence{2});
  EXPECT_EQ(values.of(RegisterSet{1} << 63U).producer(), 2U);
}

TEST(Dependence, StoredValuesAreRemembered) {
  DependenceTracker values;
  values.store(0x1000, 8, Dependence{3});
  EXPECT_EQ(values.stored(0x1000, 8).producer(), 3U);
  EXPECT_EQ(values.stored(0x1004, 4).producer(), 3U);
  EXPECT_EQ(values.stored(0x1008, 8).producer(), 0U);
  EXPECT_EQ(values.stored(0x0FFC, 8).producer(), 3U);  // the second half of it
  values.store(0x1000, 8, Dependence{0});
  EXPECT_EQ(values.stored(0x1000, 8).producer(), 0U);
}

TEST(Dependence, AWordStoredInPartsWaitsForTheLatest) {
  DependenceTracker values;
  values.store(0x1000, 4, Dependence{7});
  values.store(0x1004, 4, Dependence{2});
  EXPECT_EQ(values.stored(0x1000, 8).producer(), 7U);
  values.store(0x1004, 4, Dependence{8});
  EXPECT_EQ(values.stored(0x1000, 8).producer(), 8U);
}

TEST(Dependence, WideStoresCoverAllTheirWords) {
  DependenceTracker values;
  values.store(0x1000, 32, Dependence{4});
  EXPECT_EQ(values.stored(0x1018, 8).producer(), 4U);
  EXPECT_EQ(values.stored(0x1020, 8).producer(), 0U);
}

TEST(Dependence, AWordIsForgottenWhenAnotherTakesItsPlace) {
  DependenceTracker values;
  values.store(0x1000, 8, Dependence{4});
  values.store(0x1000 + 8 * 1024, 8, Dependence{5});
  EXPECT_EQ(values.stored(0x1000, 8).producer(), 0U);
}

}  // namespace
}  // namespace cxloom
