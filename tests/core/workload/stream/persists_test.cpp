#include "workload/stream/persists.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "core/support/errors.hpp"
#include "workload/pattern/pattern.hpp"

namespace cxloom {
namespace {

using test::contains;
using test::input_error;

std::unique_ptr<AccessStream> make_persisting(const std::string& kind, Value::Map params, bool cached) {
  PatternRegistry patterns("pattern");
  register_patterns(patterns);
  PatternContext context{1, "host", cached};
  return patterns.make({kind, Value(std::move(params))}, context);
}

std::vector<Access> first_accesses(const std::string& kind, Value::Map params, bool cached, int count) {
  std::vector<Access> all(static_cast<std::size_t>(count));
  const auto stream = make_persisting(kind, std::move(params), cached);
  for (Access& access : all) EXPECT_TRUE(stream->next(access));
  return all;
}

// "W40" a write of block 0x40, "F" a flush that drops the line, "K" one that keeps it, "R" a read; "!" behind
// a fence.
std::vector<std::string> told(const std::vector<Access>& accesses) {
  std::vector<std::string> all;
  for (const Access& access : accesses) {
    const bool flush = access.kind == AccessKind::kFlush;
    const char kind = flush ? (access.keeps ? 'K' : 'F') : access.kind == AccessKind::kWrite ? 'W' : 'R';
    all.push_back((access.dependence == kAllBefore ? "!" : "") + std::string(1, kind) +
                  std::to_string(access.address.value() / 64));
  }
  return all;
}

using Told = std::vector<std::string>;

TEST(Persists, WithoutACacheAPersistIsAFlush) {
  EXPECT_EQ(told(first_accesses("sequential", {{"persists", 1.0}}, false, 3)), (Told{"F0", "F1", "F2"}));
}

TEST(Persists, WithACacheABlockIsWrittenAndFlushed) {
  EXPECT_EQ(told(first_accesses("sequential", {{"persists", 1.0}}, true, 4)), (Told{"W0", "F0", "W1", "F1"}));
  EXPECT_EQ(told(first_accesses("sequential", {{"persists", 1.0}, {"flush", "keep"}}, true, 2)),
            (Told{"W0", "K0"}));
}

TEST(Persists, AnEpochEndsWithAFence) {
  EXPECT_EQ(told(first_accesses("sequential", {{"persists", 1.0}, {"epoch", 2}}, false, 5)),
            (Told{"F0", "F1", "!F2", "F3", "!F4"}));
  EXPECT_EQ(told(first_accesses("sequential", {{"persists", 1.0}, {"epoch", 1}}, true, 4)),
            (Told{"W0", "F0", "!W1", "F1"}));
}

// A fence of an epoch stands before the next access, whatever that is.
TEST(Persists, AreAShareOfTheAccesses) {
  const auto all = first_accesses(
      "random", {{"persists", 0.25}, {"reads", 1.0}, {"epoch", 1}, {"footprint", "64KiB"}}, false, 10'000);
  int flushes = 0;
  for (std::size_t i = 0; i + 1 < all.size(); ++i) {
    const bool flush = all[i].kind == AccessKind::kFlush;
    flushes += flush ? 1 : 0;
    EXPECT_EQ(all[i].kind == AccessKind::kRead, !flush);
    EXPECT_EQ(all[i + 1].dependence == kAllBefore, flush);
  }
  EXPECT_NEAR(flushes, 2500, 4 * 43);  // four standard deviations of sqrt(10^4 x 3/16)
}

TEST(Persists, ChangeNeitherAddressesNorTheKindsOfTheOthers) {
  const Value::Map plain{{"reads", 0.5}, {"footprint", "64KiB"}};
  Value::Map persisting = plain;
  persisting.emplace_back("persists", 0.3);
  const auto before = first_accesses("random", plain, false, 1000);
  const auto after = first_accesses("random", persisting, false, 1000);
  for (std::size_t i = 0; i < before.size(); ++i) {
    EXPECT_EQ(before[i].address, after[i].address);
    if (after[i].kind != AccessKind::kFlush) {
      EXPECT_EQ(before[i].kind, after[i].kind);
    }
  }
}

// Lines of a record of 128 B behind the first line, which says where the log ends.
TEST(Persists, ALogSaysWhereItEndsOnceARecordIsDurable) {
  EXPECT_EQ(told(first_accesses("log-append", {{"record", "128B"}, {"footprint", "320B"}}, false, 5)),
            (Told{"F1", "!F0", "!F3", "!F0", "!F1"}));
  EXPECT_EQ(told(first_accesses("log-append", {{"record", "128B"}, {"footprint", "320B"}, {"flush", "keep"}},
                                true, 5)),
            (Told{"W1", "K1", "!W0", "K0", "!W3"}));
  const auto all = first_accesses("log-append", {{"record", "128B"}}, false, 2);
  EXPECT_EQ(all[0].size, 128);
  EXPECT_EQ(all[1].size, 64);
}

TEST(Persists, WhatHasNoEffectIsRefused) {
  const auto refused = [](const std::string& kind, const Value::Map& params, bool cached) {
    return std::string(input_error([&] { make_persisting(kind, params, cached); }).what());
  };
  EXPECT_TRUE(contains(refused("random", {{"epoch", 4}}, true), "without persists"));
  EXPECT_TRUE(contains(refused("random", {{"flush", "drop"}}, true), "without persists"));
  const Value::Map keeps{{"persists", 0.5}, {"flush", "keep"}};
  EXPECT_TRUE(contains(refused("random", keeps, false), "without a cache"));
  EXPECT_TRUE(contains(refused("log-append", {{"flush", "keep"}}, false), "without a cache"));
  const Value::Map small{{"footprint", "128B"}, {"record", "128B"}};
  EXPECT_TRUE(contains(refused("log-append", small, false), "smaller than a record"));
}

}  // namespace
}  // namespace cxloom
