#include "tags/cache_array.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "base/schema.hpp"
#include "core/support/victims.hpp"

namespace cxloom {
namespace {

using namespace literals;
using test::victims;

RandomStream cache_victims() { return RandomStream(7, "cache", "victim"); }

CacheParams params(std::uint64_t lines, std::uint32_t ways, const std::string& policy = "lru") {
  CacheParams result;
  result.size = Bytes{lines * kLineBytes};
  result.ways = ways;
  result.policy.kind = policy;
  return result;
}

// Looks a line up and brings it in if it is not there; true for a hit.
bool hits_or_fills(CacheArray& array, std::uint64_t line) {
  const Slot slot = array.lookup(LineAddress{line});
  if (slot != kNoSlot) {
    array.touch(slot);
    return true;
  }
  array.insert(LineAddress{line}, LineState::kClean);
  return false;
}

// What a cache array must do, said as plainly as can be: each set is a list of lines, the oldest first.
class ReferenceArray {
 public:
  struct Line {
    std::uint64_t number;
    bool dirty;
  };

  ReferenceArray(std::uint64_t sets, std::uint64_t ways, std::string policy)
      : sets_(sets), ways_(ways), policy_(std::move(policy)) {}

  std::list<Line>& set(std::uint64_t line) { return lines_[line % sets_]; }
  Line* find(std::uint64_t line) {
    for (Line& held : set(line)) {
      if (held.number == line) return &held;
    }
    return nullptr;
  }
  void touch(std::uint64_t line) {
    if (policy_ != "lru" && policy_ != "mru") return;
    std::list<Line>& held = set(line);
    held.splice(held.end(), held,
                std::find_if(held.begin(), held.end(), [&](const Line& one) { return one.number == line; }));
  }
  std::optional<Line> insert(std::uint64_t line, bool dirty) {
    std::list<Line>& held = set(line);
    std::optional<Line> victim;
    if (held.size() == ways_) {
      const bool oldest = policy_ == "lru" || policy_ == "fifo";
      victim = oldest ? held.front() : held.back();
      oldest ? held.pop_front() : held.pop_back();
    }
    held.push_back({line, dirty});
    return victim;
  }
  std::optional<Line> erase(std::uint64_t line) {
    Line* found = find(line);
    if (!found) return std::nullopt;
    const Line copy = *found;
    set(line).remove_if([&](const Line& one) { return one.number == line; });
    return copy;
  }
  std::size_t occupied() const {
    std::size_t sum = 0;
    for (const auto& [index, held] : lines_) sum += held.size();
    return sum;
  }

