#include "coherence/home/snoop_filter.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/kind_registry.hpp"
#include "base/schema.hpp"
#include "core/support/tag_model.hpp"
#include "core/support/victims.hpp"

namespace cxloom {
namespace {

RandomStream stream() { return RandomStream(7, "filter", "victim"); }

SnoopFilterParams params(std::uint32_t entries, std::uint32_t ways, const std::string& policy = "lru",
                         std::uint32_t block = 1, BlockAlignment alignment = BlockAlignment::kSpec) {
  SnoopFilterParams result{{entries, ways}, block, alignment};
  result.policy.kind = policy;
  return result;
}

SnoopFilter filter(const SnoopFilterParams& params, std::uint32_t peers = 4) {
  return {params, peers, test::victims(), stream()};
}

/// What had to leave for a line: nothing if it was there, or if there was room.
std::vector<std::uint64_t> access(SnoopFilter& filter, std::uint64_t line) {
  std::vector<std::uint64_t> left;
  if (const Slot slot = filter.find(LineAddress{line}); slot != kNoSlot) {
    filter.touch(slot);
    return left;
  }
  if (!filter.has_room(LineAddress{line})) {
    for (const Slot slot : filter.victims_for(LineAddress{line})) left.push_back(filter.line(slot).number());
    for (const std::uint64_t victim : left) filter.erase(filter.find(LineAddress{victim}));
  }
  filter.insert(LineAddress{line}, FilterState::kShared);
  return left;
}

struct Case {
  std::uint32_t entries;
  std::uint32_t ways;
  std::string policy;
  std::uint32_t block;
  BlockAlignment alignment;
};

struct Owned {
  FilterState state = FilterState::kShared;
  std::set<std::uint32_t> owners;
};

class SnoopFilterAgainstModel : public testing::TestWithParam<Case> {
 protected:
  static constexpr std::uint32_t kPeers = 70;  // more than a word of them

  void operate(std::uint64_t line);
  void make_room(std::uint64_t line);
  void insert(std::uint64_t line);
  void look_at(std::uint64_t line, Slot slot);
  void change(std::uint64_t line, Slot slot);

