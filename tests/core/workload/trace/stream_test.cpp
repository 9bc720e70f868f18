#include "workload/trace/stream.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
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

// The batch at hand is what `left_at_least` counts.
TEST(TraceStream, SaysOfEachBatchWhetherStoresGoPastTheCaches) {
  int batch = 0;
  TraceStream stream([&](std::vector<Access>& accesses) {
    accesses.resize(2);
    accesses.back().past = batch == 1;
    return batch++ < 3;
  });
  Access access;
  for (const bool past : {false, true, false}) {
    EXPECT_EQ(stream.may_store_past(), past);
    EXPECT_EQ(stream.left_at_least(), 2U);
    stream.next(access);
    stream.next(access);
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

// --- repeated --------------------------------------------------------------------------------------------

// Three accesses at 5, 7 and 10 ps.
TraceStream::Refill timed_trace() {
  return [done = false](std::vector<Access>& batch) mutable {
    if (std::exchange(done, true)) return false;
    for (const std::int64_t time : {5, 7, 10}) {
      Access& access = batch.emplace_back();
      access.timed = true;
      access.timestamp = Time{time};
    }
    return true;
  };
}

// A round begins where the one before ended, at 10 ps, and its own times go on from there.
TEST(TraceStream, ARepeatedTraceGoesOnInTime) {
  TraceStream stream(timed_trace, Rounds{3}, std::nullopt, false);
  std::vector<std::int64_t> times;
  std::vector<bool> repeats;
  std::vector<std::optional<std::uint64_t>> lengths;
  for (Access access; stream.next(access);) {
    times.push_back(access.timestamp.ps());
    repeats.push_back(stream.repeats());
    lengths.push_back(stream.length());
  }
  EXPECT_EQ(times, (std::vector<std::int64_t>{5, 7, 10, 15, 17, 20, 25, 27, 30}));
  EXPECT_FALSE(repeats[1]);
  EXPECT_TRUE(repeats[3]);
  EXPECT_EQ(lengths[1], std::nullopt);
  EXPECT_EQ(lengths[2], 9U);  // the first round was the whole trace
  EXPECT_EQ(stream.length(), 9U);
}

TEST(TraceStream, ALengthThatIsKnownIsThatOfAllRounds) {
  TraceStream stream(timed_trace, Rounds{3}, 3, false);
  EXPECT_EQ(stream.length(), 9U);
  EXPECT_EQ(TraceStream(timed_trace, Rounds{0}, 3, false).length(), std::nullopt);
}

// The second record of each round is no access. The accesses of 2^63 rounds cannot be counted.
TEST(TraceStream, KnowsTheAccessesOfAllRoundsAfterTheFirst) {
  const auto noted = [] {
    return [given = false](std::vector<Access>& batch) mutable {
      if (std::exchange(given, true)) return false;
      batch.resize(3);
      batch[1].role = AccessRole::kCall;
      return true;
    };
  };
  Access access;
  TraceStream five(noted, Rounds{5}, std::nullopt, false);
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(five.next(access));
    EXPECT_EQ(five.length(), i == 0 ? std::nullopt : std::optional<std::uint64_t>(10)) << i;
  }
  EXPECT_FALSE(five.next(access));
  TraceStream many(noted, Rounds{std::uint64_t{1} << 63U}, std::nullopt, false);
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(many.next(access));
  EXPECT_EQ(many.length(), std::nullopt);
}

TEST(TraceStream, ForeverHasNoEnd) {
  TraceStream stream(timed_trace, Rounds{0}, std::nullopt, false);
  Access access;
  for (int i = 0; i < 3000; ++i) ASSERT_TRUE(stream.next(access));
  EXPECT_EQ(access.timestamp.ps(), 10'000);
  EXPECT_EQ(stream.length(), std::nullopt);
}

// A file is opened for the first round of a short trace alone, and for each round of a longer one.
TEST(TraceStream, AShortTraceIsReadOnce) {
  for (const std::size_t records : {std::size_t{3}, std::size_t{1024}, std::size_t{1025}}) {
    int opened = 0;
    const auto trace = [&opened, records] {
      ++opened;
      return [records, given = std::size_t{0}](std::vector<Access>& batch) mutable {
        for (; given < records && batch.size() < 500; ++given) batch.emplace_back().address = Address{given};
        return !batch.empty();
      };
    };
    TraceStream stream(trace, Rounds{4}, std::nullopt, false);
    Access access;
    for (std::size_t i = 0; i < 4 * records; ++i) {
      ASSERT_TRUE(stream.next(access));
      ASSERT_EQ(access.address.value(), i % records);
    }
    EXPECT_FALSE(stream.next(access));
    EXPECT_EQ(opened, records > 1024 ? 4 : 1) << records;
  }
}

// A trace of notes alone would be read for ever without an access.
TEST(TraceStream, ATraceOfNothingIsNotRepeated) {
  TraceStream stream([] { return [](std::vector<Access>&) { return false; }; }, Rounds{0}, std::nullopt,
                     false);
  Access access;
  EXPECT_FALSE(stream.next(access));
}

TEST(TraceStream, CallsAreNotRepeatedOnCores) {
  const auto calling = [] {
    return [done = false](std::vector<Access>& batch) mutable {
      batch.emplace_back();
      batch.emplace_back().role = AccessRole::kCall;
      return !std::exchange(done, true);
    };
  };
  EXPECT_THROW(TraceStream(calling, Rounds{2}, std::nullopt, true), InputError);
  TraceStream(calling, Rounds{2}, std::nullopt, false);
}

}  // namespace
}  // namespace cxloom
