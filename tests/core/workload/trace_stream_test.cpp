#include "workload/trace_stream.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.hpp"

namespace cxloom {
namespace {

// Batches of the given sizes; the accesses are numbered by their addresses. Counts its calls.
struct Batches {
  std::vector<int> sizes;
  std::size_t calls = 0;
  std::uint64_t given = 0;

  TraceStream::Refill refill() {
    return [this](std::vector<Access>& batch) {
      EXPECT_TRUE(batch.empty());
      if (calls++ == sizes.size()) return false;
      for (int i = 0; i < sizes[calls - 1]; ++i) batch.emplace_back().address = Address{given++};
      return true;
    };
  }
};

TEST(TraceStream, GivesEveryAccessInOrderWhateverTheBatches) {
  for (const std::vector<int>& sizes : {std::vector{5}, {1, 1, 1}, {0, 3, 0, 0, 2, 0}, {100, 1, 7}}) {
    Batches batches{sizes};
    TraceStream stream(batches.refill());
    std::uint64_t total = 0;
    for (const int size : sizes) total += static_cast<std::uint64_t>(size);
    Access access;
    for (std::uint64_t i = 0; i < total; ++i) {
      EXPECT_EQ(stream.count(), i);
      EXPECT_FALSE(stream.exhausted());
      ASSERT_TRUE(stream.next(access));
      EXPECT_EQ(access.address.value(), i);
      // The end is known with the last access, and not before.
      EXPECT_EQ(stream.exhausted(), i + 1 == total);
    }
    EXPECT_FALSE(stream.next(access));
    EXPECT_FALSE(stream.next(access));
    EXPECT_EQ(stream.count(), total);
    EXPECT_EQ(stream.length(), total);
    EXPECT_EQ(batches.calls, sizes.size() + 1);  // once at the end, never after
  }
}

TEST(TraceStream, KnowsItsLengthWhenTheLastBatchIsIn) {
  Batches batches{{2, 3}};
  TraceStream stream(batches.refill());
  Access access;
  EXPECT_EQ(stream.length(), std::nullopt);
  for (int i = 0; i < 4; ++i) stream.next(access);
  EXPECT_EQ(stream.length(), std::nullopt);
  stream.next(access);
  EXPECT_EQ(stream.length(), 5U);
}

TEST(TraceStream, SaysALengthThatItWasToldAndHoldsTheTraceToIt) {
  Access access;
  {
    Batches batches{{2, 3}};
    TraceStream stream(batches.refill(), 5);
    EXPECT_EQ(stream.length(), 5U);
    for (int i = 0; i < 5; ++i) EXPECT_TRUE(stream.next(access));
    EXPECT_FALSE(stream.next(access));
  }
  const auto error_of = [&](std::uint64_t length) -> std::string {
    Batches batches{{2, 3}};
    try {
      TraceStream stream(batches.refill(), length);
      while (stream.next(access)) continue;
    } catch (const InputError& error) {
      return error.what();
    }
    return {};
  };
  EXPECT_NE(error_of(6).find("cut off, found 5 accesses; allowed: 6"), std::string::npos);
  EXPECT_NE(error_of(4).find("goes on"), std::string::npos);
  EXPECT_NE(error_of(1).find("goes on"), std::string::npos);
}

TEST(TraceStream, MayBeEmpty) {
  Batches batches{{0, 0}};
  TraceStream stream(batches.refill());
  Access access;
  EXPECT_TRUE(stream.exhausted());
  EXPECT_EQ(stream.length(), 0U);
  EXPECT_FALSE(stream.next(access));
}

TEST(TraceStream, LetsThroughWhatTheRefillThrows) {
  int calls = 0;
  TraceStream stream([&](std::vector<Access>& batch) {
    if (++calls == 2) throw InputError({"bad row", {}, {}, {}});
    batch.resize(2);
    return true;
  });
  Access access;
  EXPECT_TRUE(stream.next(access));
  EXPECT_THROW(stream.next(access), InputError);
}

}  // namespace
}  // namespace cxloom