  const Case& given = GetParam();
  SnoopFilter filter{params(given.entries, given.ways, given.policy, given.block, given.alignment), kPeers,
                     test::victims(), stream()};
  std::uint32_t ways = given.ways == 0 ? given.entries : given.ways;
  test::TagModel model{given.entries / ways, ways, given.policy, BlockRule{given.block, given.alignment}};
  std::map<std::uint64_t, Owned> owned;
  RandomStream random{3, "test", "operations"};
  std::map<std::uint32_t, int> blocks_of_size;
};

void SnoopFilterAgainstModel::make_room(std::uint64_t line) {
  ASSERT_EQ(filter.has_room(LineAddress{line}), model.has_room(line));
  const SnoopFilter::Victims victims = filter.victims_for(LineAddress{line});
  const auto expected = model.has_room(line) ? std::nullopt : model.victim_for(line);
  ASSERT_EQ(victims.empty(), !expected);
  if (!expected) return;
  const LineBlock block = model.block_around(*expected, false);
  ASSERT_EQ(victims.size(), block.lines);
  ++blocks_of_size[block.lines];
  std::uint64_t next = block.first.number();
  for (const Slot victim : victims) {
    ASSERT_EQ(filter.line(victim).number(), next++);
    ASSERT_FALSE(filter.pinned(victim));
  }
  for (const Slot victim : victims) {
    const std::uint64_t leaving = filter.line(victim).number();
    model.erase(leaving);
    owned.erase(leaving);
    filter.erase(victim);
  }
}

void SnoopFilterAgainstModel::insert(std::uint64_t line) {
  const FilterState state = random.chance(0.5) ? FilterState::kExclusive : FilterState::kShared;
  const Slot placed = filter.insert(LineAddress{line}, state);
  ASSERT_FALSE(filter.has_owners(placed));
  model.insert(line);
  owned[line] = {state, {}};
}

void SnoopFilterAgainstModel::look_at(std::uint64_t line, Slot slot) {
  const Owned& entry = owned.at(line);
  ASSERT_EQ(filter.line(slot).number(), line);
  ASSERT_EQ(filter.state(slot), entry.state);
  ASSERT_EQ(filter.has_owners(slot), !entry.owners.empty());
  const std::uint32_t first = entry.owners.empty() ? 0 : *entry.owners.begin();
  ASSERT_EQ(filter.owned_by_none_but(slot, first), entry.owners.size() < 2);
  std::vector<std::uint32_t> visited;
  filter.for_each_owner(slot, [&](std::uint32_t peer) { visited.push_back(peer); });
  ASSERT_EQ(visited, std::vector<std::uint32_t>(entry.owners.begin(), entry.owners.end()));
}

void SnoopFilterAgainstModel::change(std::uint64_t line, Slot slot) {
  Owned& entry = owned.at(line);
  const auto peer = static_cast<std::uint32_t>(random.below(kPeers));
  ASSERT_EQ(filter.has_owner(slot, peer), entry.owners.contains(peer));
  switch (random.below(9)) {
    case 0:
      filter.erase(slot);
      model.erase(line);
      owned.erase(line);
      break;
    case 1:
      if (model.pinned(line)) filter.unpin(slot);
      else filter.pin(slot);
      model.set_pinned(line, !model.pinned(line));
      ASSERT_EQ(filter.pinned(slot), model.pinned(line));
      break;
    case 2:
      filter.remove_owner(slot, peer);
      entry.owners.erase(peer);
      break;
    case 3:
      filter.clear_owners(slot);
      entry.owners.clear();
      break;
    case 4:
      entry.state = entry.state == FilterState::kShared ? FilterState::kExclusive : FilterState::kShared;
      filter.set_state(slot, entry.state);
      break;
    case 5:
    case 6:
      filter.touch(slot);
      model.touch(line);
      break;
    default: filter.add_owner(slot, peer); entry.owners.insert(peer);
  }
}

void SnoopFilterAgainstModel::operate(std::uint64_t line) {
  filter.foresee_entry(LineAddress{line});  // a hint, which changes nothing
  const Slot slot = filter.find(LineAddress{line});
  ASSERT_EQ(slot != kNoSlot, model.has(line));
  ASSERT_EQ(filter.occupied(), owned.size());
  if (slot == kNoSlot) {
    make_room(line);
    if (model.has_room(line)) insert(line);  // if not, all of its set are pinned
    return;
  }
  look_at(line, slot);
  change(line, slot);
}

// Random operations, as a device's coherency agent makes them, against the plainest model of each part.
TEST_P(SnoopFilterAgainstModel, AgreesOnEntriesOwnersAndVictims) {
  for (int i = 0; i < 5000 && !HasFatalFailure(); ++i) {
    SCOPED_TRACE("operation " + std::to_string(i));
    operate(random.below(given.entries * 3 / 2));
  }
  EXPECT_GT(blocks_of_size[1], 50);
  const bool triples = given.alignment == BlockAlignment::kFree && given.block >= 3;
  EXPECT_EQ(blocks_of_size[2] > 0, given.block >= 2);
  EXPECT_EQ(blocks_of_size[3] > 0, triples);
  EXPECT_EQ(blocks_of_size[4] > 0, given.block == 4);
}

std::vector<Case> cases() {
  using enum BlockAlignment;
  std::vector<Case> all;
  for (const std::string policy : {"lru", "lifo", "lfi", "longest-block"}) {
    for (const auto& [entries, ways] : {std::pair{64U, 0U}, {64U, 4U}, {60U, 5U}}) {
      all.push_back({entries, ways, policy, 1, kSpec});
      for (const std::uint32_t block : {2U, 4U}) all.push_back({entries, ways, policy, block, kSpec});
      for (const std::uint32_t block : {2U, 3U, 4U}) all.push_back({entries, ways, policy, block, kFree});
    }
  }
  return all;
}
INSTANTIATE_TEST_SUITE_P(Cases, SnoopFilterAgainstModel, testing::ValuesIn(cases()));

// --- closed forms ----------------------------------------------------------------------------------------

TEST(SnoopFilter, CyclicSweepsOfOneLineTooManyUnderEachPolicy) {
  // n entries, n + 1 lines swept in a cycle. Whoever lets the oldest or the least used go always misses, and
  // so does LFI, under which all lines have come in equally often. LIFO exchanges the two last lines: two
  // misses a sweep after the first. MRU's hole moves back by one line a sweep: one miss every n accesses.
  // Blocks of one line are LIFO.
  constexpr std::uint64_t kEntries = 64;
  constexpr std::uint64_t kSweeps = 10;
  std::map<std::string, std::uint64_t> misses;
  for (const std::string& policy : test::victims().names()) {
    SnoopFilter swept = filter(params(kEntries, 0, policy));
    for (std::uint64_t i = 0; i < kSweeps * (kEntries + 1); ++i) {
      const std::uint64_t line = i % (kEntries + 1);
      misses[policy] += swept.find(LineAddress{line}) == kNoSlot;
      access(swept, line);
    }
  }
  for (const char* policy : {"lru", "fifo", "lfu", "lfi"})
    EXPECT_EQ(misses[policy], kSweeps * (kEntries + 1)) << policy;
  for (const char* policy : {"lifo", "longest-block"})
    EXPECT_EQ(misses[policy], (kEntries + 1) + 2 * (kSweeps - 1)) << policy;
  EXPECT_EQ(misses["mru"], (kEntries + 1) + (kSweeps - 1) * (kEntries + 1) / kEntries);
}

TEST(SnoopFilter, AStreamLeavesInBlocks) {
  // N consecutive lines through n entries: the oldest leaves with those above it, so there is one snoop for
  // every `block` lines beyond n, and the last one may be for fewer. So it is if the newest leaves, with
  // those below it: line N-1 came last.
  constexpr std::uint64_t kEntries = 48;
  for (const BlockAlignment alignment : {BlockAlignment::kSpec, BlockAlignment::kFree}) {
    for (const std::uint32_t block : {1U, 2U, 3U, 4U}) {
      if (block == 3 && alignment == BlockAlignment::kSpec) continue;
      for (const std::string policy : {"lru", "fifo", "lifo", "longest-block"}) {
        for (const std::uint64_t lines : {100U, 101U, 102U}) {
          SnoopFilter streamed =
              filter(params(kEntries, 0, policy, block, block == 1 ? BlockAlignment::kSpec : alignment));
          std::uint64_t snoops = 0;
          for (std::uint64_t line = 0; line < lines; ++line) snoops += !access(streamed, line).empty();
          EXPECT_EQ(snoops, (lines - kEntries + block - 1) / block) << policy << " " << block;
        }
      }
    }
  }
}

// --- blocks ----------------------------------------------------------------------------------------------

using Lines = std::vector<std::uint64_t>;

Lines victims_after(const SnoopFilterParams& params, const Lines& inserted, const Lines& pinned = {}) {
  SnoopFilter blocks = filter(params);
  for (const std::uint64_t line : inserted) access(blocks, line);
  for (const std::uint64_t line : pinned) blocks.pin(blocks.find(LineAddress{line}));
  Lines lines;
  for (const Slot slot : blocks.victims_for(LineAddress{1000})) lines.push_back(blocks.line(slot).number());
  return lines;
}

TEST(SnoopFilter, TheLongestBlockLeavesAndOfEqualsTheNewest) {
  const Lines held = {12, 13, 14, 15, 40, 41, 42, 20, 21, 30};
  const auto longest = [&](std::uint32_t block, BlockAlignment alignment) {
    return victims_after(params(10, 0, "longest-block", block, alignment), held);
  };
  using enum BlockAlignment;
  EXPECT_EQ(longest(1, kSpec), Lines({30}));
  EXPECT_EQ(longest(2, kSpec), Lines({20, 21}));
  EXPECT_EQ(longest(4, kSpec), Lines({12, 13, 14, 15}));
  EXPECT_EQ(longest(2, kFree), Lines({20, 21}));
  EXPECT_EQ(longest(3, kFree), Lines({40, 41, 42}));
  EXPECT_EQ(longest(4, kFree), Lines({12, 13, 14, 15}));
}

TEST(SnoopFilter, BlocksOfTheSpecificationAreAligned) {
  using enum BlockAlignment;
  // The oldest is line 5: its half of 256 B is 4 and 5, and 4 is not there.
  const Lines held = {5, 6, 7, 8};
  EXPECT_EQ(victims_after(params(4, 0, "lru", 4, kSpec), held), Lines({5}));
  EXPECT_EQ(victims_after(params(4, 0, "lru", 4, kFree), held), Lines({5, 6, 7, 8}));
  EXPECT_EQ(victims_after(params(4, 0, "lru", 3, kFree), held), Lines({5, 6, 7}));
  EXPECT_EQ(victims_after(params(4, 0, "lru", 2, kSpec), {6, 7, 4, 5}), Lines({6, 7}));
  EXPECT_EQ(victims_after(params(4, 0, "lru", 4, kSpec), {6, 7, 4, 5}), Lines({4, 5, 6, 7}));
}

TEST(SnoopFilter, APinnedEntryIsNotPartOfABlock) {
  using enum BlockAlignment;
  EXPECT_EQ(victims_after(params(4, 0, "lru", 4, kSpec), {4, 5, 6, 7}, {7}), Lines({4, 5}));
  EXPECT_EQ(victims_after(params(4, 0, "lru", 4, kFree), {4, 5, 6, 7}, {7}), Lines({4, 5, 6}));
  EXPECT_EQ(victims_after(params(4, 0, "lru", 4, kFree), {4, 5, 6, 7}, {5}), Lines({4}));
  EXPECT_EQ(victims_after(params(4, 0, "lru", 4, kFree), {4, 5, 6, 7}, {4}), Lines({5, 6, 7}));
  EXPECT_EQ(victims_after(params(4, 0, "lru", 4, kFree), {4, 5, 6, 7}, {4, 5, 6, 7}), Lines({}));
}

TEST(SnoopFilter, BlocksReachAcrossSets) {
  // Four sets of two ways; lines 0 to 3 are in a set each, and 8 wants to be in that of 0 and 4.
  SnoopFilter sets = filter(params(8, 2, "lru", 4));
  for (const std::uint64_t line : {0U, 1U, 2U, 3U, 4U}) access(sets, line);
  EXPECT_EQ(access(sets, 8), Lines({0, 1, 2, 3}));
  EXPECT_EQ(sets.occupied(), 2U);
}

TEST(SnoopFilter, TheFirstLinesOfMemoryHaveNoneBelowThem) {
  for (const BlockAlignment alignment : {BlockAlignment::kSpec, BlockAlignment::kFree}) {
    for (const char* policy : {"lru", "longest-block"})
      EXPECT_EQ(victims_after(params(3, 0, policy, 4, alignment), {0, 1, 9}), Lines({0, 1}));
  }
}

// --- each parameter has an effect ------------------------------------------------------------------------

/// Misses of lines that are drawn from so many.
std::uint64_t misses_of(const SnoopFilterParams& params, std::uint64_t lines) {
  SnoopFilter drawn = filter(params);
  RandomStream random(9, "test", "lines");
  std::uint64_t misses = 0;
  for (int i = 0; i < 4000; ++i) {
    const std::uint64_t line = random.below(lines);
    misses += drawn.find(LineAddress{line}) == kNoSlot;
    access(drawn, line);
  }
  return misses;
}

TEST(SnoopFilterParams, MoreEntriesAndMoreWaysMissLess) {
  EXPECT_LT(misses_of(params(128, 0), 200), misses_of(params(64, 0), 200));
  // Each set has its share of lines in order; direct-mapped sets have all or none of every eighth line.
  const auto strided = [](std::uint32_t ways) {
    SnoopFilter sets = filter(params(64, ways));
    std::uint64_t misses = 0;
    for (std::uint64_t i = 0; i < 160; ++i) {
      misses += sets.find(LineAddress{i % 16 * 8}) == kNoSlot;
      access(sets, i % 16 * 8);
    }
    return misses;
  };
  EXPECT_EQ(strided(1), 160U);  // two lines to each of 8 sets, in turns
  EXPECT_EQ(strided(2), 160U);  // four lines to each of 4 sets of two
  EXPECT_EQ(strided(16), 16U);  // four sets, of which one has all 16
  EXPECT_EQ(strided(0), 16U);
}

TEST(SnoopFilterParams, ThePolicyDecidesWhoLeaves) {
  const auto victim = [](const std::string& policy) {
    SnoopFilter four = filter(params(4, 0, policy));
    for (const std::uint64_t line : {10U, 20U, 30U, 40U, 10U, 20U, 20U, 30U}) access(four, line);
    return access(four, 50);
  };
  EXPECT_EQ(victim("fifo"), Lines({10}));
  EXPECT_EQ(victim("lifo"), Lines({40}));
  EXPECT_EQ(victim("lru"), Lines({40}));
  EXPECT_EQ(victim("mru"), Lines({30}));
  EXPECT_EQ(victim("lfu"), Lines({40}));
  EXPECT_EQ(victim("lfi"), Lines({10}));
  EXPECT_EQ(victim("longest-block"), Lines({40}));
}

// --- bad input -------------------------------------------------------------------------------------------

std::string error_of(Value::Map given) {
  try {
    read_params<SnoopFilterParams>(Value(std::move(given)));
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

TEST(SnoopFilterParams, AreReadAndChecked) {
  const auto read = read_params<SnoopFilterParams>(Value(Value::Map{
      {"entries", 96}, {"ways", 12}, {"policy", "longest-block"}, {"block", 3}, {"alignment", "free"}}));
  EXPECT_EQ(read.entries, 96U);
  EXPECT_EQ(read.ways, 12U);
  EXPECT_EQ(read.policy.kind, "longest-block");
  EXPECT_EQ(read.block, 3U);
  EXPECT_EQ(read.alignment, BlockAlignment::kFree);
  const auto standard = read_params<SnoopFilterParams>(Value(Value::Map{}));
  EXPECT_EQ(standard.entries, 65'536U);
  EXPECT_EQ(standard.ways, 0U);
  EXPECT_EQ(standard.policy.kind, "lru");
  EXPECT_EQ(standard.block, 1U);
  EXPECT_EQ(standard.alignment, BlockAlignment::kSpec);
}

TEST(SnoopFilterParams, RefuseWhatCannotBe) {
  const auto holds = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  holds(error_of({{"entries", 0}}), "at least 1");
  holds(error_of({{"entries", std::int64_t{1} << 31U}}), "at most 1073741824");
  const std::string smaller = error_of({{"entries", 8}, {"ways", 16}});
  holds(smaller, "entries: a filter cannot be smaller than one set");
  EXPECT_EQ(smaller.find("multiple"), std::string::npos) << smaller;
  holds(error_of({{"entries", 100}, {"ways", 16}}), "entries: entries must be a multiple of ways");
  holds(error_of({{"block", 5}}), "at most 4");
  holds(error_of({{"block", 0}}), "at least 1");
  holds(error_of({{"block", 3}}), "block: the specification has no block of 3 lines");
  holds(error_of({{"alignment", "free"}}), "alignment has no effect unless several lines leave together");
  holds(error_of({{"block", 1}, {"alignment", "spec"}}), "alignment has no effect");
  holds(error_of({{"ways", 1}, {"policy", "fifo"}}), "policy has no effect unless a set has two entries");
  holds(error_of({{"entries", 1}, {"policy", "fifo"}}), "policy has no effect");
  holds(error_of({{"entries", 1}, {"block", 2}}), "block has no effect");
  EXPECT_EQ(error_of({{"entries", 1}}), "");
  EXPECT_EQ(error_of({{"block", 4}, {"alignment", "spec"}}), "");
  EXPECT_EQ(error_of({{"ways", 1}, {"block", 2}}), "");
}

TEST(SnoopFilterParams, AreCheckedForThoseWhoSetThemInCodeToo) {
  EXPECT_THROW(filter(params(8, 16)), InputError);
  EXPECT_THROW(filter(params(8, 0, "lru", 3)), InputError);
  try {
    filter(params(8, 0, "lfr"));
    FAIL() << "made with an unknown policy";
  } catch (const InputError& error) {
    EXPECT_EQ(error.path(), "policy.kind");
  }
}

// --- memory ----------------------------------------------------------------------------------------------

TEST(SnoopFilter, AMillionEntriesTakeLittleMemory) {
  EXPECT_LT(SnoopFilter::bytes(params(1'000'000, 0), 63), 45'000'000U);
  // The state and one owner are two bits, and with 63 owners a word. A word more is eight bytes.
  EXPECT_EQ(SnoopFilter::bytes(params(1'000'000, 0), 63) - SnoopFilter::bytes(params(1'000'000, 0), 1),
            7'750'000U);
  EXPECT_EQ(SnoopFilter::bytes(params(1'000'000, 0), 64) - SnoopFilter::bytes(params(1'000'000, 0), 63),
            8'000'000U);
}

TEST(SnoopFilter, OwnersMayBeAnyNumber) {
  for (const std::uint32_t peers : {1U, 63U, 64U, 65U, 128U, 4096U}) {
    SnoopFilter owned = filter(params(4, 0), peers);
    const Slot first = owned.insert(LineAddress{1}, FilterState::kShared);
    const Slot second = owned.insert(LineAddress{2}, FilterState::kShared);
    for (std::uint32_t peer = 0; peer < peers; ++peer) owned.add_owner(first, peer);
    EXPECT_EQ(owned.owned_by_none_but(first, peers - 1), peers == 1);
    EXPECT_FALSE(owned.has_owners(second));
    EXPECT_TRUE(owned.has_owner(first, peers - 1));
    owned.remove_owner(first, peers - 1);
    EXPECT_FALSE(owned.has_owner(first, peers - 1));
    std::uint32_t sum = 0;
    owned.for_each_owner(first, [&](std::uint32_t peer) {
      sum += peer;
      owned.remove_owner(first, peer);
    });
    EXPECT_EQ(sum, (peers - 1) * (peers - 2) / 2 * (peers > 1 ? 1U : 0U));
    EXPECT_FALSE(owned.has_owners(first));
  }
}

}  // namespace
}  // namespace cxloom