 private:
  std::uint64_t sets_;
  std::uint64_t ways_;
  std::string policy_;
  std::map<std::uint64_t, std::list<Line>> lines_;
};

struct CacheShape {
  std::uint64_t lines;
  std::uint32_t ways;  // as in CacheParams: 0 for fully associative
  std::uint64_t sets;
};

class CacheArrayAgainstReference : public testing::TestWithParam<std::tuple<CacheShape, std::string>> {};

TEST_P(CacheArrayAgainstReference, AgreesAccessByAccess) {
  const auto& [shape, policy] = GetParam();
  CacheArray array(params(shape.lines, shape.ways, policy), victims(), cache_victims());
  ReferenceArray reference(shape.sets, shape.lines / shape.sets, policy);
  ASSERT_EQ(array.sets(), shape.sets);
  ASSERT_EQ(array.capacity(), shape.lines);
  RandomStream random(1, "test", "traffic");
  int evictions = 0;
  for (int i = 0; i < 20000; ++i) {
    // Far-apart lines too: tags need all their bits.
    const std::uint64_t line =
        random.below(shape.lines * 2) + (random.chance(0.2) ? std::uint64_t{1} << 57U : 0);
    const bool write = random.chance(0.3);
    const Slot slot = array.lookup(LineAddress{line});
    ReferenceArray::Line* expected = reference.find(line);
    ASSERT_EQ(slot != kNoSlot, expected != nullptr) << "access " << i;
    if (random.chance(0.1)) {
      const auto erased = reference.erase(line);
      const LineState state = array.invalidate(LineAddress{line});
      ASSERT_EQ(state, !erased ? LineState::kInvalid : erased->dirty ? LineState::kDirty : LineState::kClean);
    } else if (expected) {
      ASSERT_EQ(array.line(slot).number(), line);
      ASSERT_EQ(array.state(slot) == LineState::kDirty, expected->dirty);
      reference.touch(line);
      array.touch(slot);
      if (write) {
        reference.find(line)->dirty = true;
        array.mark_dirty(slot);
      }
    } else {
      const Slot announced = array.victim_for(LineAddress{line});
      const LineAddress leaving = announced == kNoSlot ? LineAddress{} : array.line(announced);
      const auto victim = reference.insert(line, write);
      const auto insertion = array.insert(LineAddress{line}, write ? LineState::kDirty : LineState::kClean);
      ASSERT_EQ(insertion.evicted(), victim.has_value()) << "access " << i;
      ASSERT_EQ(announced != kNoSlot, victim.has_value());
      if (victim) {
        ++evictions;
        ASSERT_EQ(insertion.victim.number(), victim->number) << "access " << i;
        ASSERT_EQ(leaving, insertion.victim);
        ASSERT_EQ(insertion.evicted_dirty(), victim->dirty);
      }
      ASSERT_EQ(array.lookup(LineAddress{line}), insertion.slot);
    }
    ASSERT_EQ(array.occupied(), reference.occupied());
  }
  EXPECT_GT(evictions, 1000);
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, CacheArrayAgainstReference,
    testing::Combine(testing::Values(CacheShape{64, 4, 16},   // the usual
                                     CacheShape{60, 5, 12},   // a number of sets that is no power of two
                                     CacheShape{96, 48, 2},   // so many ways that an index finds them
                                     CacheShape{100, 0, 1}),  // fully associative
                     testing::Values("lru", "fifo", "lifo", "mru")));
INSTANTIATE_TEST_SUITE_P(OfOneLine, CacheArrayAgainstReference,
                         testing::Combine(testing::Values(CacheShape{16, 1, 16},  // direct mapped
                                                          CacheShape{1, 1, 1}),   // as small as can be
                                          testing::Values("lru")));

TEST(CacheArray, SequentialSweepsThroughADirectMappedCacheMissExactlyWhereSetsAreShared) {
  // k lines over s sets, swept twice: the lines of the first k - s sets and their rivals, 2 (k - s), miss
  // again.
  for (const std::uint64_t sets : {8U, 12U}) {
    for (std::uint64_t lines = 1; lines <= 2 * sets; ++lines) {
      CacheArray array(params(sets, 1), victims(), cache_victims());
      std::uint64_t misses = 0;
      for (int sweep = 0; sweep < 2; ++sweep) {
        for (std::uint64_t line = 0; line < lines; ++line) misses += !hits_or_fills(array, line);
      }
      EXPECT_EQ(misses, lines + (lines > sets ? 2 * (lines - sets) : 0)) << lines << " lines over " << sets;
    }
  }
}

TEST(CacheArray, CyclicSweepsOfOneLineTooManyAreTheWorstCaseOfLruAndNotOfMru) {
  // n lines, n + 1 swept in a cycle: LRU and FIFO always miss; MRU and LIFO lose a line or two a sweep.
  constexpr std::uint64_t kLines = 64;
  constexpr std::uint64_t kSweeps = 10;
  std::map<std::string, std::uint64_t> misses;
  for (const std::string policy : {"lru", "fifo", "mru", "lifo"}) {
    CacheArray array(params(kLines, 0, policy), victims(), cache_victims());
    for (std::uint64_t i = 0; i < kSweeps * (kLines + 1); ++i)
      misses[policy] += !hits_or_fills(array, i % (kLines + 1));
  }
  EXPECT_EQ(misses["lru"], kSweeps * (kLines + 1));
  EXPECT_EQ(misses["fifo"], kSweeps * (kLines + 1));
  // LIFO exchanges the two last lines for each other: two misses a sweep after the first.
  EXPECT_EQ(misses["lifo"], (kLines + 1) + 2 * (kSweeps - 1));
  // MRU's hole moves back by one line a sweep: one miss every n accesses.
  EXPECT_EQ(misses["mru"], (kLines + 1) + (kSweeps - 1) * (kLines + 1) / kLines);
}

TEST(CacheArray, RandomVictimsAreAllWaysOfTheSetWithEqualChance) {
  constexpr std::uint32_t kWays = 8;
  constexpr int kDraws = 16000;
  CacheArray array(params(kWays * 3, kWays, "random"), victims(), cache_victims());
  std::array<int, kWays> victims{};
  std::uint64_t line = 1;  // all in set 1 of 3
  for (std::uint32_t way = 0; way < kWays; ++way, line += 3) {
    EXPECT_FALSE(array.insert(LineAddress{line}, LineState::kClean).evicted());
  }
  for (int draw = 0; draw < kDraws; ++draw, line += 3) {
    const auto insertion = array.insert(LineAddress{line}, LineState::kClean);
    ASSERT_TRUE(insertion.evicted());
    ASSERT_EQ(insertion.slot / kWays, 1U);
    ++victims[insertion.slot % kWays];
  }
  for (const int count : victims) EXPECT_NEAR(count, kDraws / kWays, 250);  // about six standard deviations
}

TEST(CacheArray, RandomVictimsDependOnTheStreamAlone) {
  const auto survivors = [](std::uint64_t seed) {
    CacheArray array(params(64, 8, "random"), victims(), RandomStream(seed, "cache", "victim"));
    for (std::uint64_t line = 0; line < 1000; ++line) hits_or_fills(array, line);
    std::vector<std::uint64_t> lines;
    for (Slot slot = 0; slot < array.capacity(); ++slot) lines.push_back(array.line(slot).number());
    return lines;
  };
  EXPECT_EQ(survivors(1), survivors(1));
  EXPECT_NE(survivors(1), survivors(2));
}

TEST(CacheArray, SlotsStayAsLongAsTheLine) {
  CacheArray array(params(32, 4), victims(), cache_victims());
  std::map<std::uint64_t, Slot> slots;
  for (std::uint64_t line = 0; line < 32; ++line)
    slots[line] = array.insert(LineAddress{line}, LineState::kClean).slot;
  for (std::uint64_t line = 31; line > 3; line -= 3) hits_or_fills(array, line);
  array.invalidate(LineAddress{5});
  slots.erase(5);
  for (const auto& [line, slot] : slots) EXPECT_EQ(array.lookup(LineAddress{line}), slot);
}

TEST(CacheArray, AFreedSlotIsUsedBeforeAnyLineLeaves) {
  for (const std::string policy : {"lru", "fifo", "lifo", "mru", "random"}) {
    CacheArray array(params(16, 0, policy), victims(), cache_victims());
    for (std::uint64_t line = 0; line < 16; ++line) hits_or_fills(array, line);
    const Slot freed = array.lookup(LineAddress{9});
    EXPECT_EQ(array.invalidate(LineAddress{9}), LineState::kClean);
    EXPECT_EQ(array.invalidate(LineAddress{9}), LineState::kInvalid);
    EXPECT_EQ(array.victim_for(LineAddress{99}), kNoSlot);
    const auto insertion = array.insert(LineAddress{99}, LineState::kDirty);
    EXPECT_FALSE(insertion.evicted());
    EXPECT_EQ(insertion.slot, freed);
    EXPECT_EQ(array.occupied(), 16U);
  }
}

TEST(CacheArray, AServersLastLevelNeedsNoPowerOfTwo) {
  CacheParams llc;
  llc.size = 36_MiB;
  llc.ways = 12;
  CacheArray array(llc, victims(), cache_victims());
  EXPECT_EQ(array.sets(), 49152U);
  const std::uint64_t lines = llc.lines();
  for (std::uint64_t line = 0; line < lines; ++line) hits_or_fills(array, line);
  std::uint64_t hits = 0;
  for (std::uint64_t line = 0; line < lines; ++line) hits += hits_or_fills(array, line);
  EXPECT_EQ(hits, lines);  // consecutive lines spread evenly
}

std::string error_of(const Value& value) {
  try {
    read_params<CacheParams>(value);
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

Value value(const char* size, int ways, const char* policy = "lru") {
  Value result;
  result.set("size", size).set("ways", ways);
  result.set("policy", policy);
  return result;
}

TEST(CacheParams, AreReadAndChecked) {
  Value given = value("36MiB", 12, "random");
  given.set("access_time", "30ns");
  const auto read = read_params<CacheParams>(given);
  EXPECT_EQ(read.size, 36_MiB);
  EXPECT_EQ(read.ways, 12U);
  EXPECT_EQ(read.policy.kind, "random");
  EXPECT_EQ(read.access_time, 30_ns);
  EXPECT_EQ(CacheParams{}.access_time, 12_ns);
  EXPECT_EQ(error_of(value("36MiB", 12)), "");
  EXPECT_EQ(error_of(value("6400B", 0)), "");
  EXPECT_NE(error_of(value("48KB", 12)).find("multiple of ways x 64 B"), std::string::npos);
  EXPECT_NE(error_of(value("65B", 0)).find("multiple of ways x 64 B"), std::string::npos);
  EXPECT_NE(error_of(value("32B", 0)).find("at least 64B"), std::string::npos);
  EXPECT_NE(error_of(value("128GiB", 16)).find("at most 64GiB"), std::string::npos);
}

TEST(CacheArray, NamesTheNearestOfTheKnownPolicies) {
  try {
    CacheArray(params(8, 2, "lra"), victims(), cache_victims());
    FAIL() << "made with an unknown policy";
  } catch (const InputError& error) {
    EXPECT_EQ(error.path(), "policy.kind");
    EXPECT_EQ(error.detail().suggestion, "lru");
  }
}

TEST(CacheParams, AreCheckedForThoseWhoSetThemInCodeToo) {
  EXPECT_THROW(CacheArray(params(10, 4), victims(), cache_victims()), InputError);
  EXPECT_THROW(CacheArray(params(0, 4), victims(), cache_victims()), InputError);
}

TEST(CacheParams, RefuseAPolicyThatHasNothingToChooseFrom) {
  for (const std::uint32_t ways : {0U, 1U}) {  // 0: fully associative, here in one line
    EXPECT_THROW(CacheArray(params(1, ways, "fifo"), victims(), cache_victims()), InputError);
    EXPECT_NO_THROW(CacheArray(params(1, ways), victims(), cache_victims()));
  }
  EXPECT_THROW(CacheArray(params(8, 1, "random"), victims(), cache_victims()), InputError);
  EXPECT_NO_THROW(CacheArray(params(8, 2, "random"), victims(), cache_victims()));
  EXPECT_NO_THROW(CacheArray(params(8, 0, "random"), victims(), cache_victims()));
}

}  // namespace
}  // namespace cxloom
