#include "tags/cache_hierarchy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <utility>
#include <vector>

#include "core/support/victims.hpp"

namespace cxloom {
namespace {

using Traffic = std::vector<std::pair<std::uint64_t, AccessKind>>;
constexpr AccessKind kRead = AccessKind::kRead;
constexpr AccessKind kWrite = AccessKind::kWrite;

CacheParams level(std::uint64_t lines, std::uint32_t ways) {
  CacheParams params;
  params.size = Bytes{lines * kLineBytes};
  params.ways = ways;
  return params;
}

Traffic traffic_of(CacheHierarchy& caches, std::uint64_t address, AccessKind kind, std::uint32_t size = 1) {
  Traffic traffic;
  caches.access(Address{address}, kind, size, [&](LineAddress line, AccessKind to_memory) {
    traffic.emplace_back(line.number(), to_memory);
  });
  return traffic;
}

Traffic access_line(CacheHierarchy& caches, std::uint64_t line, AccessKind kind) {
  return traffic_of(caches, line * kLineBytes, kind);
}

TEST(CacheHierarchy, AccessesThatStraddleLinesAreSplit) {
  CacheHierarchy caches({level(64, 4)}, test::victims());
  EXPECT_EQ(traffic_of(caches, 60, kRead, 4), (Traffic{{0, kRead}}));
  EXPECT_EQ(traffic_of(caches, 60, kRead, 5), (Traffic{{1, kRead}}));
  EXPECT_EQ(traffic_of(caches, 130, kWrite, 190), (Traffic{{2, kRead}, {3, kRead}, {4, kRead}}));
  EXPECT_EQ(traffic_of(caches, 0, kRead, 320), Traffic{});
  EXPECT_EQ(traffic_of(caches, ~std::uint64_t{0}, kRead, 8),
            (Traffic{{~std::uint64_t{0} / 64, kRead}}));  // no wrap
}

TEST(CacheHierarchy, AWriteThatMissesReadsTheLineAndGoesBackWhenItLeaves) {
  CacheHierarchy caches({level(1, 1)}, test::victims());
  EXPECT_EQ(access_line(caches, 7, kWrite), (Traffic{{7, kRead}}));
  EXPECT_EQ(access_line(caches, 8, kRead), (Traffic{{8, kRead}, {7, kWrite}}));  // the read comes first
  EXPECT_EQ(access_line(caches, 9, kRead), (Traffic{{9, kRead}}));               // 8 was clean
}

TEST(CacheHierarchy, SequentialWritesComeBackOnceButForWhatStillFits) {
  // k lines written in order, twice, k at least twice the cache: each write misses, each but the last s comes
  // back.
  constexpr std::uint64_t kSets = 24;
  constexpr std::uint64_t kLines = 100;
  CacheHierarchy caches({level(kSets, 1)}, test::victims());
  std::uint64_t reads = 0;
  std::uint64_t writes = 0;
  for (std::uint64_t i = 0; i < 2 * kLines; ++i) {
    for (const auto& [line, kind] : access_line(caches, i % kLines, kWrite))
      ++(kind == kRead ? reads : writes);
  }
  EXPECT_EQ(reads, 2 * kLines);
  EXPECT_EQ(writes, 2 * kLines - kSets);
  EXPECT_EQ(caches.counts(0).misses, reads);
  EXPECT_EQ(caches.counts(0).write_backs, writes);
  EXPECT_EQ(caches.counts(0).hits, 0U);
}

TEST(CacheHierarchy, ALevelDoesNotTakeLinesOutOfTheOneAboveIt) {
  // Line 0 is used all the time, so it stays in the first level although the second one has long dropped it.
  CacheHierarchy caches({level(2, 2), level(4, 4)}, test::victims());
  access_line(caches, 0, kRead);
  for (std::uint64_t line = 1; line < 50; ++line) {
    access_line(caches, line, kRead);
    EXPECT_EQ(access_line(caches, 0, kRead), Traffic{});
  }
  EXPECT_FALSE(caches.array(1).contains(LineAddress{0}));
  EXPECT_TRUE(caches.array(0).contains(LineAddress{0}));
}

TEST(CacheHierarchy, ADirtyVictimIsTakenInByTheNextLevel) {
  CacheHierarchy caches({level(1, 1), level(4, 4)}, test::victims());
  access_line(caches, 0, kWrite);
  EXPECT_EQ(access_line(caches, 1, kRead), (Traffic{{1, kRead}}));  // 0 moves to the second level
  EXPECT_EQ(caches.counts(0).write_backs, 1U);
  EXPECT_EQ(caches.counts(1).write_backs, 0U);
  Traffic later;
  for (std::uint64_t line = 2; line < 6; ++line) {
    for (const auto& one : access_line(caches, line, kRead)) later.push_back(one);
  }
  EXPECT_EQ(std::count(later.begin(), later.end(), std::pair{std::uint64_t{0}, kWrite}), 1);
}

// The hierarchy in its plainest form: every level a queue per set, the least recently used line first.
class ReferenceHierarchy {
 public:
  struct Level {
    std::uint64_t sets;
    std::uint64_t ways;
    std::vector<std::deque<std::pair<std::uint64_t, bool>>> lines;  // line, dirty
  };

  void add(std::uint64_t lines, std::uint64_t ways) {
    Level& level = levels_.emplace_back(Level{lines / ways, ways, {}});
    level.lines.resize(level.sets);
  }

  Traffic access(std::uint64_t line, AccessKind kind) {
    traffic_.clear();
    std::size_t level = 0;
    while (level < levels_.size() && !use(level, line, false)) ++level;
    if (level == levels_.size()) traffic_.emplace_back(line, kRead);
    while (level > 0) put(--level, line, false);
    if (kind == kWrite) use(0, line, true);
    return traffic_;
  }

