#include "base/arena.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace cxloom {
namespace {

std::uintptr_t place_of(const void* object) { return reinterpret_cast<std::uintptr_t>(object); }

/// Counts how many of its kind there are.
class Counted {
 public:
  Counted(int& alive, int number) : number_(number), alive_(alive) { ++alive_; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  ~Counted() { --alive_; }
  int number() const { return number_; }

 private:
  int number_;
  int& alive_;
};

TEST(Arena, DestroysEachObjectOnceAndGivesNothingBackBeforeItsEnd) {
  Arena arena;
  int alive = 0;
  std::set<std::uintptr_t> places;
  std::vector<InArena<Counted>> kept;
  constexpr int kCount = 100'000;  // several blocks
  for (int i = 0; i < kCount; ++i) {
    InArena<Counted> object = arena.make<Counted>(alive, i);
    EXPECT_TRUE(places.insert(place_of(object.get())).second) << "a place is given out twice";
    if (i % 2 == 0) kept.push_back(std::move(object));
  }
  // Half of them went with their owner, each in its turn, and left the others as they were.
  EXPECT_EQ(alive, kCount / 2);
  for (int i = 0; i < kCount / 2; ++i) ASSERT_EQ(kept[static_cast<std::size_t>(i)]->number(), 2 * i);
  kept.clear();
  EXPECT_EQ(alive, 0);
}

struct alignas(64) Line {
  std::uint64_t words[8];
};
struct alignas(4096) Page {
  std::uint64_t words[512];
};

TEST(Arena, AlignsWhatItMakes) {
  Arena arena;
  for (int i = 0; i < 1000; ++i) {
    // A small object stands between, so that nothing is aligned by chance.
    EXPECT_TRUE(arena.make<char>('a'));
    EXPECT_EQ(place_of(arena.make<Line>().get()) % 64, 0);
    EXPECT_TRUE(arena.make<char>('b'));
    EXPECT_EQ(place_of(arena.make<double>(1.0).get()) % alignof(double), 0);
    EXPECT_TRUE(arena.make<char>('c'));
    if (i % 10 == 0) {
      EXPECT_EQ(place_of(arena.make<Page>().get()) % 4096, 0);
    }
  }
}

/// What the operating system says of the pages at an address; empty if it does not.
std::string page_flags(std::uintptr_t address) {
  std::ifstream file("/proc/self/smaps");
  bool here = false;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::uintptr_t first = 0;
    std::uintptr_t end = 0;
    char dash = 0;
    if (words >> std::hex >> first >> dash >> end && dash == '-') here = first <= address && address < end;
    if (here && line.starts_with("VmFlags:")) return line + " ";
  }
  return {};
}

TEST(Arena, TakesLargeBlocksInHugePages) {
  Arena arena;
  constexpr std::size_t kBytes = (std::size_t{5} << 20U) + 24;  // no multiple of a page
  const InArena<std::uint64_t> before = arena.make<std::uint64_t>(1U);
  void* const block = arena.memory().allocate(kBytes, 64);
  const InArena<std::uint64_t> after = arena.make<std::uint64_t>(2U);
  EXPECT_EQ(place_of(block) % 64, 0);
  // All of it can be written, and nothing else is in it.
  std::memset(block, 0xff, kBytes);
  EXPECT_EQ(*before, 1U);
  EXPECT_EQ(*after, 2U);

  const std::string flags = page_flags(place_of(block) + kBytes / 2);
  if (flags.empty() || !std::filesystem::exists("/sys/kernel/mm/transparent_hugepage"))
    GTEST_SKIP() << "no huge pages here, or nobody who tells of them";
  EXPECT_NE(flags.find(" hg "), std::string::npos) << flags;
}

}  // namespace
}  // namespace cxloom
