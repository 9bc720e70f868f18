#include "tags/victim_policy.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/kind_registry.hpp"
#include "base/schema.hpp"
#include "core/support/victims.hpp"
#include "tags/cache_array.hpp"
#include "tags/tag_array.hpp"

namespace cxloom {
namespace {

/// A cache of one set.
CacheArray one_set(std::uint32_t ways, const KindSpec& policy,
                   const VictimRegistry& policies = test::victims()) {
  CacheParams params;
  params.size = Bytes{ways * kLineBytes};
  params.ways = ways;
  params.policy = policy;
  return {params, policies, RandomStream(1, "cache", "victim")};
}

KindSpec kind(const char* name, Value::Map params = {}) { return {name, Value(std::move(params))}; }

/// Accesses lines by their letters; of each that missed what had to leave for it, '-' for nothing, and '.'
/// for a hit.
std::string play(TagArray& tags, const std::string& lines) {
  std::string left;
  for (const char letter : lines) {
    const LineAddress line{static_cast<std::uint64_t>(letter)};
    if (const Slot slot = tags.lookup(line); slot != kNoSlot) {
      tags.touch(slot);
      left += '.';
      continue;
    }
    const Slot victim = tags.victim_for(line);
    left += victim == kNoSlot ? '-' : static_cast<char>(tags.line(victim).number());
    tags.place(line, victim);
  }
  return left;
}

/// Plays accesses in a cache.
std::string play(CacheArray& cache, const std::string& lines) {
  std::string left;
  for (const char letter : lines) {
    const LineAddress line{static_cast<std::uint64_t>(letter)};
    if (const Slot slot = cache.lookup(line); slot != kNoSlot) {
      cache.touch(slot);
      left += '.';
      continue;
    }
    const auto insertion = cache.insert(line, LineState::kClean);
    left += insertion.evicted() ? static_cast<char>(insertion.victim.number()) : '-';
  }
  return left;
}

TEST(VictimPolicy, TreePlruFollowsItsBitsWorkedByHand) {
  // Four ways: a root, and a node for each half; a bit leads to the half that was not used last.
  // After abcd: root left, left node left, right node left. Each line below: access, who leaves, and where
  // the bits lead then.
  CacheArray cache = one_set(4, kind("tree-plru"));
  EXPECT_EQ(play(cache, "abcd"), "----");
  EXPECT_EQ(play(cache, "a"), ".");  // root right, left node right
  EXPECT_EQ(play(cache, "e"),
            "c");  // the right half's left; LRU would take b. Now root left, right node right
  EXPECT_EQ(play(cache, "f"), "b");  // the left half's right. Root right, left node left
  EXPECT_EQ(play(cache, "a"), ".");  // root right, left node right
  EXPECT_EQ(play(cache, "g"), "d");  // root left, right node left
  EXPECT_EQ(play(cache, "h"), "f");
}

TEST(VictimPolicy, ClockGivesASecondChance) {
  CacheArray cache = one_set(3, kind("clock"));
  EXPECT_EQ(play(cache, "abc"), "---");
  EXPECT_EQ(play(cache, "a"), ".");
  EXPECT_EQ(play(cache, "d"), "b") << "a is spared, and its bit cleared";
  EXPECT_EQ(play(cache, "e"), "c");
  EXPECT_EQ(play(cache, "f"), "a") << "it was not used again";
  CacheArray fifo = one_set(4, kind("clock"));
  EXPECT_EQ(play(fifo, "abcdefgh"), "----abcd") << "without uses it is FIFO";
}

TEST(VictimPolicy, TwoQueuesKeepWhatCameAgain) {
  // Four ways: one for what comes in, as far as something is kept; two lines that left are remembered.
  CacheArray cache = one_set(4, kind("2q"));
  EXPECT_EQ(play(cache, "abcd"), "----");
  EXPECT_EQ(play(cache, "aa"), "..") << "uses do not count in the first queue";
  EXPECT_EQ(play(cache, "ef"), "ab");
  EXPECT_EQ(play(cache, "a"), "c") << "remembered: it is kept";
  EXPECT_EQ(play(cache, "c"), "d") << "b was forgotten, c was not";
  EXPECT_EQ(play(cache, "xyz"), "efx") << "what is wanted once passes by";
  EXPECT_EQ(play(cache, "ac"), "..");
  // With one line in the first queue the least recently used of the others leaves.
  EXPECT_EQ(play(cache, "a"), ".");
}

TEST(VictimPolicy, TwoQueuesWithoutMemoryAreFifo) {
  CacheArray cache = one_set(3, kind("2q", {{"out", 0.0}}));
  EXPECT_EQ(play(cache, "abcadabe"),
            "---.a"
            "bcd");
}

TEST(VictimPolicy, TreePlruOfTwoWaysIsLru) {
  CacheArray tree = one_set(2, kind("tree-plru"));
  CacheArray lru = one_set(2, kind("lru"));
  RandomStream random(3, "test", "lines");
  for (int i = 0; i < 1000; ++i) {
    const std::string line(1, static_cast<char>('a' + random.below(4)));
    ASSERT_EQ(play(tree, line), play(lru, line)) << "access " << i;
  }
}

TEST(VictimPolicy, TreePlruNeverTakesTheLineUsedLast) {
  CacheArray cache = one_set(8, kind("tree-plru"));
  RandomStream random(5, "test", "lines");
  char last = ' ';
  for (int i = 0; i < 2000; ++i) {
    const std::string line(1, static_cast<char>('a' + random.below(20)));
    ASSERT_NE(play(cache, line)[0], last);
    last = line[0];
  }
}

TEST(VictimPolicy, TreePlruRefusesWaysThatMakeNoTree) {
  EXPECT_THROW(one_set(6, kind("tree-plru")), InputError);
  EXPECT_NO_THROW(one_set(16, kind("tree-plru")));
}

TEST(VictimPolicy, SrripKeepsWhatIsUsedAgainThroughAScan) {
  // The mixed access pattern of Jaleel et al., ISCA 2010: A and B are wanted again, 1 to 4 are not. Intervals
  // by way: AB 22, BA 00, 12 0022; 3: all grow by one, 1133, and 1 leaves; 4 takes 2's place, 1122; A and B
  // hit.
  CacheArray cache = one_set(4, kind("srrip"));
  EXPECT_EQ(play(cache, "ABBA1234AB"), "--..--12..");
  // LRU loses both.
  CacheArray lru = one_set(4, kind("lru"));
  EXPECT_EQ(play(lru, "ABBA1234AB"), "--..--BA12");
}

TEST(VictimPolicy, SrripOfOneBitIsNotRecentlyUsed) {
  // All are recent (0) when they come; a full set with none that is not lets all become so, and the first
  // leaves.
  CacheArray cache = one_set(3, kind("srrip", {{"bits", 1}}));
  // abc 000; d: 111, a leaves, 011; b 001; e takes c: 000; f: 111 and d leaves, 011.
  EXPECT_EQ(play(cache, "abcdbefb"), "---a.cd.");
}

TEST(VictimPolicy, SrripAgesWhoWasWantedOnce) {
  // Two bits: ab 22, a 0; c: 13, b leaves, 12; d: 23, c leaves, 22; e: 33, a leaves at last.
  CacheArray cache = one_set(2, kind("srrip"));
  EXPECT_EQ(play(cache, "aba"), "--.");
  EXPECT_EQ(play(cache, "cde"), "bca");
  // With three bits lines come in at 6 of 7, and it is kept for longer: 1, 2, 3, 4, 5 and 6 while others
  // leave.
  CacheArray patient = one_set(2, kind("srrip", {{"bits", 3}}));
  EXPECT_EQ(play(patient, "aba"), "--.");
  EXPECT_EQ(play(patient, "cdefghi"), "bcdefga");
}

TEST(VictimPolicy, SrripKeepsAPinnedLineAndLetsItAgeWithTheOthers) {
  // abc 222; a pinned; d: 333 and b leaves, 323; a is still pinned, c: hit, 320; e: a pinned, d's 2 is the
  // longest: 331 after growth, e takes d's place, 321. Unpinned, a is distant and leaves next.
  CacheArray unpinned = one_set(3, kind("srrip"));
  EXPECT_EQ(play(unpinned, "abcdcef"), "---a.bd");
  TagArray tags(kind("srrip"), test::victims(), VictimContext{1, 3, RandomStream(1, "cache", "victim")});
  tags.allow_pins();
  EXPECT_EQ(play(tags, "abc"), "---");
  tags.pin(tags.lookup(LineAddress{'a'}));
  EXPECT_EQ(play(tags, "dce"), "b.d");
  tags.unpin(tags.lookup(LineAddress{'a'}));
  EXPECT_EQ(play(tags, "f"), "a");
}

TEST(VictimPolicy, TreePlruTurnsAwayFromAHalfThatIsPinned) {
  // After abcd all bits lead to the left: a. With a pinned its neighbour leaves, with both the other half's
  // left one.
  for (const auto& [pins, victim] :
       {std::pair{"", "a"}, {"a", "b"}, {"ab", "c"}, {"abc", "d"}, {"ac", "b"}}) {
    TagArray tags(kind("tree-plru"), test::victims(),
                  VictimContext{1, 4, RandomStream(1, "cache", "victim")});
    tags.allow_pins();
    EXPECT_EQ(play(tags, "abcd"), "----");
    for (const char line : std::string(pins))
      tags.pin(tags.lookup(LineAddress{static_cast<std::uint64_t>(line)}));
    EXPECT_EQ(play(tags, "e"), victim);
  }
}

TEST(VictimPolicy, LfuKeepsWhatIsUsedOften) {
  // a is used twice, so that b and c replace each other; among equals the one used longest ago leaves: LRU
  // would lose a.
  CacheArray cache = one_set(2, kind("lfu"));
  EXPECT_EQ(play(cache, "aabcbcba"), "-.-bcbc.");
  CacheArray equals = one_set(3, kind("lfu"));
  EXPECT_EQ(play(equals, "abcbacd"), "---...b");
  // Uses count from the insertion on: one that comes back begins anew.
  CacheArray anew = one_set(2, kind("lfu"));
  EXPECT_EQ(play(anew, "aaabb"), "-..-.");
  anew.invalidate(LineAddress{'a'});
  EXPECT_EQ(play(anew, "ac"), "-a");
}

TEST(VictimPolicy, LfiKeepsWhatComesBackAgainAndAgain) {
  // Insertions so far, in order of age: a1 b1; c1: a; a2: b; b2: c; a2 b2, c2: a; b2 c2, d1: b; c2 d1, e1: d;
  // f1: e; c hits.
  CacheArray cache = one_set(2, kind("lfi"));
  EXPECT_EQ(play(cache, "abcabcdefc"), "--abcabde.");
  CacheArray fifo = one_set(2, kind("fifo"));
  EXPECT_EQ(play(fifo, "abcabcdefc"), "--abcabcde");
  // Uses are no insertions.
  CacheArray used = one_set(2, kind("lfi"));
  EXPECT_EQ(play(used, "aaabc"), "-..-a");
}

TEST(VictimPolicy, LfiCountsInsertionsOfALineThatLeftByItself) {
  CacheArray cache = one_set(2, kind("lfi"));
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(play(cache, "a"), "-");
    cache.invalidate(LineAddress{'a'});
  }
  // a4 is the oldest, b1, c1 and d1 come and go behind it.
  EXPECT_EQ(play(cache, "abcd"), "--bc");
  EXPECT_EQ(play(cache, "a"), ".");
}

TEST(VictimPolicy, LongestBlockOfACacheIsLifo) {
  CacheArray longest = one_set(4, kind("longest-block"));
  CacheArray lifo = one_set(4, kind("lifo"));
  RandomStream random(3, "test", "lines");
  for (int i = 0; i < 1000; ++i) {
    const std::string line(1, static_cast<char>('a' + random.below(9)));
    ASSERT_EQ(play(longest, line), play(lifo, line)) << "access " << i;
  }
}

// --- what a policy is told -------------------------------------------------------------------------------

struct Log {
  std::string told;
};
Log* log_of_test = nullptr;

/// Writes down what it is told; the first slot of the set leaves.
template <bool kListens>
class Writer final : public VictimPolicy {
 public:
  struct Params {
    static void describe(Schema<Params>& schema) { schema.doc("Writes down what it is told."); }
  };
  Writer(const Params& /*params*/, const VictimContext& context) : ways_(context.ways) {}
  bool listens() const override { return kListens; }
  void inserted(std::uint32_t set, Slot slot, LineAddress line, const TagArray& tags) override {
    note('i', set, slot);
    EXPECT_EQ(tags.lookup(line), slot);
  }
  void used(std::uint32_t set, Slot slot) override { note('u', set, slot); }
  void freed(std::uint32_t set, Slot slot, LineAddress line, const TagArray& tags) override {
    note('f', set, slot);
    EXPECT_EQ(tags.lookup(line), kNoSlot);
  }
  Slot victim(std::uint32_t set, const SlotOrder& /*order*/, const SlotPins& /*pins*/) override {
    note('v', set, set * ways_);
    return set * ways_;
  }

