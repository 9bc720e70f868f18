// What a line may be found with after a loss, against all orders that its writes and reads may have taken
// effect in.
#include "component/version_floor.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace cxloom {
namespace {

constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();

/// A write of a version, or a read that brought it.
struct Operation {
  bool write;
  std::uint32_t version;
  std::uint64_t begun;
  std::uint64_t ended;  // kNever: under way when the power failed
};

/// Some order of the operations, each between its begin and its end, in which every read brings the write
/// before it; what is under way may have taken effect or not. By trying all.
bool takes_effect_in_some_order(const std::vector<Operation>& operations, std::vector<bool>& done,
                                std::uint32_t current) {
  bool all = true;
  std::uint64_t earliest_end = kNever;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    if (done[i]) continue;
    if (operations[i].ended != kNever) all = false;
    earliest_end = std::min(earliest_end, operations[i].ended);
  }
  if (all) return true;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const Operation& next = operations[i];
    if (done[i] || next.begun > earliest_end || (!next.write && next.version != current)) continue;
    done[i] = true;
    if (takes_effect_in_some_order(operations, done, next.write ? next.version : current)) return true;
    done[i] = false;
  }
  return false;
}

/// The line is found with that version in the end.
bool may_be_found_with(std::vector<Operation> operations, std::uint32_t version) {
  operations.push_back({false, version, kNever - 2, kNever - 1});
  std::vector<bool> done(operations.size(), false);
  return takes_effect_in_some_order(operations, done, 0);
}

/// Tells versions in the order of time, like LineVersions.
struct Told {
  VersionFloor floor;
  std::vector<std::uint64_t> written{0};
  std::vector<std::uint64_t> settled{0};

  explicit Told(std::vector<Operation> operations, std::uint32_t versions)
      : written(versions, 0), settled(versions, kNever) {
    settled[0] = 0;
    for (const Operation& each : operations) {
      if (each.write) written[each.version] = each.begun;
    }
    std::ranges::sort(operations, {}, &Operation::ended);
    for (const Operation& each : operations) {
      if (each.ended == kNever) continue;
      settled[each.version] = std::min(settled[each.version], each.ended);
      if (each.write) {
        floor.answered(each.version, each.begun);
      } else {
        floor.read(each.version, written[each.version], each.begun);
      }
    }
  }
  BrokenRule broken_by(std::uint32_t version) const { return floor.broken_by(version, settled[version]); }
};

// Random histories that some order explains: of these every version is allowed that some order leaves, and no
// other.
TEST(VersionFloor, AllowsWhatSomeOrderOfTheHistoryLeaves) {
  std::mt19937_64 draw(7);
  const auto below = [&](std::uint64_t bound) { return draw() % bound; };
  int histories = 0;
  int refused = 0;
  while (histories < 3000) {
    const auto writes = static_cast<std::uint32_t>(1 + below(4));
    const std::size_t reads = below(4);
    const std::size_t count = writes + reads;
    std::vector<std::uint64_t> times(2 * count);
    for (std::size_t i = 0; i < times.size(); ++i) times[i] = i + 1;
    std::ranges::shuffle(times, draw);
    std::vector<Operation> operations;
    for (std::size_t i = 0; i < count; ++i) {
      const auto [begun, ended] = std::minmax(times[2 * i], times[2 * i + 1]);
      const bool write = i < writes;
      const auto version = static_cast<std::uint32_t>(write ? i + 1 : below(writes + 1));
      const bool under_way = write && below(4) == 0;
      operations.push_back({write, version, begun, under_way ? kNever : ended});
    }
    std::vector<bool> done(count, false);
    if (!takes_effect_in_some_order(operations, done, 0)) continue;
    ++histories;
    const Told told(operations, writes + 1);
    for (std::uint32_t version = 0; version <= writes; ++version) {
      const bool allowed = told.broken_by(version) == BrokenRule::kNone;
      EXPECT_EQ(allowed, may_be_found_with(operations, version))
          << "history " << histories << ", version " << version;
      refused += allowed ? 0 : 1;
    }
  }
  EXPECT_GT(refused, 1000);
}

TEST(VersionFloor, AnAnsweredWriteStandsAgainstWhatWasBeforeIt) {
  const Told told({{true, 1, 1, 2}, {true, 2, 3, 4}}, 3);
  EXPECT_EQ(told.broken_by(0), BrokenRule::kAnswered);
  EXPECT_EQ(told.broken_by(1), BrokenRule::kAnswered);
  EXPECT_EQ(told.broken_by(2), BrokenRule::kNone);
  EXPECT_EQ(told.floor.needed_beside(1, told.settled[1]), 2U);
}

// Nobody was told of its write; a read brought it.
TEST(VersionFloor, AReadStandsAgainstWhatWasBeforeIt) {
  const Told told({{true, 1, 1, kNever}, {false, 1, 2, 3}}, 2);
  EXPECT_EQ(told.broken_by(0), BrokenRule::kRead);
  EXPECT_EQ(told.floor.needed_beside(0, told.settled[0]), 1U);
  EXPECT_EQ(told.broken_by(1), BrokenRule::kNone);
}

// Writes at the same time may take effect in either order, until reads one after the other show which.
TEST(VersionFloor, ReadsShowTheOrderOfWritesAtTheSameTime) {
  const std::vector<Operation> writes{{true, 1, 1, 9}, {true, 2, 2, 10}};
  EXPECT_EQ(Told(writes, 3).broken_by(1), BrokenRule::kNone);
  EXPECT_EQ(Told(writes, 3).broken_by(2), BrokenRule::kNone);
  std::vector<Operation> seen = writes;
  seen.push_back({false, 2, 3, 4});
  seen.push_back({false, 1, 5, 6});
  EXPECT_EQ(Told(seen, 3).broken_by(2), BrokenRule::kRead);
  EXPECT_EQ(Told(seen, 3).broken_by(1), BrokenRule::kNone);
}

}  // namespace
}  // namespace cxloom
