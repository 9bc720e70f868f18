#include "base/ring.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory_resource>
#include <random>

#include "base/arena.hpp"

namespace cxloom {
namespace {

/// Longer and shorter by turns, so that it grows with its front anywhere.
void play(Ring<int>& ring) {
  std::mt19937 random(1);
  std::deque<int> expected;
  for (int i = 0; i < 10'000; ++i) {
    if (random() % 5 < (i / 500 % 2 == 0 ? 3U : 2U) || expected.empty()) {
      ring.push_back(i);
      expected.push_back(i);
    } else {
      EXPECT_EQ(ring.front(), expected.front());
      ring.pop_front();
      expected.pop_front();
    }
    ASSERT_EQ(ring.size(), expected.size());
    ASSERT_EQ(ring.empty(), expected.empty());
  }
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(ring[i], expected[i]);
}

TEST(Ring, KeepsTheOrderWhileItGrowsAndWraps) {
  Ring<int> ring;
  play(ring);
}

TEST(Ring, KeepsTheOrderInAnArenaBesideOthers) {
  Arena arena;
  Ring<int> before(arena.memory());
  Ring<int> ring(arena.memory());
  Ring<int> after(arena.memory());
  for (int i = 0; i < 100; ++i) {
    before.push_back(i);
    after.push_back(-i);
  }
  play(ring);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(before[static_cast<std::size_t>(i)], i);
    EXPECT_EQ(after[static_cast<std::size_t>(i)], -i);
  }
}

/// Counts what is taken and given back.
class Ledger final : public std::pmr::memory_resource {
 public:
  std::size_t taken = 0;
  std::size_t given_back = 0;

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    taken += bytes;
    return std::pmr::new_delete_resource()->allocate(bytes, alignment);
  }
  void do_deallocate(void* block, std::size_t bytes, std::size_t alignment) override {
    given_back += bytes;
    std::pmr::new_delete_resource()->deallocate(block, bytes, alignment);
  }
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override { return this == &other; }
};

TEST(Ring, TakesAllItsItemsFromItsMemoryAndGivesThemBack) {
  Ledger ledger;
  {
    Ring<int> ring(ledger);
    EXPECT_EQ(ledger.taken, 0U);
    for (int i = 0; i < 1000; ++i) ring.push_back(i);
    EXPECT_GE(ledger.taken - ledger.given_back, 1000 * sizeof(int));
    EXPECT_LE(ledger.taken - ledger.given_back, 2 * 1000 * sizeof(int));
  }
  EXPECT_EQ(ledger.given_back, ledger.taken);
}

TEST(Ring, ThatHasItsRoomFromTheStartTakesNoMore) {
  for (const std::uint32_t count : {1U, 2U, 3U, 16U, 37U, 64U}) {
    Ledger ledger;
    Ring<int> ring(ledger);
    ring.reserve(count);
    const std::size_t taken = ledger.taken;
    EXPECT_EQ(taken, Ring<int>::bytes_for(count));
    EXPECT_GE(taken, count * sizeof(int));
    for (int turn = 0; turn < 3; ++turn) {
      for (std::uint32_t i = 0; i < count; ++i) ring.push_back(static_cast<int>(i));
      for (std::uint32_t i = 0; i < count; ++i, ring.pop_front())
        ASSERT_EQ(ring.front(), static_cast<int>(i));
    }
    EXPECT_EQ(ledger.taken, taken);
    for (std::uint32_t i = 0; i < 100; ++i) ring.push_back(static_cast<int>(i));
    for (std::uint32_t i = 0; i < 100; ++i, ring.pop_front()) ASSERT_EQ(ring.front(), static_cast<int>(i));
  }
}

// The numbers of items have 32 bits. To come to their end by pushing and popping takes seconds, so that a
// test sets them: an explicit instantiation may name private members.
void set_numbers(Ring<int>& empty, std::uint32_t number);
template <auto Head, auto Tail>
struct Numbers {
  friend void set_numbers(Ring<int>& empty, std::uint32_t number) {
    empty.*Head = number;
    empty.*Tail = number;
  }
};
template struct Numbers<&Ring<int>::head_, &Ring<int>::tail_>;

TEST(Ring, KeepsTheOrderWhereItsNumbersWrapAround) {
  const auto before = [](int a, int b) { return a < b; };
  // With the wrap before, between and behind its items, and with 20 of them while it grows from 16.
  for (std::uint32_t left = 0; left < 24; ++left) {
    for (const int count : {3, 16, 20, 40}) {
      for (const bool inserted : {false, true}) {
        Ring<int> ring;
        ring.push_back(0);
        ring.pop_front();
        set_numbers(ring, std::uint32_t{0} - left);
        ASSERT_TRUE(ring.empty());
        for (int i = 0; i < count; ++i) {
          if (inserted) {
            ring.insert(count - 1 - i, before);
          } else {
            ring.push_back(i);
          }
          ASSERT_EQ(ring.size(), static_cast<std::size_t>(i) + 1);
        }
        for (int i = 0; i < count; ++i) ASSERT_EQ(ring[static_cast<std::size_t>(i)], i) << left;
        for (int i = 0; i < count; ++i) {
          ASSERT_FALSE(ring.empty());
          ASSERT_EQ(ring.front(), i) << left;
          ring.pop_front();
        }
        ASSERT_TRUE(ring.empty());
      }
    }
  }
}

TEST(Ring, InsertsBehindItsEquals) {
  struct Keyed {
    int key;
    int number;
  };
  Ring<Keyed> ring;
  const auto before = [](const Keyed& a, const Keyed& b) { return a.key < b.key; };
  std::mt19937 random(2);
  for (int i = 0; i < 200; ++i) ring.insert({static_cast<int>(random() % 10), i}, before);
  for (std::size_t i = 1; i < ring.size(); ++i) {
    EXPECT_LE(ring[i - 1].key, ring[i].key);
    if (ring[i - 1].key == ring[i].key) {
      EXPECT_LT(ring[i - 1].number, ring[i].number);
    }
  }
}

}  // namespace
}  // namespace cxloom