 private:
  void note(char what, std::uint32_t set, Slot slot) {
    EXPECT_EQ(slot / ways_, set);
    log_of_test->told += what + std::to_string(slot);
  }
  std::uint32_t ways_;
};

template <bool kListens>
std::string told_of() {
  Log log;
  log_of_test = &log;
  VictimRegistry registry("victim policy");
  registry.add<Writer<kListens>>("writer");
  CacheArray cache = one_set(2, kind("writer"), registry);
  play(cache, "aaabba");
  play(cache, "aca");
  cache.invalidate(LineAddress{'b'});
  play(cache, "d");
  return log.told;
}

TEST(VictimPolicy, IsToldOfAllThatHappensIfItListens) {
  // a comes into 0, b into 1; c takes 0 as the victim, then a takes it back; b leaves, and d comes in its
  // place.
  EXPECT_EQ(told_of<true>(), "i0u0u0i1u1u0u0v0i0v0i0f1i1");
  EXPECT_EQ(told_of<false>(), "v0v0");
}

/// Chooses a slot whether or not it is one of the set.
struct AstrayParams {
  std::uint32_t slot = 0;
  static void describe(Schema<AstrayParams>& schema) {
    schema.doc("Any slot.");
    schema.field("slot", &AstrayParams::slot).doc("Which.");
  }
};

class Astray final : public VictimPolicy {
 public:
  using Params = AstrayParams;
  Astray(const AstrayParams& params, const VictimContext& /*context*/) : slot_(params.slot) {}
  Slot victim(std::uint32_t /*set*/, const SlotOrder& /*order*/, const SlotPins& /*pins*/) override {
    return slot_;
  }

 private:
  Slot slot_;
};

TEST(VictimPolicy, AVictimThatIsNotOfTheSetIsAnError) {
  VictimRegistry policies("victim policy");
  policies.add<Astray>("astray");
  for (const auto& [slot, wrong] : {std::pair{3, false}, {4, true}, {-1, true}}) {
    const auto chosen = static_cast<std::uint32_t>(slot);
    CacheArray cache = one_set(4, {"astray", Value(Value::Map{{"slot", std::int64_t{chosen}}})}, policies);
    for (std::uint64_t line = 0; line < 4; ++line) cache.insert(LineAddress{line}, LineState::kClean);
    if (!wrong) {
      EXPECT_EQ(cache.insert(LineAddress{9}, LineState::kClean).slot, chosen);
      continue;
    }
    try {
      cache.insert(LineAddress{9}, LineState::kClean);
      FAIL() << "taken";
    } catch (const InternalError& error) {
      EXPECT_EQ(std::string(error.what()), "the victim policy chose slot " + std::to_string(chosen) +
                                               " of set 0, which has the slots 0 to 3");
    }
  }
}

}  // namespace
}  // namespace cxloom