 private:
  // True if the level has the line; it is then the latest used one, and dirty if it was or `dirty` says so.
  bool use(std::size_t level, std::uint64_t line, bool dirty) {
    auto& set = levels_[level].lines[line % levels_[level].sets];
    for (auto at = set.begin(); at != set.end(); ++at) {
      if (at->first != line) continue;
      const bool was_dirty = at->second;
      set.erase(at);
      set.emplace_back(line, was_dirty || dirty);
      return true;
    }
    return false;
  }
  void put(std::size_t level, std::uint64_t line, bool dirty) {
    auto& set = levels_[level].lines[line % levels_[level].sets];
    std::pair<std::uint64_t, bool> victim{0, false};
    if (set.size() == levels_[level].ways) {
      victim = set.front();
      set.pop_front();
    }
    set.emplace_back(line, dirty);
    if (!victim.second) return;
    if (level + 1 == levels_.size()) {
      traffic_.emplace_back(victim.first, kWrite);
    } else if (!use(level + 1, victim.first, true)) {
      put(level + 1, victim.first, true);
    }
  }

  std::vector<Level> levels_;
  Traffic traffic_;
};

TEST(CacheHierarchy, AgreesWithAReferenceAccessByAccess) {
  const std::vector<std::vector<CacheParams>> hierarchies = {
      {level(16, 2)},
      {level(8, 2), level(36, 3)},
      {level(8, 4), level(32, 4), level(120, 40)},
      {level(32, 4), level(16, 2), level(8, 1)},  // upside down: the last one is the smallest
  };
  for (const auto& levels : hierarchies) {
    CacheHierarchy caches(levels, test::victims());
    ReferenceHierarchy reference;
    for (const CacheParams& params : levels) reference.add(params.lines(), params.ways);
    RandomStream random(5, "test", "traffic");
    std::uint64_t to_memory = 0;
    for (int i = 0; i < 50000; ++i) {
      // A hot part that the caches can hold, and a cold one that they cannot.
      const std::uint64_t line = random.chance(0.7) ? random.below(24) : random.below(400);
      const AccessKind kind = random.chance(0.4) ? kWrite : kRead;
      const Traffic traffic = access_line(caches, line, kind);
      ASSERT_EQ(traffic, reference.access(line, kind))
          << "access " << i << ", " << levels.size() << " levels";
      to_memory += traffic.size();
    }
    EXPECT_GT(to_memory, 5000U);
    EXPECT_LT(to_memory, 50000U);
    // What one level misses the next one sees.
    for (std::size_t i = 0; i + 1 < caches.levels(); ++i) {
      EXPECT_EQ(caches.counts(i).misses, caches.counts(i + 1).hits + caches.counts(i + 1).misses);
    }
  }
}

// Two levels of two and four lines: a line that the second asked for is there, and its first use is told
// once.
TEST(CacheHierarchy, ALineThatWasAskedForAheadIsNewWhenItIsUsed) {
  CacheHierarchy caches({level(2, 0), level(4, 0)}, test::victims());
  Traffic traffic;
  const auto emit = [&](LineAddress line, AccessKind kind) { traffic.emplace_back(line.number(), kind); };
  EXPECT_TRUE(caches.ask_ahead(LineAddress{7}, 1, emit));
  EXPECT_FALSE(caches.ask_ahead(LineAddress{7}, 1, emit)) << "it is there";
  EXPECT_TRUE(caches.ask_ahead(LineAddress{7}, 0, emit)) << "the first level lacks it";
  EXPECT_EQ(traffic, (Traffic{{7, kRead}})) << "memory was asked once";
  const CacheHierarchy::AccessedLine first = caches.access_line(LineAddress{7}, kRead, emit);
  EXPECT_EQ(first.level, 0U);
  EXPECT_TRUE(first.ahead);
  EXPECT_FALSE(caches.access_line(LineAddress{7}, kRead, emit).ahead);
  EXPECT_EQ(caches.counts(0).useful, 1U);
  EXPECT_EQ(caches.counts(1).useful, 1U);
  EXPECT_EQ(caches.counts(0).prefetches, 1U);
  EXPECT_EQ(caches.counts(1).prefetches, 1U);
}

TEST(CacheHierarchy, ALineThatLeavesBeforeItsUseIsUseless) {
  CacheHierarchy caches({level(2, 0), level(4, 0)}, test::victims());
  const auto ignore = [](LineAddress, AccessKind) {};
  caches.ask_ahead(LineAddress{7}, 1, ignore);
  for (std::uint64_t line = 0; line < 4; ++line) access_line(caches, line, kRead);
  EXPECT_EQ(caches.counts(1).useless, 1U);
  const CacheHierarchy::AccessedLine missed = caches.access_line(LineAddress{7}, kRead, ignore);
  EXPECT_EQ(missed.level, 2U);
  EXPECT_FALSE(missed.ahead);
  caches.ask_ahead(LineAddress{9}, 1, ignore);
  EXPECT_EQ(caches.take(LineAddress{9}), LineState::kClean);
  EXPECT_EQ(caches.counts(1).useless, 2U) << "another core took it";
}

TEST(CacheHierarchy, RefusesLevelsThatCannotBe) {
  EXPECT_THROW(CacheHierarchy({}, test::victims()), InputError);
  try {
    CacheHierarchy({level(16, 2), level(16, 3)}, test::victims());
    FAIL() << "16 lines cannot be 3 ways";
  } catch (const InputError& error) {
    EXPECT_EQ(error.path(), "[1]");
  }
}

}  // namespace
}  // namespace cxloom
