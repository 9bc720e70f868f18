#include "coherence/home/entry_bits.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/random.hpp"

namespace cxloom {
namespace {

constexpr std::uint32_t kMany = 40;

/// Entries as sets of owners, beside the bits.
class EntryBitsAgainstSets : public testing::TestWithParam<std::uint32_t> {
 protected:
  struct Entry {
    bool state = false;
    std::set<std::uint32_t> owners;
  };

  void change(Slot slot, std::uint32_t peer);
  void compare(Slot slot, std::uint32_t peer) const;

  EntryBits bits{kMany, GetParam()};
  std::array<Entry, kMany> entries;
  RandomStream random{5, "test", "entries"};
};

void EntryBitsAgainstSets::change(Slot slot, std::uint32_t peer) {
  Entry& entry = entries[slot];
  switch (random.below(8)) {
    case 0:
      bits.clear_owners(slot);
      entry.owners.clear();
      break;
    case 1:
    case 2:
      entry.state = random.chance(0.5);
      bits.set_state(slot, entry.state);
      break;
    case 3:
    case 4:
      bits.set_owner(slot, peer, false);
      entry.owners.erase(peer);
      break;
    default: bits.set_owner(slot, peer, true); entry.owners.insert(peer);
  }
}

void EntryBitsAgainstSets::compare(Slot slot, std::uint32_t peer) const {
  const Entry& entry = entries[slot];
  ASSERT_EQ(bits.state(slot), entry.state);
  ASSERT_EQ(bits.owner(slot, peer), entry.owners.contains(peer));
  ASSERT_EQ(bits.has_owners(slot), !entry.owners.empty());
  const bool others =
      std::ranges::any_of(entry.owners, [peer](std::uint32_t owner) { return owner != peer; });
  ASSERT_EQ(bits.owned_by_none_but(slot, peer), !others);
  std::set<std::uint32_t> owners;
  bits.for_each_owner(slot, [&](std::uint32_t owner) { owners.insert(owner); });
  ASSERT_EQ(owners, entry.owners);
}

TEST_P(EntryBitsAgainstSets, AgreeAndLeaveEachOtherAlone) {
  for (int i = 0; i < 2'000; ++i) {
    change(static_cast<Slot>(random.below(kMany)), static_cast<std::uint32_t>(random.below(GetParam())));
    compare(static_cast<Slot>(random.below(kMany)), static_cast<std::uint32_t>(random.below(GetParam())));
    if (HasFatalFailure()) return;
  }
}

// Up to 31 caches share a word with those of other entries, 63 fill one, 64 take two.
INSTANTIATE_TEST_SUITE_P(Peers, EntryBitsAgainstSets, testing::Values(1, 2, 3, 7, 31, 32, 63, 64, 130));

TEST(EntryBits, TakeTheBitsOfTheirPeers) {
  EXPECT_EQ(EntryBits::bytes(1'024, 1), 256U);
  EXPECT_EQ(EntryBits::bytes(1'024, 3), 512U);
  EXPECT_EQ(EntryBits::bytes(1'024, 63), 8'192U);
  EXPECT_EQ(EntryBits::bytes(1'024, 64), 16'384U);
  EXPECT_EQ(EntryBits::bytes(1, 1), 8U);
}

}  // namespace
}  // namespace cxloom
