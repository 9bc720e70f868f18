#include "workload/stream/foreseen.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "workload/trace/stream.hpp"

namespace cxloom {
namespace {

/// Batches of an access each, which is a store past the caches or not.
std::unique_ptr<AccessStream> batches(std::vector<bool> past) {
  auto at = std::make_shared<std::size_t>(0);
  return std::make_unique<TraceStream>([past = std::move(past), at](std::vector<Access>& batch) {
    if (*at == past.size()) return false;
    Access& access = batch.emplace_back();
    access.address = Address{*at * kLineBytes};
    access.kind = AccessKind::kWrite;
    access.past = past[(*at)++];
    return true;
  });
}

// A stream tells of what it gives next, and this one has read ahead of that. Two ahead: the store of place 3
// is told of from when the stream has its batch at hand, which is one further.
TEST(ForeseenStream, TellsOfStoresPastTheCachesFromWhenTheyAreAheadUntilTheyAreGiven) {
  ForeseenStream stream(batches({false, false, false, true, false, false, false, false, false}), 2,
                        ~std::uint64_t{0}, Bytes{4096});
  std::vector<bool> told;
  Access access;
  for (bool before = stream.may_store_past(); stream.next(access); before = stream.may_store_past()) {
    EXPECT_TRUE(before || !access.past);
    told.push_back(stream.may_store_past());
  }
  EXPECT_EQ(told, (std::vector{true, true, true, false, false, false, false, false, false}));
}

TEST(ForeseenStream, CountsWhatComesOfEachPage) {
  ForeseenStream stream(batches(std::vector<bool>(100)), 10, 70, Bytes{4096});
  Access access;
  ASSERT_TRUE(stream.next(access));
  EXPECT_EQ(stream.coming(Address{0}), 10);
  for (int i = 1; i < 60; ++i) ASSERT_TRUE(stream.next(access));
  // 60 to 63 are of the first page, 64 to 69 of the second; behind those nothing is read ahead.
  EXPECT_EQ(stream.coming(Address{0}), 4);
  EXPECT_EQ(stream.coming(Address{4096}), 6);
  for (int i = 60; i < 100; ++i) ASSERT_TRUE(stream.next(access));
  EXPECT_EQ(stream.coming(Address{4096}), 0);
  EXPECT_FALSE(stream.next(access));
}

}  // namespace
}  // namespace cxloom
