#include "tags/tag_array.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "base/kind_registry.hpp"
#include "base/random.hpp"
#include "core/support/tag_model.hpp"
#include "core/support/victims.hpp"

namespace cxloom {
namespace {

RandomStream array_victims() { return RandomStream(7, "array", "victim"); }

TagArray tag_array(std::uint32_t sets, std::uint32_t ways, const std::string& policy, BlockRule blocks = {}) {
  return {{policy, Value(Value::Map{})}, test::victims(), VictimContext{sets, ways, array_victims(), blocks}};
}

struct TagShape {
  std::uint32_t sets;
  std::uint32_t ways;
};

class TagArrayAgainstModel
    : public testing::TestWithParam<std::tuple<TagShape, std::string, std::pair<std::uint32_t, bool>>> {};

// Lines come, are used, pinned and unpinned, and leave; the array and the model agree on the victims.
TEST_P(TagArrayAgainstModel, AgreesOnEveryVictim) {
  const auto& [shape, policy, block] = GetParam();
  const BlockRule blocks{block.first, block.second ? BlockAlignment::kFree : BlockAlignment::kSpec};
  TagArray tags = tag_array(shape.sets, shape.ways, policy, blocks);
  tags.allow_pins();
  test::TagModel model(shape.sets, shape.ways, policy, blocks);
  RandomStream random(3, "test", "operations");
  const std::uint64_t capacity = tags.capacity();
  int victims = 0;
  int all_pinned = 0;
  int rooms_foreseen = 0;
  for (int i = 0; i < 5000; ++i) {
    const std::uint64_t line = random.below(capacity * 2);
    const Slot foreseen = tags.foresee_slot(LineAddress{line});
    const Slot slot = tags.lookup(LineAddress{line});
    ASSERT_EQ(slot != kNoSlot, model.has(line)) << "operation " << i;
    ASSERT_TRUE(slot == kNoSlot || foreseen == kNoSlot || foreseen == slot) << "operation " << i;
    const bool foresees_room = shape.sets == 1 && slot == kNoSlot && model.has_room(line);
    ASSERT_EQ(tags.occupied(), model.entries().size());
    if (slot == kNoSlot) {
      ASSERT_EQ(tags.has_room(LineAddress{line}), model.has_room(line));
      if (!model.has_room(line)) {
        const Slot leaving = tags.victim_for(LineAddress{line});
        const auto expected = model.victim_for(line);
        ASSERT_EQ(leaving != kNoSlot, expected.has_value()) << "operation " << i;
        if (!expected) {
          ++all_pinned;
          continue;
        }
        ++victims;
        ASSERT_EQ(tags.line(leaving).number(), *expected) << "operation " << i;
        tags.erase(leaving);
        model.erase(*expected);
      }
      const Slot placed = tags.place(LineAddress{line}, kNoSlot);
      ASSERT_EQ(tags.line(placed).number(), line);
      if (foresees_room) {
        ASSERT_EQ(placed, foreseen) << "operation " << i;
        ++rooms_foreseen;
      }
      ASSERT_FALSE(tags.pinned(placed));
      model.insert(line);
      continue;
    }
    ASSERT_EQ(tags.pinned(slot), model.pinned(line));
    const double turn = random.uniform();
    if (turn < 0.08) {
      tags.erase(slot);
      model.erase(line);
    } else if (model.pinned(line) && turn < 0.5) {
      tags.unpin(slot);
      model.set_pinned(line, false);
    } else if (turn < 0.4 && !model.pinned(line)) {
      tags.pin(slot);
      model.set_pinned(line, true);
    } else {
      tags.touch(slot);
      model.touch(line);
    }
  }
  EXPECT_GT(victims, 400);
  EXPECT_TRUE(all_pinned > 5 || shape.ways > 8);
  EXPECT_EQ(rooms_foreseen > 100, shape.sets == 1);
}

const TagShape kShapes[] = {{16, 4}, {12, 5}, {2, 40}, {1, 100}, {3, 9}};

INSTANTIATE_TEST_SUITE_P(Policies, TagArrayAgainstModel,
                         testing::Combine(testing::ValuesIn(kShapes),
                                          testing::Values("lru", "fifo", "lifo", "mru", "lfi", "lfu"),
                                          testing::Values(std::pair{1U, false})));
INSTANTIATE_TEST_SUITE_P(Blocks, TagArrayAgainstModel,
                         testing::Combine(testing::ValuesIn(kShapes), testing::Values("longest-block"),
                                          testing::Values(std::pair{1U, false}, std::pair{2U, false},
                                                          std::pair{4U, false}, std::pair{2U, true},
                                                          std::pair{3U, true}, std::pair{4U, true})));

TEST(TagArray, NoPolicyChoosesAPinnedSlotAndEveryOneFindsTheLastThatIsNot) {
  for (const std::string& policy : test::victims().names()) {
    constexpr std::uint32_t kWays = 16;
    TagArray tags = tag_array(2, kWays, policy);
    tags.allow_pins();
    RandomStream random(11, "test", "pins");
    for (std::uint64_t line = 0; line < 2 * kWays; ++line) tags.place(LineAddress{line}, kNoSlot);
    for (int round = 0; round < 200; ++round) {
      std::vector<Slot> left;  // of set 1, not pinned
      for (Slot slot = kWays; slot < 2 * kWays; ++slot) left.push_back(slot);
      while (!left.empty()) {
        tags.touch(left[random.below(left.size())]);
        const Slot victim = tags.victim_for(LineAddress{1});
        ASSERT_TRUE(std::erase(left, victim)) << policy << " chose slot " << victim;
        tags.pin(victim);
      }
      ASSERT_EQ(tags.victim_for(LineAddress{1}), kNoSlot) << policy;
      ASSERT_NE(tags.victim_for(LineAddress{0}), kNoSlot) << policy;  // the pins are those of the other set
      for (Slot slot = kWays; slot < 2 * kWays; ++slot) tags.unpin(slot);
    }
  }
}

TEST(TagArray, RandomVictimsAreAllThatAreNotPinnedWithEqualChance) {
  constexpr std::uint32_t kWays = 8;
  constexpr int kDraws = 16'000;
  for (const std::uint32_t pinned : {1U, 4U, 5U, 7U}) {  // few, and more than half
    TagArray tags = tag_array(1, kWays, "random");
    tags.allow_pins();
    for (std::uint64_t line = 0; line < kWays; ++line) tags.place(LineAddress{line}, kNoSlot);
    for (Slot slot = 0; slot < pinned; ++slot) tags.pin((slot * 3) % kWays);
    std::map<Slot, int> victims;
    for (int draw = 0; draw < kDraws; ++draw) ++victims[tags.victim_for(LineAddress{99})];
    ASSERT_EQ(victims.size(), kWays - pinned);
    const double expected = static_cast<double>(kDraws) / (kWays - pinned);
    for (const auto& [slot, count] : victims) {
      EXPECT_FALSE(tags.pinned(slot));
      EXPECT_NEAR(count, expected, 330) << pinned << " pinned";  // over five standard deviations
    }
  }
}

TEST(TagArray, TellsItsLinesFromTheNewestOn) {
  const auto order = [](const TagArray& tags) {
    std::vector<std::uint64_t> lines;
    tags.newest_first(1, [&](Slot slot) { lines.push_back(tags.line(slot).number()); });
    return lines;
  };
  for (const char* const policy : {"lru", "fifo"}) {
    TagArray tags = tag_array(2, 3, policy);
    EXPECT_TRUE(order(tags).empty());
    tags.place(LineAddress{2}, kNoSlot);  // of the set before, which has slot 0
    EXPECT_TRUE(order(tags).empty());
    for (const std::uint64_t line : {1U, 3U, 5U, 4U}) tags.place(LineAddress{line}, kNoSlot);
    EXPECT_EQ(order(tags), (std::vector<std::uint64_t>{5, 3, 1}));
    tags.touch(tags.lookup(LineAddress{1}));
    EXPECT_EQ(order(tags), policy == std::string("lru") ? (std::vector<std::uint64_t>{1, 5, 3})
                                                        : (std::vector<std::uint64_t>{5, 3, 1}));
    tags.erase(tags.lookup(LineAddress{5}));
    EXPECT_EQ(order(tags).size(), 2U);
    tags.place(LineAddress{7}, kNoSlot);
    EXPECT_EQ(order(tags).front(), 7U);
  }
}

TEST(TagArray, ALineTakesItsPinAlong) {
  TagArray tags = tag_array(1, 2, "lru");
  tags.allow_pins();
  const Slot first = tags.place(LineAddress{1}, kNoSlot);
  tags.place(LineAddress{2}, kNoSlot);
  tags.pin(first);
  tags.erase(first);
  EXPECT_EQ(tags.place(LineAddress{3}, kNoSlot), first);
  EXPECT_FALSE(tags.pinned(first));
  tags.touch(first);
  EXPECT_EQ(tags.line(tags.victim_for(LineAddress{4})).number(), 2U);
}

TEST(TagArray, PinsAreBalanced) {
  TagArray tags = tag_array(1, 2, "lru");
  tags.allow_pins();
  const Slot slot = tags.place(LineAddress{1}, kNoSlot);
  EXPECT_THROW(tags.unpin(slot), InternalError);
  tags.pin(slot);
  EXPECT_THROW(tags.pin(slot), InternalError);
}

}  // namespace
}  // namespace cxloom
